"""Handles requests for the about resource, with the user, the quota and the conversions (A5-05, A7-04)."""

from __future__ import annotations

from ...core.errors.catalogue import refuse
from ...core.field_mask import FAMILY_ABOUT, shape_of, with_family_fields
from ...core.http.messages import Response
from ...core.http.native_formats import MAX_IMPORT_SIZES
from ...core.resources.files import About, ImportTargets
from ..dispatch.messages import json_response, parse_fields_param, select_fields
from ..dispatch.service_context import RequestContext, ServiceContext
from .resource import user_resource

_SHAPE = with_family_fields(shape_of(About), FAMILY_ABOUT)
FOLDER_COLORS = (
    "#ac725e", "#d06b64", "#f83a22", "#fa573c", "#ff7537", "#ffad46", "#fad165", "#fbe983",
    "#b3dc6c", "#7bd148", "#16a765", "#42d692", "#92e1c0", "#9fe1e7", "#9fc6e7", "#4986e7",
    "#9a9cff", "#b99aff", "#a47ae2", "#cd74e6", "#f691b2", "#cca6ac", "#cabdbf", "#8f8f8f",
)  # fmt: skip


def get(context: ServiceContext, request: RequestContext) -> Response:
    """Return the fields of the about resource that the parameter `fields` selects. The parameter is required."""
    if request.query.get("fields") is None:
        raise refuse("requiredParameter", name="fields")
    names, user = context.names, request.caller.user
    quota = context.quotas.get(user)
    usage, trash = context.store.files.usage(user)
    targets = {
        names.media_type(source): list(map(names.native, natives))
        for source, natives in context.converter.imports.items()
    }
    as_list: list[ImportTargets] = [{"source": source, "targets": natives} for source, natives in targets.items()]
    about: About = {
        "kind": names.kind("about"),
        "user": user_resource(context, request.caller, user),
        "storageQuota": {
            "limit": str(quota.bytes if quota else context.policy.storage_limit),
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
    return json_response(request.query, select_fields(parse_fields_param(request.query, {}, _SHAPE), about))
