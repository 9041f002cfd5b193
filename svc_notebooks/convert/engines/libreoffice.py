"""Converts files with the program of LibreOffice, which is an optional engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from ..job import MIB, ConversionError, Job
from . import available
from .available import OFFICE, soffice

_MINIMUM_MEMORY = 256 * MIB  # without which it is not started; a page of text needs 150 MiB
_VISIBLE = (  # what LibreOffice can read in bubblewrap, beside its own folder
    "/usr", "/opt", "/bin", "/lib", "/lib64", "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/etc/libreoffice",
    "/var/lib/libreoffice", "/var/spool/libreoffice", "/var/cache/fontconfig", "~/.fonts", "~/.local/share/fonts",
)  # fmt: skip


def convert(source: bytes, extension: str, target: str, job: Job, *, isolated: bool = False, share: float = 1) -> bytes:
    """Convert a file with LibreOffice from the format `extension` to the format `target`, such as "doc" and "docx".

    A new profile forbids macros, links and network access. Where bubblewrap works, LibreOffice has no network and can
    not read other files, which some formats can include in spite of the profile. `isolated` requires this. Raises
    ConversionError if LibreOffice is missing or not isolated, or cannot read the file, and TooLarge above the limit of
    memory or `share` of the limit of time.
    """
    job = replace(job, limits=replace(job.limits, seconds=job.limits.seconds * share))
    path = soffice()
    if path is None:
        raise ConversionError(f"this format needs LibreOffice, which is not installed ({OFFICE.install}).")
    bubblewrap = _bubblewrap(Path(path).resolve().parents[1])
    if isolated and not bubblewrap:
        raise ConversionError("LibreOffice can be isolated from other files only with bubblewrap (bwrap), on Linux.")
    available.program_memory(job, _MINIMUM_MEMORY)
    folder = Path(tempfile.mkdtemp(prefix="libreoffice-", dir=job.folder)).resolve()
    source_file, target_file = folder / f"source.{extension}", folder / "target" / f"source.{target}"
    source_file.write_bytes(source)
    settings, profile = files(__package__) / "registrymodifications.xcu", folder / "profile"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / settings.name).write_bytes(settings.read_bytes())
    command = [
        *([*bubblewrap, "--bind", str(folder), str(folder)] if bubblewrap else []),
        path, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore", "--nolockcheck",
        "--convert-to", target, "--outdir", str(target_file.parent), str(source_file),
    ]  # fmt: skip
    status, _, _ = available.run(command, b"", {**os.environ, "HOME": str(folder), "TMPDIR": str(folder)}, job)
    if status or not target_file.is_file():
        raise ConversionError(f"LibreOffice could not read this as a {extension} file within the limit of memory.")
    return target_file.read_bytes()


@cache
def _bubblewrap(office: Path) -> tuple[str, ...]:
    """Return the command that runs LibreOffice of the folder `office` in bubblewrap, or () where bubblewrap fails."""
    visible = [str(Path(path).expanduser()) for path in (*_VISIBLE, office)]
    folders = [option for path in visible for option in ("--ro-bind-try", path, path)]
    options = ("--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")
    command = (shutil.which("bwrap") or "", *options, *folders)
    works = command[0] and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    return command if works else ()
