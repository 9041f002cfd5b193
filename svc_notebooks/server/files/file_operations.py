"""Handles requests on metadata, copies, lists, ids, the trash, watches and the about resource (A4, A8, A9, U-01)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import NamedTuple

from ...core import field_mask
from ...core.api.operations import CONTENT
from ...core.errors.catalogue import ApiError, refuse
from ...core.field_mask import FAMILY_ABOUT, Mask, shape_of, with_family_fields
from ...core.files.fields import FILE_SHAPE, IDS_SHAPE, LIST_SHAPE, check_file
from ...core.files.permissions import RESTRICTIONS, Role, is_allowed, may_change_restrictions
from ...core.files.query import Member, Search, compared_values, parse_order, parse_query
from ...core.http.media_types import MAX_IMPORT_SIZES, detect
from ...core.http.messages import JSONObject, Query, Response, segment
from ...core.resources.files import About, DriveList, File, FileList, GeneratedIds, ImportTargets, TeamDriveList
from ...core.thread_permit import FEW
from ..dispatch.page_tokens import decode_page_token, encode_page_token
from ..dispatch.requests_and_responses import (
    choice_param,
    empty_response,
    int_param,
    json_response,
    parse_fields_param,
    read_json,
    resource_response,
    select_fields,
    with_etag,
)
from ..dispatch.service_context import Caller, RequestContext, ServiceContext
from ..notifications.channels import open_channel
from ..store.contents import END, PartRange
from . import access
from .access import file_for
from .change_log import change_log_of, check_start, record_change, record_creation, record_removal
from .conversion import ConversionRequest, conversion_for, convert
from .metadata import STORED_FIELDS, change_row, check_new, is_in_trash_with, new_row, save_properties
from .resource import DEFAULT_MASK, ViewContext, file_resource, user_resource, view_of
from .search import Viewer, required
from .tables import FilePage, FileRow


class NewContent(NamedTuple):
    """The number of a stored content, its size in bytes (None for a native document) and its media type."""

    number: int
    size: int | None
    media_type: str


_SHOWN_LIMIT = 16_106_127_360  # the storage limit that `about` shows to users without a limit, in bytes
_SEARCHED_SPACES = ("storage", "drive")
_SPACES = (*_SEARCHED_SPACES, "appDataFolder")


class ResponseFields(NamedTuple):
    """The fields of the File resource in a response, or None for an empty object, and the caller's view of files."""

    mask: Mask | None
    view: ViewContext
    query: Query

    def resource(self, row: FileRow) -> File:
        """Return the File resource with these fields."""
        return {} if self.mask is None else file_resource(row, self.mask, self.view)

    def response(self, row: FileRow) -> Response:
        """Return a response with the File resource."""
        return json_response(self.query, self.resource(row))


def response_fields(context: ServiceContext, request: RequestContext) -> ResponseFields:
    """Read `fields` and the address for links before any change. Raises ApiError (400) if one of them is invalid."""
    mask = parse_fields_param(request.query, DEFAULT_MASK, FILE_SHAPE)
    return ResponseFields(mask, view_of(context, request, mask or {}), request.query)


def create(context: ServiceContext, request: RequestContext) -> Response:
    """Create a folder, a shortcut or an empty file from metadata, and return its resource."""
    fields = response_fields(context, request)
    sent = read_json(request.body, context.policy.max_metadata_size)
    metadata = check_file(sent, creating=True, names=context.names, policy=context.policy)
    with context.store.transaction():
        check_new(context, request.caller, metadata)
        name = metadata.get("name")
        row = new_row(context, request.caller, metadata, detect(name if isinstance(name, str) else None, b""))
        if not context.names.is_native(row.mime_type):
            row = row._replace(content=context.store.contents.begin(), size=0)
        add_file(context, request.caller, row, metadata)
        record_creation(context, row)
    return fields.response(row)


def get(context: ServiceContext, request: RequestContext) -> Response:
    """Return a response with the metadata of a file."""
    if request.query.get("acknowledgeAbuse") == "true":
        raise refuse("noAcknowledgment")
    row = access.file_for(context, request.caller, request.file_id)
    return response_fields(context, request).response(row)


def update(context: ServiceContext, request: RequestContext) -> Response:
    """Change the metadata of a file. The parameters `addParents` and `removeParents` move the file."""
    fields = response_fields(context, request)
    sent = read_json(request.body, context.policy.max_metadata_size)
    metadata = check_file(sent, creating=False, names=context.names, policy=context.policy)
    with context.store.transaction():
        row = change_file(context, request, request.file_id, metadata)
    return fields.response(row)


def add_file(context: ServiceContext, caller: Caller, row: FileRow, metadata: JSONObject) -> None:
    """Add a new file and its properties to the store. The caller opens the transaction, and records the creation."""
    context.store.files.add(row)
    if "id" in metadata:
        context.store.users.use_id(row.id)
    context.store.files.open_with(row.id, caller.client)
    save_properties(context, caller, row.id, metadata)


def change_file(
    context: ServiceContext,
    request: RequestContext,
    file_id: str,
    metadata: JSONObject,
    content: NewContent | None = None,
) -> FileRow:
    """Store a file's new metadata and content, and return the new row. Raises ApiError if not permitted."""
    old = access.file_for(context, request.caller, file_id, Role.WRITER)
    row = change_row(context, request.caller, _move(context, request, old), metadata, context.millis())
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
    record_change(context, old, row, changes)
    return row


def _check_changes(context: ServiceContext, user: str, old: FileRow, row: FileRow, *, has_content: bool) -> None:
    """Raise ApiError (403) if a user may not change a file in this way, or if a move would lift a restriction."""
    role = access.effective_role(context, user, old) or Role.READER
    before, after = (access.restrictions_on(context, version, role) for version in (old, row))
    lifted = before - after if old.parent != row.parent else frozenset[str]()
    changed = {"canModifyContent": has_content or old.mime_type != row.mime_type, "canRename": old.name != row.name}
    denied = any(is_changed and not is_allowed(right, role, before & after) for right, is_changed in changed.items())
    if (
        denied
        or not may_change_restrictions(role, json.loads(old.extra), json.loads(row.extra))
        or any(role < RESTRICTIONS[name].changed_by for name in lifted)
        or (
            old.parent != row.parent
            and access.restrictions_below(context, user, old) - access.restrictions_below(context, user, row)
        )
        or (old.trashed != row.trashed and not is_allowed("canTrash", role, before))
    ):
        raise access.refuse_file(old)
    if old.parent != row.parent:
        access.check_sharing(context, user, old, "canMoveItemWithinDrive")


def _move(context: ServiceContext, request: RequestContext, row: FileRow) -> FileRow:
    """Return the row of a file with the parent that `addParents` and `removeParents` request.

    Removing the parent moves the file into its owner's root folder. Raises ApiError if the file cannot be moved.
    """
    add, remove = request.query.get("addParents"), request.query.get("removeParents")
    root = context.root(row.owner)
    if add:
        target = access.writable_folder(context, request.caller, add.split(",")[0].strip())
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
        target = access.file_for(context, request.caller, root, Role.OWNER)
    else:
        return row
    if row.parent is None:
        raise access.refuse_file(row, decided_by="Trashing, moving or deleting the root folder")
    return row._replace(parent=target.id, trashed=int(bool(row.explicitly_trashed) or is_in_trash_with(row, target)))


def delete(context: ServiceContext, request: RequestContext) -> Response:
    """Permanently delete a file and everything below the file. Only the owner can delete a file."""
    with context.store.transaction():
        row = access.file_for(context, request.caller, request.file_id)
        if row.owner != request.caller.user:
            raise access.refuse_file(row, "ownerOnly")
        if row.parent is None:
            raise access.refuse_file(row, decided_by="Trashing, moving or deleting the root folder")
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
                record_change(context, row, moved, {"parents"})
        record_removal(context, top)
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


def _viewer(context: ServiceContext, request: RequestContext, search: Search | None) -> Viewer:
    """Return the caller as a `Viewer`, the form that the searches of the store take.

    With an API key, `search` must look in a folder that is shared with anyone, so that it finds no other file.
    """
    user = request.caller.user
    if not user:
        terms = required(search) if search else ()
        folders = [term.value for term in terms if isinstance(term, Member) and term.collection == "parents"]
        if not folders:
            message = "with an API key, expected 'ID' in parents with the id of a folder that is shared with anyone."
            raise refuse("invalidValue", name="q", message=message)
        access.file_for(context, request.caller, folders[0])
    shared = not user or context.store.permissions.has_any(user)
    client, app_only = request.caller.client, request.caller.app_only
    return Viewer(user, user.lower(), context.root(user), client, context.folder_type, shared, app_only)


def list_files(context: ServiceContext, request: RequestContext) -> Response:
    """Return a page of the files that the caller can see and that match the query `q`, sorted by `orderBy`."""
    policy, query = context.policy, request.query
    size = int_param(query, "pageSize", policy.page_size, policy.max_page_size)
    order = query.get("orderBy")
    keys = parse_order(order) if order else ()
    choice_param(query, "corpora", ("user", "domain", "drive", "allDrives"))
    spaces = {space.strip() for space in (query.get("spaces", _SPACES[0]) or "").split(",")}
    if not spaces.issubset(_SPACES):
        raise refuse("invalidParameter", name="spaces", message=f"expected one of {', '.join(_SPACES)}.")
    text = query.get("q") or ""
    search = parse_query(text) if text.strip() else None
    if search and [*compared_values(search, "fullText")]:
        if keys:
            raise refuse("sortedFullText")
        if CONTENT.isdisjoint(request.caller.scopes):  # indexableText is content, which words would reveal
            raise refuse("missingScope", operation="a search with fullText", scopes=", ".join(sorted(CONTENT)))
    for media_type in compared_values(search, "mimeType") if search else ():
        if message := context.names.media_type_problem(str(media_type)):
            raise refuse("invalidValue", name="q", message=message)
    listing = (request.caller.user, text, order or "")
    token = query.get("pageToken")
    after = decode_page_token(token, listing, len(keys) + 1, context.secret) if token else None
    mask = parse_fields_param(
        query, {"kind": {}, "incompleteSearch": {}, "nextPageToken": {}, "files": DEFAULT_MASK}, LIST_SHAPE
    )
    if mask is None:
        return json_response(query, {})
    page = FilePage([], None)
    if not spaces.isdisjoint(_SEARCHED_SPACES):
        page = context.store.files.page(_viewer(context, request, search), search, keys, after, size)
    everything = field_mask.STAR in mask
    value: FileList = {"kind": context.names.kind("fileList"), "incompleteSearch": False}
    if page.last:
        value["nextPageToken"] = encode_page_token(page.last, listing, context.secret)
    selection: dict[str, object] = {name: member for name, member in value.items() if everything or name in mask}
    if everything or "files" in mask:
        file_mask = mask.get("files") or {field_mask.STAR: field_mask.ALL}
        resource = partial(file_resource, mask=file_mask, view=view_of(context, request, file_mask))
        is_long = len(page.rows) > FEW  # then only a few resources are in memory
        selection["files"] = (resource(row) for row in page.rows) if is_long else [*map(resource, page.rows)]
    return with_etag(json_response(query, selection), request.headers)


def check_usage(context: ServiceContext, owner: str, more: int = 0) -> None:
    """Raise ApiError (403) if the files and open uploads of a user, and `more` bytes, exceed the user's limit."""
    limit = context.byte_limit(owner)
    if limit is None:
        return
    used = context.store.files.usage(owner)[0] + context.store.upload_sessions.stored_by(owner)
    if used + more > limit:
        raise refuse("storageQuota", user=owner, limit=limit)


def add_content(context: ServiceContext, pieces: list[PartRange], size: int | None, media_type: str) -> NewContent:
    """Add a content with these parts to the database. Raises ApiError (503) if a reset has deleted the parts."""
    if not context.content.parts.has_all([piece.part for piece in pieces]):
        raise refuse("unavailable")
    content = NewContent(context.store.contents.begin(), size, media_type)
    for piece in pieces:
        context.store.contents.append(content.number, piece)
    return content


def store_content(
    context: ServiceContext, request: RequestContext, file_id: str, metadata: JSONObject, content: NewContent
) -> tuple[FileRow, dict[int, list[str]]]:
    """Create a file with a content, or replace the content of `file_id`, inside an open transaction.

    Returns the row and the former content for `discard_contents`, if no other file uses it.
    """
    if file_id:
        old = access.file_for(context, request.caller, file_id, Role.WRITER).content
        row = change_file(context, request, file_id, metadata, content)
    else:
        check_new(context, request.caller, metadata)
        row, old = new_row(context, request.caller, metadata, content.media_type), None
        row = row._replace(content=content.number, size=content.size)
        add_file(context, request.caller, row, metadata)
        record_creation(context, row)
    check_usage(context, row.owner)
    if old is None or context.store.files.holds(old):
        return row, {}
    return row, {old: context.store.contents.drop(old)}


_COPIED_FIELDS = tuple(name for name in STORED_FIELDS if name not in RESTRICTIONS)
_COPIED_RESTRICTIONS = RESTRICTIONS.keys() - {"contentRestrictions"}


def copy(context: ServiceContext, request: RequestContext) -> Response:
    """Copy a file that the caller may download, and return a response with the resource of the copy."""
    fields = response_fields(context, request)
    body = read_json(request.body, context.policy.max_metadata_size)
    sent = check_file(body, creating=True, names=context.names, policy=context.policy)
    with context.store.transaction():
        content = _copied_file(context, request).content
        reader = None if content is None else context.content.read(content, 0, END)
    if reader:
        with closing(reader):
            reader.check()  # a copy would share the damage; outside the transaction, because it reads files
    with context.store.transaction():
        source = _copied_file(context, request)
        metadata = _copied_metadata(context, request, source, sent)
        conversion = _conversion_of_copy(context, request, source, metadata)
        if conversion is None:
            row = new_row(context, request.caller, metadata, source.mime_type)
            row = row._replace(content=source.content, size=source.size, abusive=source.abusive)
            add_file(context, request.caller, row, metadata)
            record_creation(context, row)
            check_usage(context, row.owner)
            return fields.response(row)
        assert source.content is not None
        size = source.size or 0
        pieces = context.store.contents.pieces(source.content, 0, size)
        reader = context.content.read(source.content, 0, size)  # an open reader keeps the parts from being deleted
    with (
        closing(reader),
        convert(context, request, conversion, str(metadata["name"]), size, pieces) as converted,
        context.store.transaction(),
    ):
        new_content = add_content(context, converted.pieces, None, converted.media_type)
        row, _ = store_content(context, request, "", metadata, new_content)
        context.store.files.save(row._replace(abusive=source.abusive))
    return fields.response(row)


def _copied_file(context: ServiceContext, request: RequestContext) -> FileRow:
    row = access.file_for(context, request.caller, request.file_id)
    if row.mime_type == context.folder_type:
        raise refuse("cannotCopy", fileId=row.id)
    access.check_right(context, request.caller.user, row, "canCopy", "cannotCopy")
    if row.abusive and row.owner != request.caller.user:
        raise refuse("abusive")
    return row


def _copied_metadata(context: ServiceContext, request: RequestContext, source: FileRow, sent: JSONObject) -> JSONObject:
    """Return the metadata of the copy. Fields that the caller did not send have the values of the original.

    If the caller may not write to the original's folder, the copy goes into the caller's root folder.
    """
    extra, caller = json.loads(source.extra), request.caller
    try:
        folder = access.file_for(context, caller, source.parent or "", Role.WRITER).id
    except ApiError:
        folder = context.root(caller.user)
    metadata: JSONObject = {name: extra[name] for name in _COPIED_FIELDS if name in extra}
    metadata |= {"name": f"Copy of {source.name}", "mimeType": source.mime_type, "parents": [folder]}
    for name, client in (("properties", ""), ("appProperties", caller.client)):
        if kept := context.store.files.properties(source.id, client):
            metadata[name] = dict(kept)
    role = access.effective_role(context, caller.user, source) or Role.READER
    for name in access.restrictions_on(context, source, role) & _COPIED_RESTRICTIONS:
        metadata[name] = name != "writersCanShare"
    if source.target:
        metadata["shortcutDetails"] = {"targetId": source.target}
    return metadata | {name: value for name, value in sent.items() if value is not None or name not in metadata}


def _conversion_of_copy(
    context: ServiceContext, request: RequestContext, source: FileRow, metadata: JSONObject
) -> ConversionRequest | None:
    check_new(context, request.caller, metadata)
    media_type = metadata["mimeType"]
    if context.names.is_native(source.mime_type):
        if media_type != source.mime_type:
            raise refuse("noConversion", source=source.mime_type, target=media_type)
        return None
    return conversion_for(context, request, "", metadata, source.mime_type)


ABOUT_SHAPE = with_family_fields(shape_of(About), FAMILY_ABOUT)
FOLDER_COLORS = (
    "#ac725e", "#d06b64", "#f83a22", "#fa573c", "#ff7537", "#ffad46", "#fad165", "#fbe983",
    "#b3dc6c", "#7bd148", "#16a765", "#42d692", "#92e1c0", "#9fe1e7", "#9fc6e7", "#4986e7",
    "#9a9cff", "#b99aff", "#a47ae2", "#cd74e6", "#f691b2", "#cca6ac", "#cabdbf", "#8f8f8f",
)  # fmt: skip


def about(context: ServiceContext, request: RequestContext) -> Response:
    """Return the fields of the about resource that the parameter `fields` selects. The parameter is required."""
    if request.query.get("fields") is None:
        raise refuse("requiredParameter", name="fields")
    names, user = context.names, request.caller.user
    usage, trash = context.store.files.usage(user)
    targets = {
        names.media_type(source): list(map(names.native, natives))
        for source, natives in context.converter.imports.items()
    }
    as_list: list[ImportTargets] = [{"source": source, "targets": natives} for source, natives in targets.items()]
    resource: About = {
        "kind": names.kind("about"),
        "user": user_resource(context, request.caller, user),
        "storageQuota": {
            "limit": str(context.byte_limit(user) or _SHOWN_LIMIT),
            "usage": str(usage),
            "usageInStorage": str(usage),
            "usageInStorageTrash": str(trash),
        },
        "importFormats": targets if context.policy.import_formats == "map" else as_list,
        "exportFormats": {
            names.native(native): list(map(names.media_type, formats))
            for native, formats in context.converter.exports.items()
        },
        "maxImportSizes": {names.native(native): str(size) for native, size in MAX_IMPORT_SIZES.items()},
        "maxUploadSize": str(context.policy.max_upload_size),
        "appInstalled": False,
        "folderColorPalette": list(FOLDER_COLORS),
        "canCreateDrives": False,
    }
    return resource_response(request, resource, ABOUT_SHAPE)


def list_drives(context: ServiceContext, request: RequestContext) -> Response:
    """Return an empty list of shared drives, as `drives` or, for teamdrives.list, as `teamDrives`."""
    int_param(request.query, "pageSize", 10, 100)
    if request.operation.name == "drives.list":
        return resource_response(request, {"kind": context.names.kind("driveList"), "drives": []}, shape_of(DriveList))
    value = {"kind": context.names.kind("teamDriveList"), "teamDrives": []}
    return resource_response(request, value, shape_of(TeamDriveList))


def watch_file(context: ServiceContext, request: RequestContext) -> Response:
    """Open and return a channel that watches a file (A8-08). Raises ApiError (404) if the file is not visible."""
    row = file_for(context, request.caller, request.file_id)
    return open_channel(context, request, row.id, context.names.path("files", segment(row.id)))


def watch_changes(context: ServiceContext, request: RequestContext) -> Response:
    """Open a channel that watches the caller's change log and return the response with the channel (A9)."""
    check_start(context, request, required=context.policy.strict_page_token)
    log = change_log_of(request.caller.user)
    return open_channel(context, request, log, context.names.path("changes"), of_changes=True)
