"""What the page of a file shows of it: what it is, and its content where a page can hold it."""

from __future__ import annotations

from base64 import b64encode
from html import escape

from ..convert.job import ConversionError
from ..core.clock import from_millis
from ..core.multipart import MediaType
from ..core.operations import CONTENT
from ..core.wire import Query
from . import drafts
from .access import Caller
from .conversion import rendered
from .house import House
from .pages import described
from .resource import view_path
from .roles import may_take, role
from .store.files import FileRow

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp")
_TEXTS = ("application/json", "application/xml", "application/javascript")
_MOST_CHILDREN = 500
_MOST_TEXT = 64 * 1024
_MOST_PICTURE = 4 * 1024 * 1024


def described_file(house: House, user: str, row: FileRow) -> str:
    """Name, type, owner, size, and the way to the bytes, if they may be taken."""
    rows = [("Type", row.mime_type), ("Owner", row.owner)]
    if row.size is not None:
        rows.append(("Size", f"{row.size:,} bytes"))
    rows.append(("Last changed", f"{from_millis(row.modified):%Y-%m-%d %H:%M} UTC"))
    return f"<h1>{escape(row.name)}</h1>{described(rows)}{_taking(house, user, row)}"


def _taking(house: House, user: str, row: FileRow) -> str:
    held = role(house, user, row)
    if held is None or not may_take(row, held):
        return '<p class="warning">Who can edit this file has barred its readers from downloading and copying it.</p>'
    if row.size is None:
        return ""
    if row.abusive and user != row.owner:
        return '<p class="warning">This file was found to be malware or spam. Only its owner can download it.</p>'
    link = "/uc?" + str(Query([("id", row.id), ("export", "download")]))
    return f'<p><a class="button" href="{escape(link)}">Download</a></p>'


def listing(house: House, caller: Caller, row: FileRow) -> str:
    """What is in a folder, or what a shortcut leads to, as links; "" for other files."""
    found = house.store.files.children(row.id, _MOST_CHILDREN) if row.mime_type == house.folder_type else []
    target = house.store.files.get(row.target) if row.target else None
    seen = [one for one in (*found, *([target] if target else [])) if drafts.sees(house, caller, one)]
    items = (f'<li><a href="{escape(view_path(house, one))}">{escape(one.name)}</a></li>' for one in seen)
    return f"<ul>{''.join(items)}</ul>" if seen else ""


def preview(house: House, caller: Caller, row: FileRow) -> str:
    """The content as a part of a page, "" where there is nothing that one could show, or the scopes do not reach."""
    reaching = caller.asking(CONTENT)
    if row.abusive or reaching.scopes.isdisjoint(CONTENT) or not drafts.sees(house, reaching, row):
        return ""
    if row.size is None:
        return _document(house, row, caller.user) if drafts.is_document(house, row.mime_type) else ""
    kind = MediaType.parse(row.mime_type).essence
    if kind in _PICTURES and row.size <= _MOST_PICTURE:
        return f'<p><img alt="" src="data:{kind};base64,{b64encode(_bytes(house, row, row.size)).decode()}"></p>'
    if kind.startswith("text/") or kind in _TEXTS:
        text = _bytes(house, row, min(row.size, _MOST_TEXT)).decode("utf-8", "replace")
        return f"<pre>{escape(text)}</pre>" + ("<p>and so on</p>" if row.size > _MOST_TEXT else "")
    return ""


def _bytes(house: House, row: FileRow, size: int) -> bytes:
    return b"" if row.content is None else b"".join(house.content.read(row.content, 0, size))


def _document(house: House, row: FileRow, user: str) -> str:
    """A native document as the page that it exports to, in a frame where nothing runs."""
    try:
        found = rendered(house, row, "text/html", user)
    except ConversionError:
        return ""
    return f'<iframe sandbox title="{escape(row.name)}" srcdoc="{escape(found.decode("utf-8", "replace"))}"></iframe>'
