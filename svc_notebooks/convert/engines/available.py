"""Lists the engines (libraries and programs) of conversions, tests whether each is available, and runs programs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ...core.platform import capabilities
from ..job import MIB, Job, TooLarge


@dataclass(frozen=True, slots=True)
class Engine:
    """A library or a program that conversions need. `install` is the installation command."""

    name: str
    is_installed: Callable[[], bool]
    install: str
    program: bool = False

    def is_available(self) -> bool:
        """Return whether the engine is installed and the platform can run it. Browsers (Pyodide) run no programs."""
        return self.is_installed() and (not self.program or capabilities().processes)

    @property
    def missing(self) -> str:
        """The end of an error message, such as "the conversion needs typst, which is not installed"."""
        if self.program and not capabilities().processes:
            return f"the conversion needs the program {self.name}, and {capabilities().name} cannot run programs."
        if not capabilities().processes:  # a web page (Pyodide) loads a package when a cell imports the package
            command = f"import {self.name}"
            return f"the conversion needs {self.name}, which is not loaded: run `{command}` in a cell, and try again."
        return f"the conversion needs {self.name}, which is not installed ({self.install})."


_installed_modules: set[str] = set()


def _library(module: str, *, extra: str = "convert") -> Engine:
    # Only success is cached, since a notebook may install a missing library, and a web page may load it, at any time.
    def is_installed() -> bool:
        if module not in _installed_modules and find_spec(module) is not None:
            _installed_modules.add(module)
        return module in _installed_modules

    return Engine(module, is_installed, f'pip install "svc-notebooks[{extra}]"')


@cache
def soffice() -> str | None:
    """Return the path of LibreOffice's program, or None if LibreOffice is not installed."""
    candidates = ("soffice", "libreoffice", "/Applications/LibreOffice.app/Contents/MacOS/soffice")
    return next((path for candidate in candidates if (path := shutil.which(candidate))), None)


@cache
def pandoc() -> Path | None:
    """Return pandoc's path in the package pypandoc_binary, or None. Other versions may have another document tree."""
    package = find_spec("pypandoc")
    folder = Path(package.origin).parent / "files" if package and package.origin else None
    names = ("pandoc", "pandoc.exe")
    return next((path for name in names if folder and (path := folder / name).is_file()), None)


@cache
def tessdata() -> tuple[Path, ...]:
    """Return the existing folders with OCR models, in the order TESSDATA_PREFIX, Python environment, system."""
    named = os.environ.get("TESSDATA_PREFIX")
    folders = [Path(named), Path(named, "tessdata")] if named else []
    folders.append(Path(sys.prefix, "share", "tessdata"))
    for root in ("/usr/share", "/usr/local/share", "/opt/homebrew/share"):
        folders += [*sorted(Path(root, "tesseract-ocr").glob("*/tessdata")), Path(root, "tessdata")]
    return tuple(folder for folder in folders if folder.is_dir() and any(folder.glob("*.traineddata")))


PANDOC = Engine("pandoc", lambda: pandoc() is not None, 'pip install "svc-notebooks[convert]"', program=True)
TYPST = _library("typst")
XLSXWRITER = _library("xlsxwriter")
XLRD = _library("xlrd")
MSOFFCRYPTO = _library("msoffcrypto")
FORMUALIZER = _library("formualizer")
PYTHON_PPTX = _library("pptx")
PDFIUM = _library("pypdfium2")
PILLOW = _library("PIL")
LXML = _library("lxml")
TINYCSS2 = _library("tinycss2")
TESSEROCR = _library("tesserocr", extra="ocr")
TESSDATA = Engine("trained data", lambda: bool(tessdata()), 'pip install "svc-notebooks[ocr]"')
_INSTALL_OFFICE = "apt-get install libreoffice, or libreoffice.org"
OFFICE = Engine("LibreOffice", lambda: soffice() is not None, _INSTALL_OFFICE, program=True)

ENGINES = (
    PANDOC, TYPST, XLSXWRITER, XLRD, MSOFFCRYPTO, FORMUALIZER, PYTHON_PPTX, PDFIUM, PILLOW, LXML, TINYCSS2,
    TESSEROCR, TESSDATA, OFFICE,
)  # fmt: skip


def missing_package(module: str) -> str:
    """Return the end of an error message about a module that a conversion could not import."""
    return _library(module.partition(".")[0]).missing


def ocr_available() -> bool:
    """Return whether the OCR library and at least one OCR model are installed, so that text in pictures can be read."""
    return TESSEROCR.is_available() and TESSDATA.is_available()


_STATUS = Path("/proc/self/status")
_CODE_MEMORY = 112 * MIB  # of a program beside its data: 93 MiB for pandoc 3.9, 104 MiB for LibreOffice 7.4


def process_memory(field: str) -> int:
    """Return the memory of this process in bytes, now ("VmRSS") or at most ("VmHWM"). Returns 0 except on Linux."""
    match = re.search(rf"^{field}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE) if _STATUS.exists() else None
    return int(match[1]) * 1024 if match else 0


def program_memory(job: Job, minimum: int = 64 * MIB) -> int:
    """Return how many bytes of data a program may have beside this process. Raises TooLarge below the minimum."""
    memory = job.limits.memory - process_memory("VmRSS") - _CODE_MEMORY
    if memory < minimum:
        raise TooLarge("the conversion needs more memory than the limit.")
    return memory


def run(command: Sequence[str], source: bytes, environment: Mapping[str, str], job: Job) -> tuple[int, bytes, bytes]:
    """Run a program with standard input `source`. Raises TooLarge above a limit of time or output.

    Returns the exit status, standard output and standard error. On Linux, the system limits the program's memory.
    """
    # Standard output is a file, since with a pipe this process would grow beside the program.
    with tempfile.TemporaryFile(dir=job.folder) as target:
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=target, stderr=subprocess.PIPE, env=environment, cwd=job.folder
        ) as process:
            with suppress(ImportError):  # not Linux
                from resource import RLIMIT_DATA, prlimit

                prlimit(process.pid, RLIMIT_DATA, (program_memory(job),) * 2)
            try:
                _, errors = process.communicate(source, timeout=job.limits.seconds)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise TooLarge(f"the conversion took more than {job.limits.seconds:g} seconds.") from error
        target.seek(0)
        if process.returncode < 0:  # ended by the system, since a file exceeded the limit
            raise TooLarge("the conversion needs more memory or disk space than the limit.")
        return process.returncode, target.read(), errors
