"""Creates the environment of this checkout in `.venv`, for `make lab` and `make env`.

    python3 tools/environment.py binder/requirements.txt                          JupyterLab and the notebooks
    python3 tools/environment.py binder/requirements.txt requirements/dev.txt     and the packages for tests

Python's own pip installs uv, from an environment that is removed afterwards. So `.venv` has neither the pip nor the
setuptools that came with Python. uv installs the other packages faster. If uv fails, that pip installs them. This
module needs only the standard library.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
LOG = VENV / "install.log"
INSTALLER = VENV / "installer"
CONFIGURATION = VENV / "pip-configuration.txt"
UV_LOCK = ROOT / "requirements" / "uv.txt"
OLDEST = (3, 11)

PYTHON = str(BIN / "python")
PIP = [str(INSTALLER / BIN.name / "python"), "-m", "pip", "--disable-pip-version-check", "--python", PYTHON]
UV = [str(BIN / "uv"), "pip"]

# uv does not read pip's configuration, so the package sources are passed on to uv.
OF_PIP = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
UNREACHABLE = re.compile(
    r"NewConnectionError|NameResolutionError|Timeout|ProxyError|Connection refused|error sending request|dns error"
)
LISTED = re.compile(r"^[^=]+\.([a-z-]+)=('[^'\n]*')$", re.MULTILINE)
COMPLAINT = re.compile(r"^(?:ERROR|error): *(.+)$", re.MULTILINE)


class Stopped(Exception):
    """Raised if the environment cannot be created. The message has the reason and what to do."""


def main(locks: Sequence[str]) -> int:
    """Create or update the environment for these locks. If this fails, print the reason and return 1, else 0."""
    begun = time.monotonic()
    try:
        look()
        make()
        install([ROOT / name for name in locks])
    except Stopped as stopped:
        sys.stderr.write(f"make env: {stopped}\n")
        return 1
    finally:
        shutil.rmtree(INSTALLER, ignore_errors=True)
    say(f"ready after {time.monotonic() - begun:.0f} s")
    return 0


def look() -> None:
    """Raise Stopped if this Python is too old or incomplete, or if the folder is not writable."""
    if sys.version_info < OLDEST:
        raise Stopped(f"{sys.executable} is Python {sys.version.split()[0]}, and 3.11 or later is needed")
    if find_spec("ensurepip") is None:
        raise Stopped(f"{sys.executable} comes without ensurepip; on Debian and Ubuntu: apt-get install python3-venv")
    if not os.access(ROOT, os.W_OK):
        raise Stopped(f"{ROOT} cannot be written to; copy or clone it to a folder of yours")


def make() -> None:
    """Create `.venv`, unless a usable environment exists, and the environment of the pip that installs uv."""
    try:
        if not usable():
            say(f"Python {sys.version.split()[0]} in {VENV.name}")
            venv.create(VENV, clear=VENV.exists(), symlinks=os.name != "nt")
        venv.create(INSTALLER, clear=True, with_pip=True, symlinks=os.name != "nt")
    except (OSError, subprocess.CalledProcessError) as error:
        raise Stopped(f"{VENV} could not be made: {error}") from None


def usable() -> bool:
    """Return whether `.venv` has a new enough Python, and not the pip that `ensurepip` installs."""
    question = (
        "import ensurepip, sys\nfrom importlib.metadata import PackageNotFoundError, version\n"
        "try: old = version('pip') == ensurepip.version()\nexcept PackageNotFoundError: old = False\n"
        f"sys.exit(old or sys.version_info < {OLDEST})"
    )
    python = BIN / "python"
    return (
        python.exists() and subprocess.run([python, "-c", question], capture_output=True, check=False).returncode == 0
    )


def install(locks: Sequence[Path]) -> None:
    """Install the packages of the locks, then this package in editable mode, and the JupyterLab settings."""
    LOG.write_text("")
    CONFIGURATION.write_text(configuration())
    installers = [PIP]
    if runs([*PIP, "install", "--require-hashes", "-r", str(UV_LOCK)]):
        installers.insert(0, UV)
    elif UNREACHABLE.search(LOG.read_text(errors="replace")):
        raise Stopped(sentence(LOG.read_text(errors="replace")))
    for lock in locks:
        say(f"the packages of {lock.relative_to(ROOT)}")
        by_any(installers, "--require-hashes", "-r", str(lock))
    by_any(installers, "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    runs([str(BIN / "python"), str(ROOT / "tools" / "quiet_lab.py")])


def by_any(installers: Sequence[Sequence[str]], *arguments: str) -> None:
    """Try the installers one after the other until one succeeds. Raises Stopped if all fail."""
    if not any(runs([*installer, "install", *arguments]) for installer in installers):
        raise Stopped(sentence(LOG.read_text(errors="replace")))


def runs(command: Sequence[str]) -> bool:
    """Run a command with its output in the log, and return whether the command succeeds."""
    with LOG.open("a") as log:
        return subprocess.run(command, env=surroundings(), stdout=log, stderr=log, check=False).returncode == 0


def configuration() -> str:
    """Return the configuration of pip, which uv and later commands of the Makefile use."""
    return subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=False).stdout


@cache
def surroundings() -> dict[str, str]:
    """Return the environment variables for both installers, with pip's configuration for uv."""
    listed = CONFIGURATION.read_text() if CONFIGURATION.exists() else ""
    return {"VIRTUAL_ENV": str(VENV), "UV_INDEX_STRATEGY": "unsafe-best-match", **settings(listed), **os.environ}


def settings(listed: str) -> Mapping[str, str]:
    """Convert the output of `pip config list` to variables of uv. A later line replaces an earlier line."""
    variables = {name: " ".join(ast.literal_eval(value).split()) for name, value in LISTED.findall(listed)}
    return {ours: variables[theirs] for theirs, ours in OF_PIP.items() if theirs in variables}


def sentence(log: str) -> str:
    """Return the last error of the installers in the log, or the advice for a missing network connection."""
    lines = COMPLAINT.findall(log)
    if UNREACHABLE.search(log):
        return "the package registry cannot be reached; connect to the network, or name a mirror in PIP_INDEX_URL"
    return f"packages could not be installed: {lines[-1] if lines else 'the installer ended'}; all of it is in {LOG}"


def say(words: str) -> None:
    sys.stdout.write(f"environment: {words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
