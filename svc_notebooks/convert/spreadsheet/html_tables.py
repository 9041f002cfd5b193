"""Writes a web page for each sheet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from importlib import resources

from ..input.native_package import zip_timestamp, zipped
from ..job import Job
from .formulas import column_letters
from .model import Sheet, Workbook
from .number_format import format_cell
from .sheet_layout import LayoutCell, SheetLayout
from .values import clean

_UNSAFE = re.compile(r"[^\w .()+-]|^\.+")
_MAX_EMPTY_CELLS = 500_000  # of a sheet in which each has its own `<td>` element


def write(workbook: Workbook, job: Job) -> bytes:
    """Return a zip file with a web page for each sheet. File names that differ only in case get a number."""
    files = _files(workbook.sheets)
    named = zip(workbook.sheets, files, strict=True)
    pages = {file: _page(sheet, _links(workbook, files, sheet), job) for sheet, file in named}
    css = (resources.files(__package__) / "sheet.css").read_bytes()
    return zipped({**pages, "resources/sheet.css": css}, zip_timestamp(job.now))


def _files(sheets: tuple[Sheet, ...]) -> list[str]:
    names: list[str] = []
    for sheet in sheets:
        plain = _UNSAFE.sub("_", clean(sheet.name)).strip(" .") or "Sheet"
        used = {name.casefold() for name in names}
        number = 1
        name = f"{plain}.html"
        while name.casefold() in used:
            number += 1
            name = f"{plain}_{number}.html"
        names.append(name)
    return names


def _links(workbook: Workbook, files: list[str], current: Sheet) -> str:
    if len(files) < 2:
        return ""
    links = (
        f"<b>{escape(sheet.name)}</b>" if sheet is current else f'<a href="{escape(file)}">{escape(sheet.name)}</a>'
        for sheet, file in zip(workbook.sheets, files, strict=True)
        if not sheet.hidden or sheet is current
    )
    return f"<nav>{' '.join(links)}</nav>\n"


def _page(sheet: Sheet, links: str, job: Job) -> str:
    title = escape(clean(sheet.name))
    return (
        f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<link rel="stylesheet" href="resources/sheet.css">\n</head>\n<body>\n{clean(links)}'
        f"<table>\n{''.join(_rows(sheet, job))}</table>\n</body>\n</html>\n"
    )


def _rows(sheet: Sheet, job: Job) -> Iterator[str]:
    layout = SheetLayout.of(sheet)
    dense = len(layout.rows) * len(layout.columns) <= _MAX_EMPTY_CELLS + sum(map(len, sheet.rows.values()))
    yield f"<tr><th></th>{''.join(_heading(sheet, column) for column in layout.columns)}</tr>\n"
    for row, pieces in layout.layout_rows():
        yield f"<tr><th>{row + 1}</th>{''.join(_piece(piece, dense, job) for piece in pieces)}</tr>\n"


def _heading(sheet: Sheet, column: int) -> str:
    width = f' style="min-width: {sheet.widths[column]:.4g}ch"' if column in sheet.widths else ""
    return f"<th{width}>{column_letters(column)}</th>"


def _piece(piece: LayoutCell, dense: bool, job: Job) -> str:
    if piece.cell is None:
        return "<td></td>" * piece.colspan if dense else f'<td colspan="{piece.colspan}"></td>'
    spans = f' colspan="{piece.colspan}"' if piece.colspan > 1 else ""
    spans += f' rowspan="{piece.rowspan}"' if piece.rowspan > 1 else ""
    cell = piece.cell
    classes = " ".join(filter(None, (cell.alignment[:1], "b" if cell.style.bold else "")))
    attributes = spans + (f' class="{classes}"' if classes else "")
    text = escape(clean(format_cell(cell, job)))
    if cell.link and not cell.link.startswith("#"):
        text = f'<a href="{escape(clean(cell.link))}" rel="noopener noreferrer">{text}</a>'
    return f"<td{attributes}>{text}</td>"
