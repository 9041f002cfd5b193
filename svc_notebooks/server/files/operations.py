"""Handles the requests on file metadata, file lists, file ids and the trash (A4, U-01)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...core import field_mask
from ...core.api.operations import Operation
from ...core.api.parameters import COMMON
from ...core.decision_ids import ROOT
from ...core.errors.catalogue import refuse
from ...core.field_mask import Mask, Shape
from ...core.files.fields import FILE_SHAPE, IDS_SHAPE, LIST_SHAPE, check_file
from ...core.files.permissions import Role
from ...core.files.query import compared_values, parse_query
from ...core.files.rights import RESTRICTIONS, is_allowed, may_change_restrictions
from ...core.files.sort_order import parse_order
from ...core.http.messages import JSON, Body, JSONObject, Query, Response
from ...core.http.mime import detect
from ...core.resources.files import File, FileList, GeneratedIds
from ..blobs.blob_store import BLOCK
from ..context.conditions import with_etag
from ..context.external_origin import external_base_url
from ..context.page_tokens import decode_page_token, encode_page_token
from ..context.responses import empty_response, json_response
from ..context.service_context import RequestContext, ServiceContext
from ..tables.files import FilePage, FileRow
from . import change_log
from .resource import DEFAULT_MASK, ViewContext, file_resource, file_resources
from .roles import check_sharing, effective_role, restrictions_on
from .rows import add_file, change_row, check_new, file_for, is_in_trash_with, new_row, save_properties, writable_folder


class NewContent(NamedTuple):
    """The number of a stored content, its size in bytes (None for a native document) and its media type."""

    number: int
    size: int | None
    media_type: str


_MAX_NESTING = 100
_MAX_DIGITS = 4000
_SEARCHED_SPACES = ("storage", "drive")
_SPACES = (*_SEARCHED_SPACES, "appDataFolder")


def read_json(body: Body, limit: int) -> JSONObject:
    """Return the JSON object in a body, or {} if empty. Raises ApiError if invalid or longer than `limit` bytes."""
    pieces, size = [], 0
    while block := body.read(BLOCK):
        pieces.append(block)
        size += len(block)
        if size > limit:
            raise refuse("metadataTooLarge", limit=limit)
    return parse_json(b"".join(pieces))


def parse_json(text: bytes) -> JSONObject:
    """Return the JSON object in a text, or {} if empty. Raises ApiError (400 parseError) for any other text."""
    if not text.strip():
        return {}
    too_deep = f"the JSON is nested more than {_MAX_NESTING} levels deep."
    try:
        if b"\0" in text:
            raise UnicodeError
        value: JSON = json.loads(text.decode("utf-8-sig"), parse_constant=_reject_constant, parse_int=_integer)
    except UnicodeError:  # a zero is a byte of another encoding, such as UTF-16
        raise refuse("parseError", message="expected text in UTF-8, or Content-Encoding if it is compressed.") from None
    except RecursionError:
        raise refuse("parseError", message=too_deep) from None
    except ValueError as error:
        raise refuse("parseError", message=str(error)[:200]) from None
    if not isinstance(value, dict):
        raise refuse("parseError", message="expected an object.")
    if text.count(b"{") + text.count(b"[") > _MAX_NESTING and _is_deeper(value, _MAX_NESTING):
        raise refuse("parseError", message=too_deep)  # deep JSON can be parsed, but not always encoded
    return value


def _is_deeper(value: JSON, depth: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth == 0 or any(_is_deeper(each, depth - 1) for each in inner)


def _reject_constant(name: str) -> JSON:
    raise ValueError(f"{name} is not a JSON number")


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"a number has more than {_MAX_DIGITS} digits")
    return int(digits)


def parse_fields_param(query: Query, default: Mask, shape: Shape) -> Mask | None:
    """Return the field mask in the parameter `fields`. Raises ApiError for an invalid mask.

    Returns `default` if the parameter is missing, and None if it is blank.
    """
    text = query.get("fields")
    if text is None:
        return default
    mask = field_mask.parse(text)
    field_mask.check(mask, shape)
    return mask or None


def select_fields(mask: Mask | None, value: Mapping[str, object]) -> JSONObject:
    """Return the fields of a resource that a mask selects. Returns {} if the mask is None."""
    whole: Any = value
    selection = {} if mask is None else field_mask.apply(mask, whole)
    return selection if isinstance(selection, dict) else {}


def check_response_params(context: ServiceContext, request: RequestContext) -> None:
    """Check `fields` and the Host header before any change. Raises ApiError (400) if either is invalid."""
    parse_fields_param(request.query, DEFAULT_MASK, FILE_SHAPE)
    external_base_url(request.http_request, context)


def render_file(context: ServiceContext, request: RequestContext, row: FileRow) -> File:
    """Return a File resource with the fields that the parameter `fields` selects. Raises ApiError if invalid."""
    mask = parse_fields_param(request.query, DEFAULT_MASK, FILE_SHAPE)
    view = ViewContext(context, request.caller, request.http_request)
    return {} if mask is None else file_resource(row, mask, view)


def create(context: ServiceContext, request: RequestContext) -> Response:
    """Create a folder, a shortcut or an empty file from metadata, and return its resource."""
    check_response_params(context, request)
    sent = read_json(request.body, context.policy.max_metadata_size)
    metadata = check_file(sent, creating=True, names=context.names, policy=context.policy)
    with context.store.transaction():
        check_new(context, request.caller, metadata)
        name = metadata.get("name")
        row = new_row(context, request.caller, metadata, detect(name if isinstance(name, str) else None, b""))
        if not context.names.is_native(row.mime_type):
            row = row._replace(content=context.store.contents.begin(), size=0)
        add_file(context, request.caller, row, metadata)
    return json_response(request.query, render_file(context, request, row))


def get(context: ServiceContext, request: RequestContext) -> Response:
    """Return a response with the metadata of a file."""
    if request.query.get("acknowledgeAbuse") == "true":
        raise refuse("noAcknowledgment")
    row = file_for(context, request.caller, request.file_id)
    return json_response(request.query, render_file(context, request, row))


def update(context: ServiceContext, request: RequestContext) -> Response:
    """Change the metadata of a file. The parameters `addParents` and `removeParents` move the file."""
    check_response_params(context, request)
    sent = read_json(request.body, context.policy.max_metadata_size)
    metadata = check_file(sent, creating=False, names=context.names, policy=context.policy)
    with context.store.transaction():
        row = change_file(context, request, request.file_id, metadata)
    return json_response(request.query, render_file(context, request, row))


def change_file(
    context: ServiceContext,
    request: RequestContext,
    file_id: str,
    metadata: JSONObject,
    content: NewContent | None = None,
) -> FileRow:
    """Store a file's new metadata and content, and return the new row. Raises ApiError if not permitted."""
    old = file_for(context, request.caller, file_id, Role.WRITER)
    row = change_row(context, request.caller, _move(context, request, old), metadata)
    _check_changes(context, request.caller.user, old, row, has_content=content is not None)
    if content:
        row = row._replace(content=content.number, size=content.size, mime_type=content.media_type)
    context.store.files.save(row)
    save_properties(context, request.caller, row.id, metadata)
    if row.trashed != old.trashed:
        context.store.files.follow(row.id, row.owner, trashed=bool(row.trashed))
    changes = {"parents"} if old.parent != row.parent else set[str]()
    if content:
        changes |= {"content", "properties"}  # new content also changes headRevisionId, which is a property
    if metadata.keys() - {"trashed"} or not (changes or "trashed" in metadata):
        changes.add("properties")
    change_log.record_change(context, old, row, changes)
    return row


def _check_changes(context: ServiceContext, user: str, old: FileRow, row: FileRow, *, has_content: bool) -> None:
    """Raise ApiError (403) if a user may not change a file in this way, or if a move would lift a restriction."""
    role = effective_role(context, user, old) or Role.READER
    before, after = (restrictions_on(context, each, role) for each in (old, row))
    lifted = before - after if old.parent != row.parent else frozenset[str]()
    changed = {"canModifyContent": has_content or old.mime_type != row.mime_type, "canRename": old.name != row.name}
    denied = any(is_changed and not is_allowed(right, role, before & after) for right, is_changed in changed.items())
    if (
        denied
        or not may_change_restrictions(role, json.loads(old.extra), json.loads(row.extra))
        or any(role < RESTRICTIONS[name].changed_by for name in lifted)
        or (old.trashed != row.trashed and not is_allowed("canTrash", role, before))
    ):
        raise refuse("filePermission", fileId=old.id)
    if old.parent != row.parent:
        check_sharing(context, user, old, "canMoveItemWithinDrive")


def _move(context: ServiceContext, request: RequestContext, row: FileRow) -> FileRow:
    """Return the row of a file with the parent that `addParents` and `removeParents` request.

    Removing the parent moves the file into its owner's root folder. Raises ApiError if the file cannot be moved.
    """
    add, remove = request.query.get("addParents"), request.query.get("removeParents")
    root = context.root(row.owner)
    if add:
        target = writable_folder(context, request.caller, add.split(",")[0].strip())
        ancestor: FileRow | None = target
        while ancestor is not None:
            if ancestor.id == row.id:
                raise refuse(
                    "invalidParameter",
                    name="addParents",
                    message="a folder cannot be moved into itself or its subfolders.",
                )
            ancestor = context.store.files.get(ancestor.parent) if ancestor.parent else None
    elif remove and row.parent in [root if name.strip() == "root" else name.strip() for name in remove.split(",")]:
        target = file_for(context, request.caller, root, Role.OWNER)
    else:
        return row
    if row.parent is None:
        raise refuse("filePermission", decided_by=ROOT, fileId=row.id)
    return row._replace(parent=target.id, trashed=int(bool(row.explicitly_trashed) or is_in_trash_with(row, target)))


def delete(context: ServiceContext, request: RequestContext) -> Response:
    """Permanently delete a file and everything below the file. Only the owner can delete a file."""
    with context.store.transaction():
        row = file_for(context, request.caller, request.file_id)
        if row.owner != request.caller.user:
            raise refuse("ownerOnly", fileId=row.id)
        if row.parent is None:
            raise refuse("filePermission", decided_by=ROOT, fileId=row.id)
        contents = delete_tree(context, row.id)
    discard_contents(context, contents)
    return empty_response(204)


def empty_trash(context: ServiceContext, request: RequestContext) -> Response:
    """Permanently delete all files in the caller's trash."""
    contents: dict[int, list[str]] = {}
    with context.store.transaction():
        for file_id in context.store.files.in_trash(request.caller.user):
            contents |= delete_tree(context, file_id)
    discard_contents(context, contents)
    return empty_response(204)


def delete_tree(context: ServiceContext, file_id: str) -> dict[int, list[str]]:
    """Delete a file and all files below it, and return the part keys of each deleted content by content number.

    Files of other users, with everything below them, move to their owners' root folders.
    """
    if top := context.store.files.get(file_id):
        for foreign_id in context.store.files.foreign_below(top.id, top.owner):
            row = context.store.files.get(foreign_id)
            parent = context.store.files.get(row.parent) if row and row.parent else None
            if row and parent and parent.owner != row.owner:
                moved = row._replace(parent=context.root(row.owner))
                context.store.files.save(moved)
                change_log.record_change(context, row, moved, {"parents"})
        change_log.record_removal(context, top)
        context.store.permissions.drop_all(top.id)
    return {content: context.store.contents.drop(content) for content in context.store.files.drop(file_id)}


def discard_contents(context: ServiceContext, contents: Mapping[int, list[str]]) -> None:
    """Delete the parts of deleted contents, by content number. Called after the transaction that deleted the rows."""
    for content, parts in contents.items():
        context.content.discard(content, parts)


def generate_ids(context: ServiceContext, request: RequestContext) -> Response:
    """Return a response with new file ids. Each id can be used once, to create or upload a file (L-01)."""
    policy = context.policy
    count = int_param(request.query, "count", policy.generated_ids, policy.max_generated_ids)
    space = choice_param(request.query, "space", _SPACES)
    choice_param(request.query, "type", ("files", "shortcuts"))
    mask = parse_fields_param(request.query, {"*": {}}, IDS_SHAPE)
    ids = [context.ids.blob() for _ in range(count)]
    with context.store.transaction():
        for file_id in ids:
            context.store.users.add_id(file_id, request.caller.user)
    value: GeneratedIds = {"kind": context.names.kind("generatedIds"), "space": space, "ids": ids}
    return json_response(request.query, select_fields(mask, value))


def list_files(context: ServiceContext, request: RequestContext) -> Response:
    """Return a page of the files that the caller can see and that match the query `q`, sorted by `orderBy`."""
    policy, query = context.policy, request.query
    size = int_param(query, "pageSize", policy.page_size, policy.max_page_size)
    keys = parse_order(query.get("orderBy") or "")
    choice_param(query, "corpora", ("user", "domain", "drive", "allDrives"))
    spaces = [space.strip() for space in (query.get("spaces", _SPACES[0]) or "").split(",")]
    for space in spaces:
        choice_param(Query([("spaces", space)]), "spaces", _SPACES)
    text = query.get("q") or ""
    search = parse_query(text) if text.strip() else None
    if keys and search and [*compared_values(search, "fullText")]:
        raise refuse("sortedFullText")
    for media_type in compared_values(search, "mimeType") if search else ():
        if message := context.names.media_type_problem(str(media_type)):
            raise refuse("invalidValue", name="q", message=message)
    about = (request.caller.user, text, query.get("orderBy") or "")
    token = query.get("pageToken")
    after = decode_page_token(token, about, len(keys) + 1, context.secret) if token else None
    mask = parse_fields_param(
        query, {"kind": {}, "incompleteSearch": {}, "nextPageToken": {}, "files": DEFAULT_MASK}, LIST_SHAPE
    )
    if mask is None:
        return json_response(query, {})
    page = FilePage([], None)
    if not set(spaces).isdisjoint(_SEARCHED_SPACES):
        page = context.store.files.page(request.viewer(context), search, keys, after, size)
    everything = field_mask.STAR in mask
    value: FileList = {"kind": context.names.kind("fileList"), "incompleteSearch": False}
    if page.last:
        value["nextPageToken"] = encode_page_token(page.last, about, context.secret)
    selection: dict[str, object] = {name: member for name, member in value.items() if everything or name in mask}
    if everything or "files" in mask:
        file_mask = mask.get("files") or {field_mask.STAR: field_mask.ALL}
        view = ViewContext(context, request.caller, request.http_request)
        selection["files"] = file_resources(page.rows, file_mask, view)
    return with_etag(json_response(query, selection), request.headers)


def int_param(query: Query, name: str, default: int, maximum: int) -> int:
    """Return an integer parameter, or `default` if missing. Raises ApiError (400) for values outside 1 to `maximum`."""
    text = query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= maximum):
        raise refuse("invalidParameter", name=name, message=f"expected a whole number from 1 to {maximum}.")
    return int(text)


def bool_param(query: Query, name: str, *, default: bool) -> bool:
    """Return a boolean parameter, or `default` if missing. Raises ApiError (400) unless "true" or "false"."""
    return choice_param(query, name, ("true", "false") if default else ("false", "true")) == "true"


def check_booleans(query: Query, operation: Operation) -> None:
    """Raise ApiError (400) if a boolean parameter of an operation is neither "true" nor "false"."""
    for parameter in (*COMMON, *operation.parameters):
        if parameter.type == "boolean":
            bool_param(query, parameter.name, default=False)


def choice_param(query: Query, name: str, allowed: tuple[str, ...]) -> str:
    """Return a query parameter, or the first `allowed` value if missing. Raises ApiError (400) for any other value."""
    text = query.get(name)
    if text is None:
        return allowed[0]
    if text not in allowed:
        raise refuse("invalidParameter", name=name, message=f"expected one of {', '.join(filter(None, allowed))}.")
    return text
