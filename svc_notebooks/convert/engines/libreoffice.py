"""Converts files with LibreOffice, which is an optional engine."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..job import MIB, ConversionError, Job, TooLarge
from . import program
from .available import OFFICE, soffice

_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
{items}
</oor:items>
"""
_ITEM = (
    '<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
)
_PROFILE_SETTINGS = (
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Office.Common/Security/Scripting", "DisableActiveContent", "true"),
    ("Office.Writer/Content/Update", "Link", "0"),
    ("Office.Calc/Content/Update", "Link", "1"),
    ("Inet/Settings", "ooInetProxyType", "1"),  # a nonexistent proxy prevents downloads
    ("Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPSProxyPort", "9"),
    ("Setup/Product", "ooSetupLastVersion", "99.0"),  # a new version tests the graphics, which takes longer than a file
)
_NOT_ISOLATED = 2  # an exit code of libreoffice_server.py
_SERVER_MEMORY = 64 * MIB
"""The memory in bytes of a server that its child does not share."""
_MINIMUM_MEMORY = 192 * MIB
"""The memory in bytes without which LibreOffice is not started. A page of text needs 150 MiB."""


def convert(source: bytes, extension: str, target: str, job: Job, *, isolated: bool = False, share: float = 1) -> bytes:
    """Convert a file with LibreOffice from the format `extension` to the format `target`, such as "doc" and "docx".

    A new profile forbids macros, links and network access. `isolated` requires that the system denies LibreOffice other
    files, which some formats can include in spite of the profile. Raises ConversionError if LibreOffice is missing or
    not isolated, or cannot read the file, and TooLarge above the limit of memory or `share` of the limit of time.
    """
    job = replace(job, limits=replace(job.limits, seconds=job.limits.seconds * share))
    path = soffice()
    if path is None:
        raise ConversionError(f"this format needs LibreOffice, which is not installed ({OFFICE.install}).")
    folder = Path(tempfile.mkdtemp(prefix="libreoffice-", dir=job.folder)).resolve()
    source_file, target_file = folder / f"source.{extension}", folder / "target" / f"source.{target}"
    target_file.parent.mkdir()
    source_file.write_bytes(source)
    deadline = time.monotonic() + job.limits.seconds
    exit_code = _run_in_server(Path(path).resolve().parent, source_file, target_file, job, isolated)
    if isolated and exit_code in (None, _NOT_ISOLATED):
        raise ConversionError("LibreOffice can be isolated from other files only on Linux 5.13 or later.")
    if exit_code is None:
        exit_code = _run_program(path, source_file, target_file, job)
    if exit_code and time.monotonic() >= deadline:
        raise TooLarge(f"LibreOffice took more than {job.limits.seconds:g} seconds.")
    if exit_code < 0:
        raise TooLarge("LibreOffice ended, probably because it needed more memory than the limit.")
    if exit_code or not target_file.is_file():
        raise ConversionError(f"LibreOffice could not read this as a {extension} file within the limit of memory.")
    return target_file.read_bytes()


def _write_profile(folder: Path) -> Path:
    items = "\n".join(_ITEM.format(path=path, name=name, value=value) for path, name, value in _PROFILE_SETTINGS)
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True, exist_ok=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_SETTINGS.format(items=items), encoding="utf-8")
    return profile


def _run_program(path: str, source_file: Path, target_file: Path, job: Job) -> int:
    """Run LibreOffice for one conversion. Returns the exit code."""
    folder = source_file.parent
    command = [
        path, f"-env:UserInstallation={_write_profile(folder).as_uri()}", "--headless", "--norestore", "--nolockcheck",
        "--convert-to", target_file.suffix[1:], "--outdir", str(target_file.parent), str(source_file),
    ]  # fmt: skip
    return program.run(command, b"", {**os.environ, "HOME": str(folder), "TMPDIR": str(folder)}, job)[0]


class _Server:
    """A process that has loaded LibreOffice and forks a child for each conversion (see libreoffice_server.py)."""

    def __init__(self, program_folder: Path, profile: Path) -> None:
        script = Path(__file__).with_name("libreoffice_server.py")
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(script), str(program_folder), profile.as_uri()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        atexit.register(self.close)

    def run(self, request: dict[str, Any]) -> int | None:
        """Run the requested conversion. Returns the exit code of the child, or None if the server has ended."""
        assert self._process.stdin
        assert self._process.stdout
        with suppress(OSError):
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            if line := self._process.stdout.readline():
                return int(line)
        self.close()
        return None

    def close(self) -> None:
        """Close the pipes, which ends the server."""
        atexit.unregister(self.close)
        with suppress(OSError):  # a closed pipe
            self._process.communicate()


_servers: dict[Path, _Server] = {}


def _run_in_server(program_folder: Path, source_file: Path, target_file: Path, job: Job, isolated: bool) -> int | None:
    """Run a conversion in a new or running server. Returns the exit code, or None if no server can be started."""
    if sys.platform != "linux":
        return None
    memory = program.program_memory(job, _SERVER_MEMORY + _MINIMUM_MEMORY) - _SERVER_MEMORY
    request = {
        "source": str(source_file), "target": str(target_file), "seconds": job.limits.seconds, "memory": memory,
        "isolated": isolated,
    }  # fmt: skip
    server = _servers.pop(program_folder, None)
    exit_code = server.run(request) if server else None
    if exit_code is None:
        server = _Server(program_folder, _write_profile(source_file.parent))
        exit_code = server.run(request)
    if server and exit_code is not None:
        _servers[program_folder] = server
    return exit_code
