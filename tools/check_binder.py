"""Runs the build steps of Binder without Docker, in an empty environment with an empty home.

    python -m tools.check_binder

Checks the order of repo2docker's steps, runs pip, postBuild and start in a copy of the checkout, and runs the notebook
of the badge in chromium without a network.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from importlib.metadata import distributions
from pathlib import Path

from tools import environment
from tools.steps import ROOT, elsewhere, need, run, size, step

REPO2DOCKER = "jupyter-repo2docker==2026.4.0"
UV = Path(sys.executable).with_name("uv")
HEAVIEST = 12
ORDER = (
    "COPY --chown=0:0 src/binder/requirements.txt ",
    'RUN ${KERNEL_PYTHON_PREFIX}/bin/pip install --no-cache-dir -r "binder/requirements.txt"',
    "COPY --chown=0:0 src/ ${REPO_DIR}/",
    "RUN ./binder/postBuild",
    'ENV R2D_ENTRYPOINT="${REPO_DIR}/binder/start"',
)
"""pip runs before the repository is copied, so Docker reuses its layer for a commit with an unchanged lock."""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="svc-binder-") as folder:
        check(Path(folder))
    return 0


def check(folder: Path) -> None:
    # Binder's home is the repository itself.
    repo, prefix = folder / "jovyan", folder / "prefix"
    with step("copy what git knows"):
        copy(repo)
    with step("ask repo2docker for its steps"):
        steps = docker_steps(folder / "asker", repo)
    need(steps == list(ORDER), f"other steps than these, or in another order: {steps}")
    python = interpreter((repo / "binder" / "runtime.txt").read_text().strip().removeprefix("python-"))
    print(f"    Python: {run([python, '--version'], cwd=folder).strip()}")
    run([python, "-m", "venv", prefix], cwd=folder)
    env = {**elsewhere(repo, prefix), "KERNEL_PYTHON_PREFIX": str(prefix), "REPO_DIR": str(repo)}
    for words in (line.removeprefix("RUN ") for line in steps if line.startswith("RUN ")):
        with step(words.replace("${KERNEL_PYTHON_PREFIX}/bin/", "")):
            run(["bash", "-c", words], cwd=repo, env=env)
    print(f"    environment: {size(prefix)}, repository: {size(repo)}")
    print(f"    of it: {weights(prefix)}")
    if shutil.which("chromium") or shutil.which("chromium-browser"):
        with step("start, and the notebook of the badge in chromium without a network"):
            print(visited(repo, env).rstrip())
    else:
        with step("start (there is no chromium here, so no notebook is opened)"):
            run([repo / "binder" / "start", "jupyter", "lab", "--version"], cwd=repo, env=env)


def copy(target: Path) -> None:
    """Copy the files of this checkout that are or would be in a commit."""
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def docker_steps(folder: Path, repo: Path) -> list[str]:
    """Return the steps in repo2docker's Dockerfile that use this repository."""
    venv.create(folder, symlinks=True)
    env = {**environment.surroundings(), "VIRTUAL_ENV": str(folder)}
    run([UV, "pip", "install", REPO2DOCKER], cwd=folder, env=env)
    command = [folder / "bin" / "jupyter-repo2docker", "--no-build", "--debug", str(repo)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
    return [begin for line in lines for begin in ORDER if line.startswith(begin)]


def weights(prefix: Path) -> str:
    """Return the sizes of the heaviest packages in MB, of the compiled Python files, and of the rest, as text."""
    compiled, packages = 0, {}
    for package in distributions(path=map(str, prefix.glob("lib/python*/site-packages"))):
        files = [file for each in package.files or () if (file := Path(str(package.locate_file(each)))).is_file()]
        sizes = {file: file.stat().st_size for file in files}
        bytecode = sum(size for file, size in sizes.items() if file.suffix == ".pyc")
        compiled += bytecode
        packages[package.name] = sum(sizes.values()) - bytecode
    heaviest = sorted(packages.items(), key=lambda each: each[1], reverse=True)
    parts = [*heaviest[:HEAVIEST], (f"{len(packages) - HEAVIEST} others", sum(size for _, size in heaviest[HEAVIEST:]))]
    return ", ".join(f"{name} {size / 1e6:.0f}" for name, size in [*parts, ("compiled Python files", compiled)])


def interpreter(version: str) -> Path:
    """Return the path of the Python version in binder/runtime.txt, or of this Python if that version is missing."""
    name = f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv").glob(f"versions/{version}.*/bin/{name}")
    for path in (*pyenv, shutil.which(name)):
        if path and subprocess.run([path, "-c", "import ensurepip"], capture_output=True, check=False).returncode == 0:
            return Path(path)
    return Path(sys.base_prefix, "bin", "python3")


def visited(repo: Path, env: dict[str, str]) -> str:
    """Return the output of tools.visit_binder, which runs without a network connection."""
    command = [sys.executable, "-m", "tools.visit_binder", str(repo), str(ROOT / "build" / "screenshots")]
    env = {**env, "PYTHONPATH": str(ROOT)}
    for alone in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        if (
            shutil.which("unshare")
            and subprocess.run([*alone, "true"], capture_output=True, check=False).returncode == 0
        ):
            return run([*alone, *command], cwd=repo, env={**env, "NO_NETWORK": " ".join(alone)})
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    here = {"no_proxy": "127.0.0.1", "NO_NETWORK": "proxies that lead nowhere"}
    return run(command, cwd=repo, env={**env, **nowhere, **here})


if __name__ == "__main__":
    sys.exit(main())
