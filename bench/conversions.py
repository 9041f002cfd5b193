"""`python -m bench.conversions [--write]`: measures every conversion beside the library that it uses.

"ours" is the whole way through a warm worker process, files and all; "library" is the time inside the calls that do
the work, taken in this process, run about with ours. Where we do the work ourselves there is no library to compare.
"""

from __future__ import annotations

import argparse
import importlib
import io
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from svc_notebooks.convert import registry
from svc_notebooks.convert.job import Job
from svc_notebooks.convert.pool.converter import Converter
from svc_notebooks.convert.registry import MODELS, Conversion, exporters, importers, load
from svc_notebooks.core.http import media_types
from tests.convert import sources

PAGE = Path(__file__).parents[1] / "docs" / "conversion.md"
_TABLE_MARKERS = re.compile(r"(?<=<!-- conversions -->\n).*?(?=<!-- /conversions -->)", re.DOTALL)
_ROUNDS = 7

# The calls in which libraries do their work: module, name.
_LIBRARY_CALLS = (
    ("svc_notebooks.convert.engines.available", "run"),
    ("typst", "Compiler"),
    ("svc_notebooks.convert.engines.tesseract", "_recognize_paragraphs"),
    ("xlrd", "open_workbook"),
)
_LIBRARIES = {
    "document.read": "pandoc", "document.write": "pandoc", "document.pdf": "typst",
    "document.scanned_pages": "tesserocr",
    "spreadsheet.pdf": "typst", "presentation.pages": "typst", "drawing": "typst",
}  # fmt: skip


def main() -> None:
    """Measure, print, and with --write put the table into the docs."""
    parser = argparse.ArgumentParser(prog="python -m bench.conversions", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table between the markers of docs/conversion.md")
    options = parser.parse_args()
    table = "\n".join(
        ["| conversion | ours, ms | library | its share, ms | ratio |", "| --- | --- | --- | --- | --- |", *rows()]
    )
    print(table)
    if options.write:
        PAGE.write_text(_TABLE_MARKERS.sub(lambda _: table + "\n", PAGE.read_text()))


def rows() -> Iterator[str]:
    """A line of the table for each conversion that works here; of several media types for one function, the first."""
    converter = Converter()
    bodies = {native: body_of(converter, native) for native in media_types.NATIVES}
    try:
        for conversion in first_of_each(importers()):
            source = source_of(converter, bodies, conversion)
            if source is not None:
                yield measure(
                    conversion, source, lambda a, s, n: converter.read(s, a.media_type, a.native, name=n), reads=True
                )
        for conversion in exporters():
            body = bodies[conversion.native]
            yield measure(
                conversion, body, lambda a, s, n: converter.write(s, a.native, a.media_type, name=n), reads=False
            )
    finally:
        converter.close()


def first_of_each(conversions: tuple[Conversion, ...]) -> Iterator[Conversion]:
    seen: set[tuple[str, str]] = set()
    for conversion in conversions:
        key = (conversion.native, title_of(conversion, reads=True))
        if key not in seen:
            seen.add(key)
            yield conversion


def title_of(conversion: Conversion, *, reads: bool) -> str:
    if reads:
        return next(
            r.title
            for r in media_types.IMPORTS
            if r.native == conversion.native and conversion.media_type in r.media_types
        )
    return next(
        r.title for r in media_types.EXPORTS if (r.native, r.media_type) == (conversion.native, conversion.media_type)
    )


def measure(
    conversion: Conversion, source: bytes, convert: Callable[[Conversion, bytes, str], Any], *, reads: bool
) -> str:
    """Both, in turn, with another name each time: typst remembers what it has set."""
    ours, theirs = [], []
    for number in range(_ROUNDS + 2):
        start = time.perf_counter()
        convert(conversion, source, f"n{number}")
        ours.append(time.perf_counter() - start)
        theirs.append(library_seconds(conversion, source, f"m{number}", reads=reads))
    our_ms, library_ms = median(ours[2:]) * 1000, median(theirs[2:]) * 1000
    title = title_of(conversion, reads=reads)
    label = f"{title} to {conversion.native}" if reads else f"{conversion.native} to {title}"
    if library_ms < 0.05:
        return f"| {label} | {our_ms:.1f} | none | | |"
    return f"| {label} | {our_ms:.1f} | {library_of(conversion)} | {library_ms:.1f} | {our_ms / library_ms:.2f} |"


def library_of(conversion: Conversion) -> str:
    module = conversion.function.partition(":")[0]
    if conversion.function.endswith((":doc", ".ppt:read")):
        return "LibreOffice"
    return _LIBRARIES.get(module, "xlrd")


def library_seconds(conversion: Conversion, source: bytes, name: str, *, reads: bool) -> float:
    """Seconds inside the libraries' calls."""
    function, model = (
        load(f"{registry.__package__}.{conversion.function}"),
        load(f"{registry.__package__}.{MODELS[conversion.native]}"),
    )
    with tempfile.TemporaryDirectory() as folder, time_library_calls() as spent:
        job = Job(conversion.media_type, Path(folder), name=name)
        function(source if reads else model.unpack(source), job)
    return sum(spent)


@contextmanager
def time_library_calls() -> Iterator[list[float]]:
    """The times of all calls that `_LIBRARY_CALLS` names."""
    spent: list[float] = []
    originals = [
        (module, name, getattr(module, name)) for module, name in map(_resolve, _LIBRARY_CALLS) if hasattr(module, name)
    ]
    for module, name, call in originals:
        setattr(module, name, _timed_call(call, spent))
    try:
        yield spent
    finally:
        for module, name, call in originals:
            setattr(module, name, call)


def _resolve(call: tuple[str, str]) -> tuple[Any, str]:
    return importlib.import_module(call[0]), call[1]


def _timed_call(call: Any, spent: list[float]) -> Any:
    """A call that says how long it took; of a class, its methods too."""

    def timed(*arguments: Any, **named: Any) -> Any:
        start = time.perf_counter()
        try:
            result = call(*arguments, **named)
        finally:
            spent.append(time.perf_counter() - start)
        return _TimedObject(result, spent) if isinstance(call, type) and call.__module__.startswith("typst") else result

    return timed


class _TimedObject:
    """An object whose methods say how long they took."""

    def __init__(self, inner: Any, spent: list[float]) -> None:
        self._inner, self._spent = inner, spent

    def __getattr__(self, name: str) -> Any:
        return _timed_call(getattr(self._inner, name), self._spent)


def body_of(converter: Converter, native: str) -> bytes:
    sent = {
        "document": (sources.docx(), media_types.DOCX),
        "spreadsheet": (_table(), media_types.CSV),
        "presentation": (_slides(), media_types.PPTX),
        "drawing": (
            b'<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><circle r="90"/></svg>',
            media_types.SVG,
        ),
        "script": (b'{"files":[{"name":"Code","type":"server_js","source":"f()"}]}', media_types.JSON),
    }
    return converter.read(*sent[native], native, name="n").body


def _table() -> bytes:
    return "\n".join(f"2026-01-{n % 28 + 1:02},name {n},{n * 1.5},{n}" for n in range(200)).encode()


def _slides() -> bytes:
    import pptx

    deck = pptx.Presentation()
    for number in range(5):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
        slide.placeholders[1].text = "one\ntwo\nthree"
    target = io.BytesIO()
    deck.save(target)
    return target.getvalue()


def source_of(converter: Converter, bodies: dict[str, bytes], conversion: Conversion) -> bytes | None:
    """A small file of the arrow's format; None where none can be made here."""
    media_type, native = conversion.media_type, conversion.native
    makers: dict[str, Callable[[], bytes]] = {
        media_types.RTF: sources.rtf,
        media_types.ODT: sources.odt,
        media_types.HTML: sources.html,
        media_types.TSV: lambda: _table().replace(b",", b"\t"),
        media_types.CSV: _table,
        media_types.JSON: lambda: b"{}",
        "application/vnd.svc-apps.script+text/plain": lambda: b"f()",
        media_types.SCRIPT_TEXT: lambda: b"f()",
        media_types.SVG: lambda: b'<svg xmlns="http://www.w3.org/2000/svg"/>',
        media_types.TEXT: lambda: b"words\n\nmore words\n" * 20,
    }
    if media_type in makers:
        return makers[media_type]()
    pictures = {media_types.PNG: "PNG", media_types.JPEG: "JPEG", "image/gif": "GIF", "image/bmp": "BMP"}
    if media_type in pictures:
        return sources.picture_of("Some words", pictures[media_type])
    if converter.can_write(native, {media_types.ODS: media_types.X_ODS}.get(media_type, media_type)):
        return converter.write(
            bodies[native], native, {media_types.ODS: media_types.X_ODS}.get(media_type, media_type)
        ).body
    old = {"application/msword": ("docx", "doc"), "application/vnd.ms-excel": ("xlsx", "xls"),
           "application/vnd.ms-powerpoint": ("pptx", "ppt")}  # fmt: skip
    return _as_old_format(converter, bodies[native], native, *old[media_type]) if media_type in old else None


def _as_old_format(converter: Converter, body: bytes, native: str, new: str, old: str) -> bytes | None:
    from svc_notebooks.convert.engines import available, libreoffice

    media_type = next(row.media_type for row in media_types.EXPORTS if row.extension == new and row.native == native)
    if available.soffice() is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        return libreoffice.convert(converter.write(body, native, media_type).body, new, old, Job("", Path(folder)))


if __name__ == "__main__":
    assert subprocess  # one of the calls that are timed
    main()
