"""The files that docstrings, comments and documents name exist."""

import os.path
import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "svc_notebooks"
TEXTS = [
    path
    for pattern in (
        "svc_notebooks/**/*.py",
        "tests/**/*.py",
        "tools/**/*.py",
        "docs/*.md",
        "README.md",
        "CONTRIBUTING.md",
    )
    for path in ROOT.glob(pattern)
    if path != Path(__file__) and path.name != "test_lite.py"  # that one makes up a path
]
MODULE_NAMES = {path.name for folder in ("svc_notebooks", "tests", "tools") for path in (ROOT / folder).rglob("*.py")}


def missing_paths(pattern: str, exists: Callable[[Path, str], bool]) -> list[str]:
    return [
        f"{text.relative_to(ROOT)}:{number}: {name}"
        for text in TEXTS
        for number, line in enumerate(text.read_text(encoding="utf-8").splitlines(), 1)
        for name in re.findall(pattern, line)
        if not exists(text, name)
    ]


def test_each_path_in_text_exists():
    def exists(text: Path, name: str) -> bool:
        places = [ROOT, ROOT / "tests", *(folder for folder in text.parents if folder.is_relative_to(ROOT)), PACKAGE]
        return any(Path(os.path.normpath(place / name)).is_file() for place in places)

    assert missing_paths(r"(?<![\w/.~-])((?:\w+/)+\w+\.py)\b", exists) == []


def test_each_module_in_the_text_of_the_package_exists():
    def exists(text: Path, name: str) -> bool:
        return name in MODULE_NAMES or not text.is_relative_to(PACKAGE)

    assert missing_paths(r"(?<![\w/.~-])([a-z_]+\.py)\b", exists) == []


def test_each_decision_names_modules_that_exist():
    rows = re.findall(
        r"^\| `\w+` \|.*\| ([\w/, ]+) \|$", (ROOT / "docs/decisions.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    modules = sorted({module for row in rows for module in row.split(", ")})

    assert len(modules) > 20
    assert [name for name in modules if not ((PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file())] == []
