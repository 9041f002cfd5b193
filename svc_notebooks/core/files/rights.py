"""What a role may do with a file, and the fields of a file that restrict this.

A right has the name of the capability that shows it. The handlers, the web pages and the field `capabilities` all ask
`is_allowed`, so that no operation gets around a restriction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .fields import CAPABILITIES
from .permissions import Role

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
        lambda value: any(isinstance(each, dict) and each.get("readOnly") is True for each in value or ()),
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
    return role >= _MINIMUM_ROLES[right] and not any(
        right in each.forbids and (each.exempt is None or role < each.exempt) for each in binding
    )


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
