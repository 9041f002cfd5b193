"""What the wheel carries beside the package: the notebooks.

An editable install reads the checkout's own, so it gets no copy that could grow old.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShipNotebooks(BuildHookInterface):
    """Put `notebooks/` into a wheel as `svc_notebooks/notebooks_shipped/`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build_data["force_include"]["notebooks"] = "svc_notebooks/notebooks_shipped"
