"""What the wheel carries beside the package: the notebooks.

An editable install reads the checkout's own, so it gets no copy that could grow old.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShipNotebooks(BuildHookInterface):
    """Put `notebooks/` into a wheel as `svc_notebooks/notebooks_shipped/`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "standard":
            return
        folder = Path(self.root, "notebooks")
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            if path.is_file() and not any(part.startswith(".") for part in name.parts):
                build_data["force_include"][str(path)] = f"svc_notebooks/notebooks_shipped/{name.as_posix()}"
