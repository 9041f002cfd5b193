"""Checks the installation, and lists commands that install missing packages and programs."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..client.json_response import read_fields
from ..client.session import Session, SessionLike, session_or_current
from ..convert.engines import available, tesseract, typst
from ..core.errors.errors import SvcError
from ..core.resources.files import FileList
from ..core.times import ZoneData, zone_data
from .display import size_text
from .frames import DOCTOR, frame
from .frontend import detect_frontend
from .sandbox.sandbox import sandbox_of

if TYPE_CHECKING:
    from pandas import DataFrame


Status: TypeAlias = Literal["ok", "note", "problem"]
Finding: TypeAlias = "tuple[str, str, Status, str]"

REQUIRED = ("svc-notebooks", "pandas", "requests", "ipywidgets", "anywidget", "SQLAlchemy", "h11", "tqdm", "tzdata")

OPTIONAL = {
    "trustme": 'pip install "svc-notebooks[push]": receiver() then makes its certificate by itself',
    "pyarrow": 'pip install "svc-notebooks[frames]": read_frame() and upload() then take Parquet files',
    "jupyterlab": 'pip install "svc-notebooks[lab]", unless JupyterLab runs in another environment',
    "jupyterlab_widgets": "install ipywidgets where JupyterLab runs: without it forms stay empty",
}


def doctor(*, session: SessionLike = None, store: str | Path | None = None) -> DataFrame:
    """Check the installed packages, the front end, the service of the session, and optionally a stored service.

    If there is a session, one request is sent to the service of the session.

    Args:
        session: The session whose service is checked. None: the current session, if there is one.
        store: The folder of a service that is closed. All files in the folder are read, and no file is changed. The
            frame has a row for each damaged file of the store.

    Returns:
        One row for each check: check (its name), found, status ("ok", "note" or "problem"), fix (what to do), all str.

    >>> svc.doctor().set_index("check").loc["front end", "status"]
    'ok'
    """
    checked: Session | None = None
    with suppress(RuntimeError):
        checked = session_or_current(session)
    frontend: Finding = ("front end", detect_frontend(), "ok", "")
    findings = [*_packages(), frontend, _time_zones(zone_data()), *conversion(), *_service(checked)]
    if store is not None:
        findings += _check_store_folder(Path(store).expanduser())
    return frame(DOCTOR, [dict(zip(("check", "found", "status", "fix"), row, strict=True)) for row in findings])


def _packages() -> Iterator[Finding]:
    yield "python", platform.python_version(), "ok", ""
    for name, fix in {**{name: f"pip install {name}" for name in REQUIRED}, **OPTIONAL}.items():
        try:
            yield name, version(name), "ok", ""
        except PackageNotFoundError:
            yield name, "missing", "problem" if name in REQUIRED else "note", fix


def _time_zones(data: ZoneData) -> Finding:
    """Return a row with the source of time zones, and a note if the system's data are older than the package's."""
    if data.folder is None and data.package_version is None:
        return "time zones", "no data", "problem", "pip install tzdata"
    if data.folder is None:
        return "time zones", f"{data.package_version} of the package tzdata", "ok", ""
    version = data.system_version or "unknown version"
    source = f"{version} of the system in {data.folder}"
    if data.system_version is None or data.package_version is None or data.system_version >= data.package_version:
        return "time zones", source, "ok", ""
    advice = (
        f"the package tzdata has {data.package_version}, but Python uses the system's data; update the system's, or "
        "set the environment variable PYTHONTZPATH to an empty text before Python starts"
    )
    return "time zones", source, "note", advice


def _service(session: Session | None) -> Iterator[Finding]:
    if session is None:
        yield "session", "none yet", "note", "call sandbox() or connect()"
        return
    yield "session", repr(session), "ok", ""
    yield _journal(session)
    if (lab := sandbox_of(session)) and lab.service.folder:
        yield _store(lab.service.folder, lab.service.notes)
    try:
        answer = session.fetch("GET", session.names.path("files"), query={"pageSize": 1, "fields": "kind"})
        read_fields(answer, FileList, session.base_url, "kind")
    except SvcError as error:
        yield "service", type(error).__name__, "problem", str(error)
    else:
        yield "service", "responds", "ok", ""


def _check_store_folder(folder: Path) -> Iterator[Finding]:
    from ..server.store.maintenance import check_store

    try:
        report = check_store(folder)
    except OSError as error:
        yield "checked store", str(folder), "problem", str(error)
        return
    if not report.problems:
        counts = f"{report.files:,} files, {report.parts:,} parts, {size_text(report.size)}"
        yield "checked store", f"{counts}: no damage", "ok", ""
    for subject, problem, files in report.problems:
        names = f" of {', '.join(f'{file.name} ({file.id})' for file in files)}" if files else ""
        advice = "restore the store from a backup, or upload the content again"
        yield "checked store", f"{subject}{names}: {problem}", "problem", advice


def _journal(session: Session) -> Finding:
    """Check that the folder of the upload journal is writable. Another kernel resumes uploads from this journal."""
    folder = session.pending.folder
    if folder is None:
        return "pending uploads", "in memory", "ok", ""
    if os.access(next(path for path in (folder, *folder.parents) if path.exists()), os.W_OK):
        return "pending uploads", str(folder), "ok", ""
    fix = "make the folder writable, or set SVC_NOTEBOOKS_STATE to one that is"
    return "pending uploads", f"{folder} cannot be written", "problem", fix


def _store(folder: Path, notes: Sequence[str]) -> Finding:
    """Return a row with the service's notes about its folder, or with the number of files that were set aside."""
    from ..server.store.directory_blob_store import ASIDE

    advice = list(notes)
    if (number := sum(not path.is_dir() for path in (folder / ASIDE).rglob("*"))) and not notes:
        advice.append(f"{folder / ASIDE} has {number:,} files that are not of the store; delete those you do not need")
    return "store", str(folder), "note" if advice else "ok", "; ".join(advice)


def conversion() -> Iterator[Finding]:
    """Yield (check, found, status, fix) for each conversion engine, for the OCR languages and for the fonts of scripts.

    >>> [row[2] for row in conversion() if row[0] == "typst"]
    ['ok']
    """
    for engine in available.ENGINES:
        if engine.is_available():
            yield engine.name, "found", "ok", ""
        else:
            yield engine.name, "missing", "note", engine.install
    if available.ocr_available():
        yield "text in pictures", ", ".join(tesseract.languages()), "ok", ""
    else:
        yield "text in pictures", "not read", "note", available.TESSEROCR.install
    fonts_of_scripts = dict(typst.script_report())
    missing = [script for script in typst.SCRIPTS if fonts_of_scripts[script.name] is None]
    if missing:  # letters without a font are boxes in a PDF
        packages = " ".join(dict.fromkeys(script.package for script in missing))
        names = ", ".join(script.name for script in missing)
        yield "scripts in PDFs", f"no font for {names}", "note", f"apt-get install {packages}"
    else:
        yield "scripts in PDFs", f"all {len(fonts_of_scripts)} that are looked for", "ok", ""
