"""Handles the requests for revisions and shared drives, which clients list even where a service keeps none.

A file has one revision, its current content. There are no shared drives.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...core.api.operations import REVISION_ID
from ...core.errors.catalogue import refuse
from ...core.field_mask import FAMILY_REVISION, Shape, parse, shape_of, with_family_fields
from ...core.http.messages import Response
from ...core.resources.files import Revision, RevisionList
from ..dispatch.requests import int_param, parse_fields_param, select_fields
from ..dispatch.responses import json_response
from ..dispatch.service_context import RequestContext, ServiceContext
from .download import download
from .resource import ViewContext, file_resource
from .rows import file_for

_OF_THE_FILE = parse("lastModifyingUser,md5Checksum,mimeType,modifiedTime,originalFilename,size,version")
_SHAPE = with_family_fields(shape_of(Revision), FAMILY_REVISION)


def list_revisions(context: ServiceContext, request: RequestContext) -> Response:
    """Return the current revision of a file as the only one."""
    int_param(request.query, "pageSize", 200, 1000)
    shape: Shape = {**shape_of(RevisionList), "revisions": _SHAPE}
    revisions = [_current(context, request)]
    return _response(request, shape, {"kind": context.names.kind("revisionList"), "revisions": revisions})


def get(context: ServiceContext, request: RequestContext) -> Response:
    """Return the current revision of a file, or its content with alt=media. Raises ApiError (404) for any other id."""
    revision = _current(context, request)
    sent = request.path_params[REVISION_ID]
    if sent not in (revision["id"], "head"):
        raise refuse("notFound", message=f"Revision not found: {sent[:100]}.")
    if request.query.get("alt") == "media":
        return download(context, request)
    return _response(request, _SHAPE, revision)


def _current(context: ServiceContext, request: RequestContext) -> Mapping[str, object]:
    row = file_for(context, request.caller, request.file_id)
    if row.mime_type in (context.folder_type, context.shortcut_type):
        raise refuse("noRevisions")
    view = ViewContext(context, request.caller, request.http_request)
    file: dict[str, object] = {**file_resource(row, {**_OF_THE_FILE, "headRevisionId": {}}, view)}
    revision_id = file.pop("headRevisionId", file.get("version"))
    return {"kind": context.names.kind("revision"), "id": revision_id, "keepForever": False, "published": False, **file}


def list_drives(context: ServiceContext, request: RequestContext) -> Response:
    """Return an empty list of shared drives, as `drives` or, for teamdrives.list, as `teamDrives`."""
    int_param(request.query, "pageSize", 10, 100)
    if request.operation.name == "drives.list":
        return json_response(request.query, {"kind": context.names.kind("driveList"), "drives": []})
    return json_response(request.query, {"kind": context.names.kind("teamDriveList"), "teamDrives": []})


def _response(request: RequestContext, shape: Shape, value: Mapping[str, object]) -> Response:
    return json_response(request.query, select_fields(parse_fields_param(request.query, {}, shape), value))
