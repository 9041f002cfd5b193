"""Checks the wheel and the sdist as a user without this checkout gets them.

    python -m tools.check_wheel

Builds both archives and checks their contents. Builds the wheel again from the sdist, which must give the same bytes.
Installs the wheel with the extra [lab] in an empty environment, compares the outputs of the notebooks with the saved
outputs (nbval), runs some notebooks, and opens JupyterLab on a copy.
"""

import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from tools import environment
from tools.steps import ROOT, elsewhere, get, jupyter, need, run, size, step

LOCK = ROOT / "binder" / "requirements.txt"
MOST = {".whl": 3_000_000, ".gz": 4_000_000}  # bytes, mostly of notebooks with pictures
IN_WHEEL = ("svc_notebooks/", "svc_notebooks-")
IN_SDIST = {
    "svc_notebooks",
    "notebooks",
    "tests",
    "bench",
    "tools",
    "deploy",
    "docs",
    "requirements",
    "binder",
    "Makefile",
} | {
    *(
        "LICENSE",
        "README.md",
        "SECURITY.md",
        "CHANGELOG.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
        "pyproject.toml",
        "PKG-INFO",
        ".gitignore",
        ".ci",
    )
}
NEEDED = (
    "svc_notebooks/notebooks_shipped/00-start.ipynb",
    "svc_notebooks/notebooks_shipped/data/survey.csv",
    "svc_notebooks/suite_shipped/tests/rules.csv",
    "svc_notebooks/cli/jupyter/jupyter_server_config.json",
    "svc_notebooks/py.typed",
)
LEFT_OVER = re.compile(
    r"__pycache__|\.pyc$|\.ipynb_checkpoints|\.kept-|(^|/)\.(?!ci/|gitignore$)|(^|/)(build|dist)/|\.part$"
)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="svc-wheel-") as folder:
        check(Path(folder))
    return 0


def check(folder: Path) -> None:
    with step("build the wheel and the sdist"):
        run([sys.executable, "-m", "hatchling", "build", "-d", folder / "dist"], cwd=ROOT)
    wheel, sdist = next((folder / "dist").glob("*.whl")), next((folder / "dist").glob("*.tar.gz"))
    look(wheel, sdist)
    with step("build the wheel again, from the sdist"):
        same_from_sdist(wheel, sdist, folder / "unpacked")
    with step(f"install {wheel.name} with [lab]"):
        install(wheel, folder / "installed")
    use(folder / "installed", folder)


def look(wheel: Path, sdist: Path) -> None:
    """Check that both archives have the necessary files, no other files, and an acceptable size."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    with tarfile.open(sdist) as archive:
        packed = [name.partition("/")[2] for name in archive.getnames()]
    odd = [name for name in names if not name.startswith(IN_WHEEL)]
    odd += [name for name in packed if name.partition("/")[0] not in IN_SDIST]
    odd += [name for name in [*names, *packed] if LEFT_OVER.search(name)]
    need(not odd, f"these should not be packed: {odd}")
    need(not (missing := set(NEEDED) - set(names)), f"the wheel lacks {sorted(missing)}")
    for built, held in ((wheel, names), (sdist, packed)):
        need(built.stat().st_size < MOST[built.suffix], f"{built.name} has grown to {size(built)}")
        print(f"    {built.name}: {size(built)}, {len(held)} files")


def same_from_sdist(wheel: Path, sdist: Path, folder: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    source = next(folder.iterdir())
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "again"], cwd=source)
    again = next((folder / "again").glob("*.whl"))
    need(again.read_bytes() == wheel.read_bytes(), "the sdist builds another wheel than the checkout")


def install(built: Path, place: Path) -> None:
    """Install the wheel and its dependencies, with the versions of the lock."""
    venv.create(place, with_pip=True, symlinks=True)
    versions = place / "versions.txt"
    versions.write_text("\n".join(re.findall(r"^[a-z0-9].*==[^\\]+", LOCK.read_text(), re.MULTILINE)))
    requirement = f"svc-notebooks[lab] @ {built.as_uri()}"
    env = {**environment.surroundings(), **elsewhere(place / "home", place)}
    run([Path(sys.executable).with_name("uv"), "pip", "install", "-c", versions, requirement], cwd=place, env=env)


def use(place: Path, folder: Path) -> None:
    """Use the installed package as a user does, in an empty folder with an empty home."""
    env = elsewhere(folder / "home", place)
    work = folder / "work"
    work.mkdir()
    where = run(["python", "-c", "import svc_notebooks; print(svc_notebooks.__file__)"], cwd=work, env=env)
    need(Path(where.strip()).is_relative_to(place), f"the package came from {where}")
    with step("nbval: every output of the course is as saved"):
        compare(place, folder / "course", env)
    with step("svc-notebooks run: a folder of notebooks"):
        print(indented(run(["svc-notebooks", "run", folder / "course" / "exercises"], cwd=work, env=env)))
    with step("svc-notebooks lab: JupyterLab answers on a copy"):
        answers(work, env)


def compare(place: Path, course: Path, env: dict[str, str]) -> None:
    """Compare the outputs of the wheel's notebooks with nbval, with kernels of the wheel's environment."""
    (shipped,) = place.glob("lib/python*/site-packages/svc_notebooks/notebooks_shipped")
    shutil.copytree(shipped, course)
    kernel = course.parent / "jupyter" / "kernels" / "of-the-wheel"
    kernel.mkdir(parents=True)
    argv = [str(place / "bin" / "python"), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "wheel", "language": "python"}))
    variables = {**env, "JUPYTER_PATH": str(course.parent / "jupyter"), "TZ": "UTC", "PYTHONHASHSEED": "0"}
    nbval = ["--nbval", "--nbval-kernel-name=of-the-wheel", "--nbval-cell-timeout=30"]
    pytest = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", course, "-p", "no:cacheprovider", "-q"]
    print(indented(run([*pytest, *nbval, "-n", "2", "--dist", "loadfile", course], cwd=course, env=variables)))


def answers(work: Path, env: dict[str, str]) -> None:
    command = ["svc-notebooks", "lab", "mine", "--no-browser"]
    with jupyter(command, cwd=work, env=env, log=work / "lab.log") as url:
        page = get(url)
        listed = json.loads(get(url.replace("/lab/tree/00-start.ipynb?", "/api/contents?")))
    need(b"jupyterlab" in page.lower(), "JupyterLab does not answer")
    names = {entry["name"] for entry in listed["content"]}
    need({"00-start.ipynb", "data", "exercises"} <= names, f"the copy has only {sorted(names)}")
    log = (work / "lab.log").read_text()
    need(not re.search(r"^\[[WE] |WARNING", log, re.MULTILINE), f"it warns:\n{log}")


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines()).rstrip("\n")


if __name__ == "__main__":
    sys.exit(main())
