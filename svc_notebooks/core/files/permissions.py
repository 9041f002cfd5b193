"""Permission roles, and checks of permission request bodies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from ..errors.catalogue import ApiError, Row, row
from ..field_mask import Shape
from ..http.messages import JSON, JSONObject
from ..resources.field import fields_of
from ..resources.files import Permission
from .fields import CAPABILITIES, FILE_SHAPE, not_writable


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

# Maps each grantee type to the body field that names the grantee. "anyone" needs no field.
GRANTEES: Mapping[str, str | None] = {
    "user": "emailAddress",
    "group": "emailAddress",
    "domain": "domain",
    "anyone": None,
}

PERMISSION_SHAPE: Shape = FILE_SHAPE["permissions"] or {}
_FIELDS = {field.path: field for field in fields_of(Permission)}
_ON_CREATION = {"type", "emailAddress", "domain"}


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
    grantee_type, grantee = body.get("type"), ""
    problems = [*_choice("type", grantee_type, GRANTEES), *_check(body, {"role", *_ON_CREATION})]
    if field := GRANTEES.get(grantee_type) if isinstance(grantee_type, str) else None:
        value = body.get(field)
        grantee = value.strip().lower() if isinstance(value, str) else ""
        pattern, example = _GRANTEE_FORMS[field]
        if value in (None, ""):
            problems.append(row("required", field=field))
        elif len(grantee) > 254 or not grantee.isprintable() or not re.fullmatch(pattern, grantee):
            problems.append(row("invalid", field=field, message=f"expected a value such as {example}."))
    if problems:
        raise ApiError(problems)
    return PermissionRequest(str(grantee_type), ROLES[str(body["role"])], grantee)


_GRANTEE_FORMS = {"emailAddress": (r"[^@\s]+@[^@\s]+", "bob@example.com"), "domain": (r"[^@\s/:]+", "example.com")}


def check_role(body: JSONObject) -> Role:
    """Return the role from the body of a permission update. Raises ApiError for other fields or an invalid role."""
    if problems := _check(body, {"role"}):
        raise ApiError(problems)
    return ROLES[str(body["role"])]


def _check(body: JSONObject, writable: set[str]) -> list[Row]:
    """Return the problems of the role, of a wish to be found, and of fields that a client cannot set."""
    problems = _choice("role", body.get("role"), ROLES)
    if body.get("allowFileDiscovery") not in (None, False):
        message = "files shared with a domain or with anyone can be found only by their link: leave this field out."
        problems.append(row("invalid", field="allowFileDiscovery", message=message))
    for name in [name for name in body if name not in (*writable, "allowFileDiscovery")]:
        late = name in _ON_CREATION and row("fieldOnCreation", field=name, hint="")
        problems.append(late or not_writable(_FIELDS.get(name), name))
    return problems


def _choice(name: str, value: JSON, allowed: Mapping[str, object]) -> list[Row]:
    if value is None:
        return [row("required", field=name)]
    known = isinstance(value, str) and value in allowed
    return [] if known else [row("invalid", field=name, message=f"expected one of {', '.join(allowed)}.")]


_MINIMUM_ROLES: Mapping[str, Role] = dict.fromkeys(CAPABILITIES, Role.WRITER) | {
    "canChangeCopyRequiresWriterPermission": Role.OWNER,
    "canComment": Role.COMMENTER,
    "canCopy": Role.READER,
    "canDelete": Role.OWNER,
    "canDeleteChildren": Role.OWNER,
    "canDownload": Role.READER,
    "canListChildren": Role.READER,
    "canModifyContentRestriction": Role.OWNER,
    "canTrash": Role.OWNER,
    "canTrashChildren": Role.OWNER,
    "canUntrash": Role.OWNER,
}
_TAKING = frozenset({"canCopy", "canDownload"})


class Restriction(NamedTuple):
    """A field by which some users restrict others.

    Users with the role `changed_by` may set and lift it. It denies the rights in `forbids` to all roles below `exempt`,
    or to all if that is None. An `inherited` field of a folder restricts the files below the folder too.
    """

    changed_by: Role
    forbids: frozenset[str]
    exempt: Role | None
    inherited: bool
    is_set: Callable[[Any], bool]


RESTRICTIONS: Mapping[str, Restriction] = {
    "contentRestrictions": Restriction(
        Role.OWNER,
        frozenset({"canModifyContent", "canRename"}),
        None,
        False,
        lambda value: any(isinstance(entry, dict) and entry.get("readOnly") is True for entry in value or ()),
    ),
    "copyRequiresWriterPermission": Restriction(Role.OWNER, _TAKING, Role.WRITER, True, bool),
    "viewersCanCopyContent": Restriction(Role.WRITER, _TAKING, Role.WRITER, True, bool),  # A6-05
    "writersCanShare": Restriction(
        Role.OWNER, frozenset({"canShare", "canMoveItemWithinDrive"}), Role.OWNER, True, lambda value: value is False
    ),
}


def restrictions_in(fields: Mapping[str, Any], *, inherited: bool = False) -> frozenset[str]:
    """Return the names of the restrictions that the stored fields of a file set. `inherited`: only the inherited ones.

    >>> sorted(restrictions_in({"writersCanShare": False, "viewersCanCopyContent": False}))
    ['writersCanShare']
    """
    return frozenset(
        name
        for name, restriction in RESTRICTIONS.items()
        if restriction.is_set(fields.get(name)) and (restriction.inherited or not inherited)
    )


def is_allowed(right: str, role: Role, restrictions: frozenset[str]) -> bool:
    """Return whether a role has a right on a file with these restrictions.

    >>> is_allowed("canShare", Role.WRITER, frozenset()), is_allowed("canShare", Role.WRITER, frozenset(RESTRICTIONS))
    (True, False)
    """
    binding = (RESTRICTIONS[name] for name in restrictions)
    applying = [rule for rule in binding if rule.exempt is None or role < rule.exempt]
    return role >= _MINIMUM_ROLES[right] and not any(right in rule.forbids for rule in applying)


def may_change_restrictions(role: Role, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether a role may make the changes to restricting fields from `before` to `after`.

    >>> may_change_restrictions(Role.WRITER, {"writersCanShare": False}, {})
    False
    """
    return all(
        role >= restriction.changed_by or _value(restriction, before.get(name)) == _value(restriction, after.get(name))
        for name, restriction in RESTRICTIONS.items()
    )


def _value(restriction: Restriction, stored: Any) -> Any:
    """Return a stored value for a comparison: a missing one is the default, and details of a list count."""
    return stored if isinstance(stored, list) and stored else restriction.is_set(stored)
