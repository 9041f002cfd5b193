"""Renders PDF and images with typst templates, and chooses the fonts.

A template gets the text of users as data and never as code. The fonts inside typst contain Latin, Greek, Cyrillic and
Hebrew, so pages in these scripts look the same everywhere.
"""

from __future__ import annotations

import json
import re
import struct
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from math import ceil, floor, isfinite, log10
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..job import ConversionError, Job
from .available import TYPST

_LAST_CODE_POINT = 0x10FFFF
_MAX_GROUPS = 100_000  # of character ranges that are read from one face; the largest fonts have 20,000


def character_ranges(path: str, index: int) -> list[tuple[int, int]]:
    """Return pairs (first, last code point) from the table `cmap` of a face, or [] if the table cannot be read.

    The format 12 of the table comes before the format 4. `index` is the place of the face in a font collection.
    """

    def read(format: str, offset: int) -> tuple[Any, ...]:
        file.seek(offset)
        return struct.unpack(format, file.read(struct.calcsize(format)))

    try:
        with Path(path).open("rb") as file:
            start = read(">I", 12 + 4 * index)[0] if read(">4s", 0) == (b"ttcf",) else 0
            (count,) = read(">H", start + 4)
            records = (read(">4s4xI", start + 12 + 16 * number) for number in range(count))
            cmap: int = dict(records)[b"cmap"]
            (count,) = read(">H", cmap + 2)
            places = {cmap + read(">I", cmap + 8 + 8 * number)[0] for number in range(count)}
            subtables = {read(">H", place)[0]: place for place in sorted(places)}
            if 12 in subtables:
                (count,) = read(">I", subtables[12] + 12)
                values = read(f">{3 * min(count, _MAX_GROUPS)}I", subtables[12] + 16)
                groups = zip(values[::3], values[1::3], strict=True)
                return [(first, min(last, _LAST_CODE_POINT)) for first, last in groups]
            (size,) = read(">H", subtables[4] + 6)
            ends, firsts = (read(f">{size // 2}H", subtables[4] + place) for place in (14, 16 + size))
            return [(first, last) for first, last in zip(firsts, ends, strict=True) if first != 0xFFFF]
    except (OSError, LookupError, struct.error):
        return []


_SYSTEM_FOLDERS = (
    "/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts",
    "/System/Library/Fonts", "/Library/Fonts", "~/Library/Fonts", "C:/Windows/Fonts",
)  # fmt: skip
_TYPST_SCRIPTS = frozenset({"Latin", "Greek", "Cyrillic", "Hebrew"})
TYPST_CHARACTERS = re.compile(  # of the fonts inside typst, without scripts whose ligatures are missing
    "[\u0000-\u04ff\u0591-\u05f4\u1ab0-\u1abd\u1d00-\u2040\u2044-\u2064\u2070-\u20c0\u20d0-\u211e\u2122\u2126-\u2151"
    "\u2153-\u2184\u2190-\u23ff\u2460-\u262f\u2638-\u268b\u2690-\u269c\u26aa-\u26b2\u2706-\u2709\u270c-\u2727\u2729-\u274b"
    "\u2761-\u277f\u2794\u2798-\u27af\u27b1-\u2b95\u2b97-\u2bff\u2c60-\u2cff\ua708-\ua716\ua71b-\ua727\ufb00-\ufb4f"
    "\ufe00-\ufe0f\ufe20-\ufe2f\ufffd\U0001d400-\U0001d7ff]"
)
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"})
_MAX_SHOWN_LETTERS = 8


class Script(NamedTuple):
    """A writing system with a character pattern, a letter that each font for the script has, and a Debian package."""

    name: str
    letters: re.Pattern[str]
    sample: str
    package: str


SCRIPTS = tuple(  # that are searched for in a text
    Script(name, re.compile(f"[{letters}]"), sample, package)
    for name, letters, sample, package in json.loads((files(__package__) / "scripts.json").read_text("utf-8"))
)

# The first of these scripts that a text contains determines the regional style of the text's Han characters.
_HAN_STYLES = (("Hangul", ("KR", "Korean")), ("Kana", ("JP", "Japanese")), ("Han", ("SC", "Simplified")))


@cache
def fonts() -> Any:
    """Return typst's collection of its own fonts and the system fonts, cached since the search is slow."""
    import typst

    folders = [folder for path in _SYSTEM_FOLDERS if (folder := Path(path).expanduser()).is_dir()]
    return typst.Fonts(include_system_fonts=False, font_paths=folders)


def _font_notes(text: str) -> Iterator[str]:
    """Yield a note for each script of the characters in a text that no installed font contains."""
    coverage = _system_coverage() if (uncovered := _letters_beyond_typst(text)) else b""
    missing_letters: dict[tuple[str, str | None], str] = {}
    for letter in uncovered:
        if not coverage[ord(letter)]:
            key = _script_of(letter)
            missing_letters[key] = missing_letters.get(key, "") + letter
    for (name, package), letters in missing_letters.items():
        shown = letters[:_MAX_SHOWN_LETTERS] + "..." * (len(letters) > _MAX_SHOWN_LETTERS)
        script, advice = (f"{name} ({shown})", f" Run apt-get install {package}.") if package else (name, "")
        yield f"No font for {script} is installed; the characters are shown as boxes.{advice}"


def _letters_beyond_typst(text: str) -> list[str]:
    if text.isascii():
        return []
    uncovered = TYPST_CHARACTERS.sub("", "".join(sorted(set(text))))
    return [letter for letter in uncovered if unicodedata.category(letter) not in _INVISIBLE_CATEGORIES]


def _script_of(letter: str) -> tuple[str, str | None]:
    """Return the name of a letter's script, and the Debian package with a font, or None for unnamed letters."""
    known = next((script for script in SCRIPTS if script.letters.match(letter)), None)
    if known:
        return known.name, known.package
    name = unicodedata.name(letter, "").partition(" ")[0].capitalize()
    return (name, "fonts-noto-core") if name else ("signs of private use", None)


def fallback_families(text: str) -> list[str]:
    """Return an installed font family for each script of the letters that typst's own fonts do not contain."""
    letters = "".join(_letters_beyond_typst(text))
    families_by_script = _families_by_script() if letters else {}
    used = [script.name for script in SCRIPTS if script.name in families_by_script and script.letters.search(letters)]
    style = next((marks for name, marks in _HAN_STYLES if name in used), ())
    return list(dict.fromkeys(_preferred_family(name, families_by_script[name], style) for name in used))


_SUBSTITUTES = {  # the fonts with the same widths of letters
    "Arial": "Liberation Sans", "Calibri": "Carlito", "Cambria": "Caladea", "Courier New": "Liberation Mono",
    "Helvetica": "Liberation Sans", "Times": "Liberation Serif", "Times New Roman": "Liberation Serif",
}  # fmt: skip


def installed_font(font: str | None, job: Job) -> list[str]:
    """Return the family of a font, or of the font with the same widths, if it is installed, else []. Adds a note."""
    families = {face.family for face in fonts().fonts() if face.path} if font else set()
    family = font if font in families else _SUBSTITUTES.get(font or "")
    if not family or family not in families:
        return []
    if family != font:
        job.note(f"The pages have the font {family}, whose letters have the widths of {font}, which is not installed.")
    return [family]


def script_report() -> list[tuple[str, str | None]]:
    """Return pairs of a script's name and an installed font family, or None if no font supports the script."""
    families_by_script = _families_by_script() if TYPST.is_available() else {}
    families = ((script.name, families_by_script.get(script.name)) for script in SCRIPTS)
    return [(name, _preferred_family(name, names, ("SC",)) if names else None) for name, names in families]


def _preferred_family(script: str, names: tuple[str, ...], style: tuple[str, ...]) -> str:
    """Return the best font family for a script. Families with the script in their name come first."""

    def rank(name: str) -> tuple[bool, bool, bool, bool, int, str]:
        has_style = any(mark in name.split() for mark in style)
        return script not in name, not has_style, "Noto Sans" not in name, "Mono" in name, len(name), name

    return min(names, key=rank)


@cache
def _families_by_script() -> dict[str, tuple[str, ...]]:
    families: dict[str, tuple[str, ...]] = dict.fromkeys(_TYPST_SCRIPTS, ("Libertinus Serif",))
    for script in SCRIPTS:
        code_point = ord(script.sample)
        for family, ranges in _ranges_by_family().items():
            if any(first <= code_point <= last for first, last in ranges):
                families[script.name] = (*families.get(script.name, ()), family)
    return families


@cache
def _system_coverage() -> bytes:
    """Return one byte for each code point, which is 1 if a system font has the character, else 0."""
    marks = bytearray(0x110000)
    for ranges in _ranges_by_family().values():
        for first, last in ranges:
            marks[first : last + 1] = b"\1" * (last - first + 1)
    return bytes(marks)


@cache
def _ranges_by_family() -> dict[str, set[tuple[int, int]]]:
    """Return the character ranges in the upright faces of each system font family."""
    ranges: dict[str, set[tuple[int, int]]] = {}
    for face in fonts().fonts():
        if face.path and face.style == "normal":
            ranges.setdefault(face.family, set()).update(character_ranges(face.path, face.index))
    return ranges


CHART_KINDS = ("bar", "column", "line", "pie", "scatter")  # those that are drawn; bars are horizontal
_MAX_CHART_POINTS = 2_000


def chart_data(kind: str, rows: Sequence[Sequence[str]], title: str = "") -> dict[str, Any] | None:
    """Return the data of a chart for chart.typ, or None if it is not one of `CHART_KINDS` or has no numbers.

    The first row has the names of the series, the first column has the categories, or the x values of a scatter chart.
    """
    rows = [row for row in rows if len(row) > 1]
    values = [[_chart_number(text) for text in column] for column in zip(*(row[1:] for row in rows[1:]), strict=False)]
    numbers = [value for column in values for value in column if value is not None]
    is_drawn = kind in CHART_KINDS and 0 < len(numbers) <= _MAX_CHART_POINTS
    if not is_drawn or not any(numbers) or (kind == "pie" and not any(values[0])):
        return None
    categories = ["\u00a0".join(row[0].split()) for row in rows[1:]]  # which stay on one line
    places = [place for text in categories if (place := _chart_number(text)) is not None]
    if len(places) < len(categories) or min(places) == max(places):
        places = [float(number) for number in range(1, len(categories) + 1)]
    low, span = min(places), (max(places) - min(places)) or 1.0
    ticks = _ticks(min(0.0, *numbers), max(0.0, *numbers))
    return {
        "kind": kind, "title": title, "names": list(rows[0][1:]), "categories": categories, "values": values,
        "places": [(place - low) / span for place in places], "first": f"{low:g}", "last": f"{max(places):g}",
        "ticks": ticks, "labels": [f"{tick:,.10g}" for tick in ticks],
    }  # fmt: skip


def _chart_number(text: str) -> float | None:
    plain = "".join(text.split()).removesuffix("%")
    with suppress(ValueError):
        is_decimal_comma = plain.count(",") == 1 and "." not in plain
        number = float(plain.replace(",", "." if is_decimal_comma else ""))
        return number if isfinite(number) and abs(number) < 1e15 else None
    return None


def _ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers from at most `low` to at least `high`.

    >>> _ticks(0, 87), _ticks(-1.5, 2)
    ([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [-2.0, -1.0, 0.0, 1.0, 2.0])
    """
    rough = (high - low) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(part * power for part in (1, 2, 5, 10) if part * power >= rough * 0.85)
    return [round(number * step, 12) for number in range(floor(low / step), ceil(high / step) + 1)]


_CONVERT = __package__.rpartition(".")[0]

_LARGE_INPUT = 100_000  # the number of bytes of data and resources above which typst's cache is cleared after rendering
_CACHE_GENERATIONS = 10  # the number of compilations after which typst removes an unused result from its cache


def render(
    job: Job,
    template: str,
    data: Mapping[str, Any],
    resources: Mapping[str, bytes],
    format: Literal["pdf", "png", "svg"] = "pdf",
    *,
    ppi: float = 144.0,
) -> bytes:
    """Render a template to a PDF, PNG or SVG file, and return the file's bytes.

    A PNG or SVG has only the first page. `template` is a path in the package `convert`. The template reads `data.json`
    and the resources by name, and cannot read files outside the job's folder or download packages. `data.json` has the
    values of `data`, and the key `fallback` with font families for scripts that typst's own fonts do not contain.
    Raises ConversionError if typst cannot compile the template with this data.
    """
    import typst

    text = json.dumps(data, ensure_ascii=False)
    for note in _font_notes(text):
        job.note(note)
    folder = job.folder
    for name, content in resources.items():
        (folder / name).write_bytes(content)
    data_json = json.dumps({**data, "fallback": fallback_families(text)}, ensure_ascii=False)
    (folder / "data.json").write_text(data_json, encoding="utf-8", errors="replace")
    if '"chart' in text:
        (folder / "chart.typ").write_bytes((files(_CONVERT) / "engines" / "chart.typ").read_bytes())
    main = folder / "main.typ"
    main.write_text((files(_CONVERT) / template).read_text(encoding="utf-8"), encoding="utf-8")
    empty_folder = folder / "packages"
    compiler = typst.Compiler(
        main, root=folder, font_paths=fonts(), package_path=empty_folder, package_cache_path=empty_folder
    )
    try:
        output = compiler.compile(format=format, ppi=ppi, timestamp=int(job.now.timestamp()))
    except typst.TypstError as error:
        raise ConversionError(f"the page could not be rendered: {str(error)[:200]}") from error
    finally:
        if len(data_json) + sum(map(len, resources.values())) > _LARGE_INPUT:
            for _ in range(_CACHE_GENERATIONS + 1):
                compiles("")
    page = output[0] if isinstance(output, list) else output
    return page or b""


def compiles(code: str) -> bool:
    """Return whether typst can compile a piece of code. Pass only code that pandoc wrote, and never a user's code."""
    import typst

    try:
        typst.Compiler(code.encode(), font_paths=fonts()).compile(format="svg")
    except typst.TypstError:
        return False
    return True
