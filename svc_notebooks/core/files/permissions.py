"""Permission roles, and checks of permission request bodies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from ..errors.catalogue import ApiError, Row, refuse, row
from ..field_mask import Shape
from ..http.messages import JSON, JSONObject
from .fields import FILE_SHAPE


class Role(IntEnum):
    """The role of a user for a file, in ascending order. Each role includes the rights of lower roles."""

    READER = 1
    COMMENTER = 2
    WRITER = 3
    OWNER = 4

    @property
    def wire_name(self) -> str:
        """The name of the role in the interface, such as "writer"."""
        return self.name.lower()


ROLES = {role.wire_name: role for role in Role}
GRANTEES: Mapping[str, str | None] = {
    "user": "emailAddress",
    "group": "emailAddress",
    "domain": "domain",
    "anyone": None,
}
"""Maps each grantee type to the body field that names the grantee. "anyone" needs no field."""

PERMISSION_SHAPE: Shape = FILE_SHAPE["permissions"] or {}
_UNSUPPORTED = ("expirationTime", "view", "pendingOwner", "inheritedPermissionsDisabled")
"""Unsupported fields, which the service rejects so that no client relies on them."""

_READ_ONLY = ("id", "kind", "displayName", "deleted", "photoLink", "permissionDetails", "teamDrivePermissionDetails")


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """A role for a grantee. `grantee` is an e-mail address, a domain, or "" for anyone."""

    type: str
    role: Role
    grantee: str


def check_permission(body: JSONObject) -> PermissionRequest:
    """Return the type, role and grantee from the body of a new permission. Raises ApiError with all problems.

    >>> check_permission({"type": "user", "role": "writer", "emailAddress": "Bob@svc.example"}).grantee
    'bob@svc.example'
    """
    _check_writable(body, (*_READ_ONLY, *_UNSUPPORTED))
    grantee_type, grantee = body.get("type"), ""
    problems = [*_choice("type", grantee_type, GRANTEES), *_choice("role", body.get("role"), ROLES)]
    if field := GRANTEES.get(grantee_type) if isinstance(grantee_type, str) else None:
        value = body.get(field)
        grantee = value.strip().lower() if isinstance(value, str) else ""
        pattern, example = _GRANTEE_FORMS[field]
        if value in (None, ""):
            problems.append(row("required", field=field))
        elif len(grantee) > 254 or not grantee.isprintable() or not re.fullmatch(pattern, grantee):
            problems.append(row("invalid", field=field, message=f"expected a value such as {example}."))
    if body.get("allowFileDiscovery") not in (None, False):
        message = "files shared with a domain or with anyone can be found only by their link: leave this field out."
        problems.append(row("invalid", field="allowFileDiscovery", message=message))
    if problems:
        raise ApiError(problems)
    return PermissionRequest(str(grantee_type), ROLES[str(body["role"])], grantee)


_GRANTEE_FORMS = {
    "emailAddress": (r"[^@\s]+@[^@\s]+", "bob@example.com"),
    "domain": (r"[^@\s/:]+", "example.com"),
}


def check_role(body: JSONObject) -> Role:
    """Return the role from the body of a permission update. Raises ApiError for other fields or an invalid role."""
    _check_writable(body, (*_READ_ONLY, *_UNSUPPORTED, "type", "emailAddress", "domain"))
    if problems := _choice("role", body.get("role"), ROLES):
        raise ApiError(problems)
    return ROLES[str(body["role"])]


def _check_writable(body: Mapping[str, object], fixed: tuple[str, ...]) -> None:
    if wrong := [name for name in fixed if name in body]:
        raise refuse("fieldNotWritable", field=wrong[0])


def _choice(name: str, value: JSON, allowed: Mapping[str, object]) -> list[Row]:
    if value is None:
        return [row("required", field=name)]
    known = isinstance(value, str) and value in allowed
    return [] if known else [row("invalid", field=name, message=f"expected one of {', '.join(allowed)}.")]
