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
        counts[level] = counts.get(level, 0) + 1 if paragraph.marker == "number" else 0
        yield paragraph, counts[level]
