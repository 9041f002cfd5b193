"""Starts programs in bubblewrap, where they see neither the teacher's files and processes nor the network."""

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from shutil import which

# The only folder in the sandbox that a submission can write, except for temporary folders. It is in memory.
FOLDER = "/home/student"

_LIMITS = "limits of memory, time, output and processes"
IN_BUBBLEWRAP = (
    f"each submission ran in bubblewrap with {_LIMITS}: it could neither see your files, other submissions and other"
    " processes nor use a network except the exercises"
)
WITHOUT_SANDBOX = (
    f"each submission ran in processes with a folder of its own and {_LIMITS}, but without a sandbox:"
    " it could read and change your files and use the network"
)

_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/alternatives", "/etc/fonts",
    "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types",
)  # fmt: skip
_FOLDER_BYTES = 256 * 1024**2
_PROBE_SECONDS = 60
_MAX_REASON = 200

_INHERITED = (
    "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "PYTHONPATH", "SYSTEMROOT", "TZ", "VIRTUAL_ENV",
)  # fmt: skip


class NoSandboxError(Exception):
    """Raised if bubblewrap is asked for and cannot be used. The message has the reason."""


@dataclass(frozen=True, slots=True)
class SubmissionSandbox:
    """The way in which submissions are isolated. Without bubblewrap, `command` is ()."""

    command: tuple[str, ...]
    description: str

    @property
    def is_bubblewrap(self) -> bool:
        return bool(self.command)

    def python(self, *arguments: str, pass_fds: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
        """Start this Python in the sandbox with no output, and return its process."""
        return subprocess.Popen(
            [*self.command, sys.executable, "-P", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=pass_fds,
            env=_environment(),
            start_new_session=True,
        )


def find_sandbox(isolation: str = "auto", hidden: Iterable[Path] = ()) -> SubmissionSandbox:
    """Return the sandbox for submissions, with bubblewrap where it works. The folders `hidden` are never visible.

    `isolation` is "auto", "bubblewrap", which insists on it, or "limits", which does not use it.
    Raises NoSandboxError if `isolation` is "bubblewrap" and bubblewrap does not work.
    """
    problem = "not asked for" if isolation == "limits" else "not installed"
    if isolation != "limits" and (program := which("bwrap")):
        command = (program, *_arguments(program, [path.resolve() for path in hidden]))
        problem = _problem(command)
        if not problem:
            return SubmissionSandbox(command, IN_BUBBLEWRAP)
    if isolation == "bubblewrap":
        raise NoSandboxError(f"bubblewrap cannot be used: {problem}")
    return SubmissionSandbox((), f"{WITHOUT_SANDBOX} (bubblewrap: {problem})")


def _problem(command: tuple[str, ...]) -> str:
    """Return why the command cannot start this Python with this package, or "" if it can."""
    probe = [*command, sys.executable, "-P", "-c", "import svc_notebooks"]
    try:
        done = subprocess.run(probe, capture_output=True, timeout=_PROBE_SECONDS, env=_environment(), check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it cannot start: {error}"[:_MAX_REASON]
    lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit status {done.returncode}"]
    return f"it cannot start: {lines[-1]}"[:_MAX_REASON] if done.returncode else ""


def _arguments(program: str, hidden: Iterable[Path]) -> list[str]:
    """Return the options of bubblewrap: new namespaces, the system and Python read-only, and folders in memory."""
    usage = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    size = ["--size", str(_FOLDER_BYTES)] if "--size" in usage.stdout + usage.stderr else []  # from version 0.7 on
    arguments = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev"]
    arguments += [*size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev", *size, "--tmpfs", "/tmp"]
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), name]
        elif path.exists():
            arguments += ["--ro-bind", name, name]
    bound = _python_folders()
    for folder in bound:
        arguments += ["--ro-bind", str(folder), str(folder)]
    for folder in sorted(set(hidden)):
        if any(folder.is_relative_to(path) for path in (Path("/usr"), *bound)):
            arguments += [*size, "--tmpfs", str(folder)]
    return [*arguments, *size, "--tmpfs", FOLDER, "--remount-ro", "/", "--chdir", FOLDER]


def _python_folders() -> list[Path]:
    """Return the folders of this Python, its packages and this package, without folders below others of them."""
    package = Path(__file__).parents[1]
    packages = [Path(entry) for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))]
    prefixes = [Path(prefix) for prefix in (sys.prefix, sys.base_prefix)]
    folders = {*prefixes, *(path.resolve() for path in (*prefixes, *packages, package)), *packages, package}
    kept: list[Path] = []
    for folder in sorted(folders):
        if folder.is_dir() and not any(folder.is_relative_to(path) for path in (*kept, Path("/usr"))):
            kept.append(folder)
    return kept


def inherited_variables() -> dict[str, str]:
    """Return the environment variables that a submission inherits. Others may contain the teacher's tokens."""
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}


def _environment() -> dict[str, str]:
    variables = inherited_variables()
    paths = [str(Path(__file__).parents[2]), *filter(None, [variables.get("PYTHONPATH")])]
    return variables | {"PYTHONPATH": os.pathsep.join(paths)}
