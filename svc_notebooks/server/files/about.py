"""The about resource: who asks, how much they store, and what can become what here (A5-05, A7-04)."""

from __future__ import annotations

from ...core.errors.catalogue import refuse
from ...core.field_mask import ANY_KEY, Shape
from ...core.http.messages import JSON, JSONObject, Response
from ...core.http.native_formats import MAX_IMPORT_SIZES
from ..context.responses import as_json
from ..context.service_context import Call, House
from .operations import mask_of, selected
from .resource import user_resource

_USER: Shape = dict.fromkeys(("kind", "displayName", "me", "permissionId", "emailAddress", "photoLink"))
_QUOTA: Shape = dict.fromkeys(("limit", "usage", "usageInStorage", "usageInStorageTrash"))
_SHAPE: Shape = {
    "kind": None,
    "user": _USER,
    "storageQuota": _QUOTA,
    "importFormats": ANY_KEY,
    "exportFormats": ANY_KEY,
    "maxImportSizes": ANY_KEY,
    "maxUploadSize": None,
    "appInstalled": None,
    "folderColorPalette": None,
    "canCreateDrives": None,
}
FOLDER_COLORS = (
    "#ac725e", "#d06b64", "#f83a22", "#fa573c", "#ff7537", "#ffad46", "#fad165", "#fbe983",
    "#b3dc6c", "#7bd148", "#16a765", "#42d692", "#92e1c0", "#9fe1e7", "#9fc6e7", "#4986e7",
    "#9a9cff", "#b99aff", "#a47ae2", "#cd74e6", "#f691b2", "#cca6ac", "#cabdbf", "#8f8f8f",
)  # fmt: skip


def get(house: House, call: Call) -> Response:
    """What `fields` selects, which must be there."""
    if call.query.get("fields") is None:
        raise refuse("requiredParameter", name="fields")
    return as_json(call.query, selected(mask_of(call.query, {}, _SHAPE), _about(house, call)))


def _about(house: House, call: Call) -> JSONObject:
    return {
        "kind": house.names.kind("about"),
        "user": user_resource(house, call.caller, call.caller.user),
        "storageQuota": _quota(house, call.caller.user),
        "importFormats": _imports(house),
        "exportFormats": _exports(house),
        "maxImportSizes": {house.names.native(word): str(size) for word, size in MAX_IMPORT_SIZES.items()},
        "maxUploadSize": str(house.policy.max_upload_size),
        "appInstalled": False,
        "folderColorPalette": list(FOLDER_COLORS),
        "canCreateDrives": False,
    }


def _quota(house: House, user: str) -> JSONObject:
    usage, trash = house.store.files.usage(user)
    return {
        "limit": str(house.policy.storage_limit),
        "usage": str(usage),
        "usageInStorage": str(usage),
        "usageInStorageTrash": str(trash),
    }


def _imports(house: House) -> JSON:
    """Every import of this installation, in the shape that the policy chooses."""
    names = house.names
    formats: JSONObject = {
        names.media_type(source): [names.native(word) for word in natives]
        for source, natives in house.converter.imports.items()
    }
    if house.policy.import_formats == "map":
        return formats
    return [{"source": source, "targets": targets} for source, targets in formats.items()]


def _exports(house: House) -> JSONObject:
    names = house.names
    return {
        names.native(word): [names.media_type(target) for target in targets]
        for word, targets in house.converter.exports.items()
    }
