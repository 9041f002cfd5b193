"""Copies: a file of the caller's own, with the content that another file has (files.copy).

Contents never change, so a copy has the very content of its original; only one that becomes a native document on the
way has a content made for it.
"""

from __future__ import annotations

import json
from contextlib import closing

from ...core.errors.catalogue import ApiError, refuse
from ...core.files.fields import check_file
from ...core.files.permissions import Role
from ...core.http.messages import JSONObject, Response
from ..context.responses import as_json
from ..context.service_context import Call, House
from ..storage.content import END, Outflow
from ..store.contents import Piece
from ..store.files import FileRow
from . import rows as drafts
from .access_control import check_taking
from .conversion import Wish, convert, wish
from .operations import check_answer, read_json, shown
from .simple_upload import file_content, made_content

_TAKEN_ALONG = ("contentHints", "description", "folderColorRgb", "originalFilename")


def copy(house: House, call: Call) -> Response:
    """A copy of a file that the caller may read and take along."""
    check_answer(house, call)
    given = check_file(read_json(call.body, house.policy.max_metadata_size), creating=True, policy=house.policy)
    _check_content(house, call)
    with house.store.transaction():
        source = _source(house, call)
        metadata = _metadata(house, call, source, given)
        wished = _wish(house, call, source, metadata)
        if wished is None:
            return as_json(call.query, shown(house, call, _same_content(house, call, source, metadata)))
        held = _hold(house, source)
    return as_json(call.query, shown(house, call, _converted(house, call, source, metadata, wished, *held)))


def _check_content(house: House, call: Call) -> None:
    """Compare the original with what was written. Raises DamagedContent: a copy would be as damaged."""
    with house.store.transaction():
        row = _source(house, call)
        if row.content is None:
            return
        held = house.content.read(row.content, 0, END)
    with closing(held):
        held.check()


def _source(house: House, call: Call) -> FileRow:
    """The original. Raises ApiError (403, 404)."""
    row = drafts.seen_file(house, call.caller, call.file_id)
    if row.mime_type == house.folder_type:
        raise refuse("cannotCopy", fileId=row.id)
    check_taking(house, call.caller.user, row, "cannotCopy")
    if row.abusive and row.owner != call.caller.user:
        raise refuse("abusive")
    return row


def _metadata(house: House, call: Call, source: FileRow, given: JSONObject) -> JSONObject:
    """What the copy is described by: what the caller says, else what the original has."""
    extra, client = json.loads(source.extra), call.caller.client
    found: JSONObject = {name: extra[name] for name in _TAKEN_ALONG if name in extra}
    found |= {"name": f"Copy of {source.name}", "mimeType": source.mime_type, "parents": [_folder(house, call, source)]}
    for name, whose in (("properties", ""), ("appProperties", client)):
        if kept := house.store.files.properties(source.id, whose):
            found[name] = dict(kept)
    if source.target:
        found["shortcutDetails"] = {"targetId": source.target}
    return found | {name: value for name, value in given.items() if value is not None or name not in found}


def _folder(house: House, call: Call, source: FileRow) -> str:
    """The original's folder, where the caller may write there; else the root of what is theirs."""
    try:
        return drafts.file_for(house, call.caller, source.parent or "", Role.WRITER).id
    except ApiError:
        return house.root(call.caller.user)


def _wish(house: House, call: Call, source: FileRow, metadata: JSONObject) -> Wish | None:
    """Whether the copy becomes a native document on the way. Raises ApiError for what cannot be."""
    drafts.check_new(house, call.caller, metadata)
    wanted = metadata["mimeType"]
    if house.names.is_native(source.mime_type):
        if wanted != source.mime_type:
            raise refuse("noConversion", source=source.mime_type, target=wanted)
        return None
    return wish(house, call, "", metadata, source.mime_type)


def _same_content(house: House, call: Call, source: FileRow, metadata: JSONObject) -> FileRow:
    row = drafts.new_row(house, call.caller, metadata, source.mime_type)
    row = row._replace(content=source.content, size=source.size, abusive=source.abusive)
    drafts.add(house, call.caller, row, metadata)
    return row


def _hold(house: House, source: FileRow) -> tuple[Outflow, list[Piece]]:
    """The parts of a content, and what keeps them there until it is closed."""
    assert source.content is not None
    assert source.size is not None
    pieces = house.store.contents.pieces(source.content, 0, source.size)
    return house.content.read(source.content, 0, source.size), pieces


def _converted(
    house: House, call: Call, source: FileRow, metadata: JSONObject, wished: Wish, held: Outflow, pieces: list[Piece]
) -> FileRow:
    size = source.size or 0
    with closing(held), convert(house, call, wished, str(metadata["name"]), size, pieces) as made:
        assert made
        with house.store.transaction():
            row = file_content(house, call, "", metadata, made_content(house, made)).row
            house.store.files.save(row._replace(abusive=source.abusive))
    return row
