"""The roles of permissions, and the checks of a request's body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ..errors.catalogue import ApiError, Row, refuse, row
from ..field_mask import Shape, shape_of
from ..http.messages import JSONObject
from ..resources.files import Permission


class Role(IntEnum):
    """The role of a user. Roles are in ascending order, and each includes the rights of those before it."""

    READER = 1
    COMMENTER = 2
    WRITER = 3
    OWNER = 4

    @property
    def wire_name(self) -> str:
        """The name of the role in the interface."""
        return self.name.lower()


ROLES = {role.wire_name: role for role in Role}
GRANTEES: Mapping[str, str | None] = {
    "user": "emailAddress",
    "group": "emailAddress",
    "domain": "domain",
    "anyone": None,
}
"""The types of grantees, and the field that names the grantee."""

PERMISSION_SHAPE: Shape = {**shape_of(Permission), "permissionDetails": None, "teamDrivePermissionDetails": None}
_UNSUPPORTED = ("expirationTime", "view", "pendingOwner", "inheritedPermissionsDisabled")
"""Fields of the family that this service does not support. They are rejected, so that no client relies on them."""

_READ_ONLY = ("id", "kind", "displayName", "deleted", "photoLink", "permissionDetails", "teamDrivePermissionDetails")


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """A role for a grantee, which is an address, a domain, or "" for anyone."""

    type: str
    role: Role
    grantee: str


def check_permission(body: JSONObject) -> PermissionRequest:
    """Check and return the permission of a body. Raises ApiError with all problems.

    >>> check_permission({"type": "user", "role": "writer", "emailAddress": "Bob@svc.example"}).grantee
    'bob@svc.example'
    """
    _check_writable(body, (*_READ_ONLY, *_UNSUPPORTED))
    grantee_type = body.get("type")
    if problems := [
        *_choice(body, "type", tuple(GRANTEES)),
        *_role(body),
        *_grantee(body, grantee_type),
        *_discovery(body),
    ]:
        raise ApiError(problems)
    field = GRANTEES[str(grantee_type)]
    return PermissionRequest(
        str(grantee_type), ROLES[str(body["role"])], str(body[field]).strip().lower() if field else ""
    )


def check_role(body: JSONObject) -> Role:
    """Check and return the role of an update, which can change nothing else. Raises ApiError."""
    _check_writable(body, (*_READ_ONLY, *_UNSUPPORTED, "type", "emailAddress", "domain"))
    if problems := _role(body):
        raise ApiError(problems)
    return ROLES[str(body["role"])]


def _check_writable(body: JSONObject, fixed: tuple[str, ...]) -> None:
    if wrong := [name for name in fixed if name in body]:
        raise refuse("fieldNotWritable", field=wrong[0])


def _role(body: JSONObject) -> list[Row]:
    return _choice(body, "role", tuple(ROLES))


def _choice(body: JSONObject, name: str, allowed: tuple[str, ...]) -> list[Row]:
    value = body.get(name)
    if value is None:
        return [row("required", field=name)]
    known = isinstance(value, str) and value in allowed
    return [] if known else [row("invalid", field=name, message=f"expected one of {', '.join(allowed)}.")]


def _discovery(body: JSONObject) -> list[Row]:
    """Reject allowFileDiscovery, because files of a domain or of anyone are found by their link alone."""
    if body.get("allowFileDiscovery") in (None, False):
        return []
    return [row("invalid", field="allowFileDiscovery", message="nothing is found by search here: leave it out.")]


def _grantee(body: JSONObject, grantee_type: Any) -> list[Row]:
    field = GRANTEES.get(grantee_type) if isinstance(grantee_type, str) else None
    if field is None:
        return []
    value = body.get(field)
    if value in (None, ""):
        return [row("required", field=field)]
    pattern = r"[^@\s]+@[^@\s]+" if field == "emailAddress" else r"[^@\s/:]+"
    valid = isinstance(value, str) and len(value) <= 254 and re.fullmatch(pattern, value.strip())
    example = "bob@example.com" if field == "emailAddress" else "example.com"
    return [] if valid else [row("invalid", field=field, message=f"expected something like {example}.")]
