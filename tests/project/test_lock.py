import re
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
DEV = ROOT / "requirements" / "dev.txt"
BINDER = ROOT / "binder" / "requirements.txt"
UV = ROOT / "requirements" / "uv.txt"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# What Binder builds with.
BINDER_PYTHON = {"python_version": "3.12", "python_full_version": "3.12.0"}
BINDER_MACHINE = {**BINDER_PYTHON, "sys_platform": "linux", "os_name": "posix"}


def requirements(path: Path) -> list[str]:
    """The logical lines of a requirements file: a requirement and its hashes each."""
    joined = path.read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.strip() for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def pins(path: Path, machine: dict[str, str] | None = None) -> dict[str, str]:
    """Name to version, for the machine of this run or another one."""
    parsed = [Requirement(line.split(" --hash")[0]) for line in requirements(path)]
    return {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
        for pin in parsed
        if pin.marker is None or pin.marker.evaluate(machine)
    }


def ranges(*groups: str, without: Collection[str] = ()) -> Iterator[Requirement]:
    """What pyproject.toml asks for: the package, its extras but those in `without`, and these dependency groups."""
    project = PROJECT["project"]
    extras = {name: lines for name, lines in project["optional-dependencies"].items() if name not in without}
    lines = [*project["dependencies"], *(line for extra in extras.values() for line in extra)]
    for group in groups:
        lines += [line for line in PROJECT["dependency-groups"][group] if isinstance(line, str)]
    parsed = (Requirement(line) for line in lines)
    # An extra may bring others of ours.
    return (requirement for requirement in parsed if requirement.name != project["name"])


@pytest.mark.parametrize("path", [DEV, BINDER, UV], ids=["dev", "binder", "uv"])
def test_every_line_is_one_version_with_hashes_and_none_says_where_to_get_it(path):
    shape = re.compile(r"^[a-z0-9\-]+==[^ ;]+( ; [^#]+?)?( --hash=sha256:[0-9a-f]{64})+$".replace("( ;", "( *;"))

    assert not [line for line in requirements(path) if not shape.match(re.sub(r" +", " ", line))]
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"://|--find-links|--index-url|--extra-index-url|--trusted-host| @ |^/|file:", text)


def test_the_development_lock_is_within_every_range():
    locked = pins(DEV)

    for requirement in ranges("install", "build", "test", "check"):
        assert locked[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_the_binder_lock_is_within_the_ranges_of_the_package():
    locked = pins(BINDER, BINDER_MACHINE)

    for requirement in ranges("build", without=("conformance", "postgres", "s3")):  # nobody needs these on Binder
        assert locked[canonicalize_name(requirement.name)] in requirement.specifier, requirement


@pytest.mark.parametrize("path", [BINDER, UV], ids=["binder", "uv"])
def test_every_lock_is_a_part_of_the_one_for_development(path):
    here, there = pins(DEV, BINDER_MACHINE), pins(path, BINDER_MACHINE)

    assert there
    assert {name: here[name] for name in there} == there
