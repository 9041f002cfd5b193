"""Adds notebooks and the contract suite to a wheel, but not to an editable install."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SUITE = (
    *("tests/conftest.py", "tests/examples.py", "tests/patience.py", "tests/plugin_rules.py", "tests/receivers.py"),
    "tests/rules.csv",
)


class Ship(BuildHookInterface):
    """Adds the files to a wheel, as `notebooks_shipped` and `suite_shipped` of the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "standard":
            return
        root = Path(self.root)
        for path in _files(root / "notebooks"):
            name = path.relative_to(root / "notebooks").as_posix()
            build_data["force_include"][str(path)] = f"svc_notebooks/notebooks_shipped/{name}"
        for path in [*(root / name for name in SUITE), *_files(root / "tests" / "contract")]:
            name = path.relative_to(root).as_posix()
            build_data["force_include"][str(path)] = f"svc_notebooks/suite_shipped/{name}"


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in parts):
            yield path
