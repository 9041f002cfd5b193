"""Handles the revisions of a file. A file has one revision, which is its current content."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.api.operations import REVISION_ID
from ...core.errors.catalogue import refuse
from ...core.field_mask import FAMILY_REVISION, Shape, parse, shape_of, with_family_fields
from ...core.http.messages import Response
from ...core.resources.files import Revision, RevisionList
from ..dispatch.requests_and_responses import int_param, resource_response
from ..dispatch.service_context import RequestContext, ServiceContext
from .access import file_for
from .download import download
from .resource import file_resource, view_of

_OF_THE_FILE = parse("lastModifyingUser,md5Checksum,mimeType,modifiedTime,originalFilename,size,version")
_SHAPE = with_family_fields(shape_of(Revision), FAMILY_REVISION)


def list_revisions(context: ServiceContext, request: RequestContext) -> Response:
    """Return the current revision of a file as the only one."""
    int_param(request.query, "pageSize", 200, 1000)
    shape: Shape = {**shape_of(RevisionList), "revisions": _SHAPE}
    revisions = [_current(context, request)]
    return resource_response(request, {"kind": context.names.kind("revisionList"), "revisions": revisions}, shape)


def get_revision(context: ServiceContext, request: RequestContext) -> Response:
    """Return the current revision of a file, or its content with alt=media. Raises ApiError (404) for any other id."""
    revision = _current(context, request)
    sent = request.path_params[REVISION_ID]
    if sent not in (revision["id"], "head"):
        raise refuse("notFound", message=f"Revision not found: {sent[:100]}.")
    if request.query.get("alt") == "media":
        return download(context, request)
    return resource_response(request, revision, _SHAPE)


def _current(context: ServiceContext, request: RequestContext) -> Mapping[str, object]:
    row = file_for(context, request.caller, request.file_id)
    if row.mime_type in (context.folder_type, context.shortcut_type):
        raise refuse("noRevisions")
    mask = {**_OF_THE_FILE, "headRevisionId": {}}
    file: dict[str, object] = {**file_resource(row, mask, view_of(context, request, mask))}
    revision_id = file.pop("headRevisionId", file.get("version"))
    return {"kind": context.names.kind("revision"), "id": revision_id, "keepForever": False, "published": False, **file}
