"""What conversion has to work with in this environment, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..convert import engines, fonts, ocr

if TYPE_CHECKING:
    from ..convert.engines import Engine
    from .doctor import Finding


def conversion() -> Iterator[Finding]:
    """A row for each engine, for the languages of OCR, and for the scripts that a PDF can have.

    >>> [row[2] for row in conversion() if row[0] == "typst"]
    ['ok']
    """
    for engine in engines.ENGINES:
        yield _engine(engine)
    yield _languages()
    yield _scripts()


def _engine(engine: Engine) -> Finding:
    found = engine.found()
    return engine.name, "found" if found else "missing", "ok" if found else "note", "" if found else engine.install


def _languages() -> Finding:
    if not engines.ocr():
        return "text in pictures", "not read", "note", engines.TESSEROCR.install
    return "text in pictures", ", ".join(ocr.languages()), "ok", ""


def _scripts() -> Finding:
    """Letters without a font are boxes in a PDF, which nobody sees until it is printed."""
    here = dict(fonts.report())
    lacking = [script for script in fonts.SCRIPTS if here[script.name] is None]
    if not lacking:
        return "scripts in PDFs", f"all {len(here)} that are looked for", "ok", ""
    packages = " ".join(dict.fromkeys(script.package for script in lacking))
    names = ", ".join(script.name for script in lacking)
    return "scripts in PDFs", f"no font for {names}", "note", f"apt-get install {packages}"
