"""What does the work underneath, and whether it is installed here. Nothing is imported to find out."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Engine:
    """A library or a program; `install`: what to do to have it."""

    name: str
    found: Callable[[], bool]
    install: str


def _library(module: str, *, extra: str = "convert") -> Engine:
    @cache
    def found() -> bool:
        return find_spec(module) is not None

    return Engine(module, found, f'pip install "svc-notebooks[{extra}]"')


@cache
def soffice() -> str | None:
    """The path of LibreOffice, if it is installed."""
    places = ("soffice", "libreoffice", "/Applications/LibreOffice.app/Contents/MacOS/soffice")
    return next((path for place in places if (path := shutil.which(place))), None)


@cache
def pandoc() -> Path | None:
    """The program that pypandoc_binary carries: of a version whose tree we know, whatever else is installed."""
    package = find_spec("pypandoc")
    folder = Path(package.origin).parent / "files" if package and package.origin else None
    names = ("pandoc", "pandoc.exe")
    return next((path for name in names if folder and (path := folder / name).is_file()), None)


@cache
def tessdata() -> tuple[Path, ...]:
    """The folders of trained data for OCR: named by TESSDATA_PREFIX, from packages, from the system."""
    named = os.environ.get("TESSDATA_PREFIX")
    folders = [Path(named), Path(named, "tessdata")] if named else []
    folders.append(Path(sys.prefix, "share", "tessdata"))
    for root in ("/usr/share", "/usr/local/share", "/opt/homebrew/share"):
        folders += [*sorted(Path(root, "tesseract-ocr").glob("*/tessdata")), Path(root, "tessdata")]
    return tuple(folder for folder in folders if folder.is_dir() and any(folder.glob("*.traineddata")))


PANDOC = Engine("pandoc", lambda: pandoc() is not None, 'pip install "svc-notebooks[convert]"')
TYPST = _library("typst")
XLSXWRITER = _library("xlsxwriter")
CALAMINE = _library("python_calamine")
FORMUALIZER = _library("formualizer")
PPTX = _library("pptx")
PDFIUM = _library("pypdfium2")
PILLOW = _library("PIL")
LXML = _library("lxml")
CHARSET = _library("charset_normalizer")
TESSEROCR = _library("tesserocr", extra="ocr")
TESSDATA = Engine("trained data", lambda: bool(tessdata()), 'pip install "svc-notebooks[ocr]"')
OFFICE = Engine("LibreOffice", lambda: soffice() is not None, "apt-get install libreoffice, or libreoffice.org")

ENGINES = (
    PANDOC, TYPST, XLSXWRITER, CALAMINE, FORMUALIZER, PPTX, PDFIUM, PILLOW, LXML, CHARSET,
    TESSEROCR, TESSDATA, OFFICE,
)  # fmt: skip


def ocr() -> bool:
    """Whether text in pictures can be read here."""
    return TESSEROCR.found() and TESSDATA.found()
