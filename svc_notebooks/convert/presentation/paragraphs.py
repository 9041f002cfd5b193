"""Merges runs of the same format in a paragraph, and numbers the paragraphs of lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from .model import Paragraph, TextRun


def merge_runs(runs: Iterable[TextRun]) -> Iterator[TextRun]:
    """Merge adjacent runs of the same format, and drop empty runs. Programs split runs at each spelling mistake.

    >>> [run.text for run in merge_runs([TextRun("a"), TextRun("b"), TextRun(""), TextRun("c", bold=True)])]
    ['ab', 'c']
    """
    last: TextRun | None = None
    for run in runs:
        if last and replace(last, text=run.text) == run:
            last = replace(last, text=last.text + run.text)
            continue
        if last and last.text:
            yield last
        last = run
    if last and last.text:
        yield last


def with_numbers(paragraphs: Iterable[Paragraph]) -> Iterator[tuple[Paragraph, int]]:
    """Yield each paragraph with its number in the list, or with 0 if the paragraph is not numbered.

    >>> one, two = Paragraph(marker="number"), Paragraph(marker="number", level=1)
    >>> [number for _, number in with_numbers([one, two, two, one, Paragraph(), one])]
    [1, 1, 2, 2, 0, 1]
    """
    counts: dict[int, int] = {}
    for paragraph in paragraphs:
        level = paragraph.level
        counts = {other: count for other, count in counts.items() if other <= level}
        last = counts.get(level) or paragraph.start - 1
        counts[level] = last + 1 if paragraph.marker == "number" else 0
        yield paragraph, counts[level]


def label(paragraph: Paragraph, number: int) -> str:
    """Return the bullet or the formatted number of a paragraph, or "" if the paragraph has neither.

    >>> [label(Paragraph(marker="number", bullet=first), 4) for first in ("", "(a)", "I.")]
    ['4.', '(d)', 'IV.']
    """
    if paragraph.marker != "number":
        return (paragraph.bullet or "•") if paragraph.marker else ""
    first = paragraph.bullet or "1."
    digit = next((character for character in first if character in "1aAiI"), "")
    return first.replace(digit, _format_number(number, digit), 1) if digit else first


def _format_number(number: int, digit: str) -> str:
    if digit == "1":
        return str(number)
    if digit in "aA":
        letters = chr(ord("a") + (number - 1) % 26) * min(20, 1 + (number - 1) // 26)
    else:
        letters = "".join(_ROMAN[place][int(figure)] for place, figure in enumerate(f"{number % 1000:03d}"))
    return letters if digit.islower() else letters.upper()


_ROMAN = tuple(("", a, a + a, a * 3, a + b, b, b + a, b + a * 2, b + a * 3, a + c) for a, b, c in ("cdm", "xlc", "ivx"))
