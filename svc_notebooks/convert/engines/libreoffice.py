"""Converts old binary Office formats with LibreOffice, which is an optional engine."""

from __future__ import annotations

import os
import subprocess

from ..job import ConversionError, Job, TooLarge
from .available import soffice

_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
{items}
</oor:items>
"""
_ITEM = (
    '<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
)
_SECURITY_SETTINGS = (
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
)


def convert(source: bytes, extension: str, target: str, job: Job) -> bytes:
    """Convert a file with LibreOffice from the format `extension` to the format `target`, such as "doc" and "docx".

    A new profile in the job's folder forbids macros, links and network access. Raises ConversionError if LibreOffice is
    missing or cannot read the file, and TooLarge if the conversion exceeds the time limit.
    """
    program = soffice()
    if program is None:
        raise ConversionError("this format needs LibreOffice, which is not installed.")
    profile, source_file = job.folder / "profile", job.folder / f"source.{extension}"
    items = "\n".join(_ITEM.format(path=path, name=name, value=value) for path, name, value in _SECURITY_SETTINGS)
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_SETTINGS.format(items=items), encoding="utf-8")
    source_file.write_bytes(source)
    command = [
        program, f"-env:UserInstallation={profile.resolve().as_uri()}", "--headless", "--norestore", "--nolockcheck",
        "--convert-to", target, "--outdir", str(job.folder), str(source_file),
    ]  # fmt: skip
    environment = {**os.environ, "HOME": str(job.folder), "TMPDIR": str(job.folder)}
    try:
        subprocess.run(command, capture_output=True, check=False, env=environment, timeout=job.limits.seconds)
    except subprocess.TimeoutExpired as error:
        raise TooLarge(f"the conversion took more than {job.limits.seconds:g} seconds.") from error
    target_file = job.folder / f"source.{target}"
    if not target_file.is_file():
        raise ConversionError(f"LibreOffice could not read this as a {extension} file.")
    return target_file.read_bytes()
