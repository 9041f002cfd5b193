"""Writes a presentation as PDF with a page for each slide, for which slides.typ has the layout, or as plain text."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ..engines.typst import chart_data, render
from ..job import Job, TooLarge
from . import model

_TEMPLATE = "presentation/slides.typ"
_SIZE = 18.0
_FONTS = ["Noto Sans", "Liberation Sans", "Arial", "DejaVu Sans"]  # common, or as wide as common ones


def write_pdf(presentation: model.Presentation, job: Job) -> bytes:
    """Return a PDF of all slides, including hidden slides. Raises TooLarge if tables have too many cells for a PDF."""
    slides = presentation.slides or (model.Slide(),)
    tables = (shape for slide in slides for shape in slide.shapes if isinstance(shape, model.SlideTable))
    cells = sum(len(row) for table in tables for row in table.rows)
    if cells > job.limits.pdf_cells:
        raise TooLarge(f"the tables have {cells} cells; the limit for a PDF is {job.limits.pdf_cells}.")
    data = {
        "fonts": _FONTS, "title": presentation.title or job.name,
        "width": _points(presentation.width), "height": _points(presentation.height),
        "slides": [
            {"background": slide.background or "ffffff", "shapes": list(_shapes(slide, presentation, job))}
            for slide in slides
        ],
    }  # fmt: skip
    return render(job, _TEMPLATE, data, presentation.pictures)


def _shapes(slide: model.Slide, presentation: model.Presentation, job: Job) -> Iterator[dict[str, Any]]:
    for shape in (*slide.behind, *slide.shapes):
        with job.leaving_out("A shape"):
            if _is_visible(shape, presentation):
                yield _shape(shape)


def _points(length: float) -> float:
    return round(length / model.POINT, 2)


def _is_visible(shape: model.Shape, presentation: model.Presentation) -> bool:
    """Return whether a shape has paragraphs or overlaps the page. Pictures also need data, and tables need cells."""
    box, page = shape.box, presentation
    inside = box.x < page.width and box.y < page.height and box.x + box.width > 0 and box.y + box.height > 0
    if isinstance(shape, model.SlidePicture):
        return inside and shape.name in presentation.pictures and box.width > 0 and box.height > 0
    if isinstance(shape, model.SlideTable):
        return inside and bool(shape.rows and shape.rows[0])
    return inside or bool(shape.paragraphs)


def _shape(shape: model.Shape) -> dict[str, Any]:
    box: dict[str, Any] = {name: _points(getattr(shape.box, name)) for name in ("x", "y", "width", "height")}
    box |= {"turn": shape.box.turn, "flip": (shape.box.flip_x, shape.box.flip_y)}
    match shape:
        case model.Text():
            return box | {
                "kind": "text", "fits": shape.shrinks, "anchor": shape.anchor, "wrap": shape.wrap,
                "outline": shape.outline, "fill": shape.fill, "line": shape.line, "dash": shape.stroke.dash,
                "thickness": _points(shape.stroke.width), "arrows": (shape.stroke.start, shape.stroke.end),
                "paths": [
                    {"commands": _commands(path.data, shape.box), "fill": path.fill, "stroke": path.stroke}
                    for path in shape.paths
                ],
                "insets": [_points(inset) for inset in shape.insets], "direction": shape.direction,
                "paragraphs": _paragraphs(shape.paragraphs),
            }  # fmt: skip
        case model.SlidePicture():
            return box | {"kind": "picture", "name": shape.name, "alt": shape.alt, "crop": shape.crop}
        case model.SlideTable():
            texts = [[cell.text if cell else "" for cell in row] for row in shape.rows]
            if shape.chart and (chart := chart_data(shape.chart, texts, " · ".join(texts[0][0].splitlines()))):
                return box | {"kind": "chart", "chart": chart}
            columns = len(shape.rows[0])
            widths = [_points(width) for width in shape.widths] or [_points(shape.box.width) / columns] * columns
            heights = [_points(height) for height in shape.heights] or [0.0] * len(shape.rows)
            cells = [_cell(cell, shape, x, y) for y, row in enumerate(shape.rows) for x, cell in enumerate(row) if cell]
            return box | {"kind": "table", "columns": widths, "heights": heights, "cells": cells}


def _commands(data: str, box: model.Box) -> list[Any]:
    """Return path data as lists of a letter and points."""
    commands: list[Any] = []
    tokens = iter(data.split())
    for token in tokens:
        if token.isalpha():
            commands.append([token])
        else:
            x, y = int(token) * box.width / model.PATH_SIDE, int(next(tokens)) * box.height / model.PATH_SIDE
            commands[-1].append((_points(x), _points(y)))
    return commands


def _paragraphs(paragraphs: tuple[model.Paragraph, ...]) -> list[dict[str, Any]]:
    return [
        {
            "level": paragraph.level,
            "marker": model.label(paragraph, number),
            "align": paragraph.align,
            "rtl": paragraph.rtl,
            "spacing": (paragraph.line_spacing, paragraph.before, paragraph.after),
            "indent": None if paragraph.indent is None else (_points(paragraph.indent), _points(paragraph.first)),
            "size": max((run.size or _SIZE for run in paragraph.runs), default=_SIZE),
            "runs": [_run(run) for run in paragraph.runs],
        }
        for paragraph, number in model.with_numbers(paragraphs)
    ]


def _run(run: model.TextRun) -> dict[str, Any]:
    link = run.link if run.link and not run.link.startswith("#") else None
    looks = {"underline": run.underline or bool(link), "size": run.size or _SIZE, "color": run.color or "000000"}
    return asdict(run) | looks | {"link": link}


def _cell(cell: model.TableCell, table: model.SlideTable, x: int, y: int) -> dict[str, Any]:
    return {
        "x": x, "y": y, "fill": cell.fill, "header": table.header and y == 0,
        "anchor": cell.anchor, "borders": cell.borders,
        "columns": min(cell.columns, len(table.rows[0]) - x), "rows": min(cell.rows, len(table.rows) - y),
        "paragraphs": _paragraphs(cell.paragraphs),
    }  # fmt: skip


_ORDER = {"title": 0, "footer": 2}


def write_text(presentation: model.Presentation, job: Job) -> bytes:
    """Return the text of all slides in UTF-8 with a byte order mark, CRLF line ends, and empty lines between slides."""
    text = "\r\n\r\n\r\n".join("\r\n".join(_slide_lines(slide, job)) for slide in presentation.slides)
    return BOM_UTF8 + (text + "\r\n" if text else "").encode()


def _slide_lines(slide: model.Slide, job: Job) -> Iterator[str]:
    shapes = sorted(slide.shapes, key=lambda shape: _ORDER.get(getattr(shape, "role", ""), 1))
    for shape in (*shapes, *(it for it in slide.behind if not isinstance(it, model.SlidePicture))):
        with job.leaving_out("A shape"):
            yield from _shape_lines(shape)
    if slide.notes:
        yield from ("", "Notes:", *slide.notes.splitlines())


def _shape_lines(shape: model.Shape) -> Iterator[str]:
    match shape:
        case model.Text():
            for paragraph, number in model.with_numbers(shape.paragraphs):
                marker = {"bullet": "* ", "number": f"{model.label(paragraph, number)} ", "": ""}[paragraph.marker]
                first, *others = paragraph.text.split("\n")
                indent = "  " * paragraph.level
                yield from (indent + marker + first, *(indent + " " * len(marker) + line for line in others))
        case model.SlideTable():
            for row in shape.rows:
                yield "\t".join(" ".join(cell.text.split()) if cell else "" for cell in row)
        case model.SlidePicture() if shape.alt:
            yield f"[{' '.join(shape.alt.split())}]"
