"""Reads e-mail addresses as people write them: in one text, a list, a column or a DataFrame, with or without names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..core.events.value_checks import is_address
from .arguments import choice, column_values, is_frame, is_missing
from .frames.frames import camel

_AT_COMMAS = re.compile(r'(?:"[^"]*"|[^",;\n])+')
_AT_SEMICOLONS = re.compile(r'(?:"[^"]*"|[^";\n])+')
_ENTRY = re.compile(r"[^<>@]{0,200}<[^<>]*>|[^\s,]+")
_NAME_AND_ADDRESS = re.compile(r"(?P<name>[^<>]*)<\s*(?P<address>[^<>]*?)\s*>")


def people(argument: str, value: Any) -> list[dict[str, Any]]:
    """Return people as dicts with the key `email`, and `displayName` if a name is given.

    `value` is a text with addresses as for `read_people`, a dict, a DataFrame with a column email, or a list, a column
    or another iterable of texts and dicts. The keys of a dict may be in snake_case. A row of `permissions()` is an
    address, "anyone" or a domain like "domain:example.com". An entry that is not an address is the email as it is.
    Raises TypeError for another type, and ValueError for a missing value or email of a DataFrame.

    >>> people("attendees", ["Lee, Ann <ann@x.example>", "bob@x.example"])[0]
    {'email': 'ann@x.example', 'displayName': 'Lee, Ann'}
    """
    expected = f"{argument} must be e-mail addresses: a str, a list of str or dicts, a column or a DataFrame"
    members = value.to_dict("records") if is_frame(value) else [value] if isinstance(value, str | Mapping) else value
    if not isinstance(members, Iterable) or isinstance(members, bytes | bytearray):
        raise TypeError(f"{expected}, not {type(value).__name__}")
    listed: list[dict[str, Any]] = []
    for n, member in enumerate(members):
        if isinstance(member, Mapping):
            fields = {camel(str(key)): field for key, field in member.items() if not is_missing(field)}
            fields = _grantee(fields) or fields
            if is_frame(value) and "email" not in fields:
                raise ValueError(f"{argument} has no address in row {n}; give the addresses in a column email")
            listed.append({**_person_or_entry(fields.pop("email")), **fields} if "email" in fields else fields)
        elif isinstance(member, str):
            whole = None if isinstance(value, str) or "@" in member.partition("<")[0] else _person(member)
            listed += [whole] if whole else map(_person_or_entry, [*_entries(member)] or [member])
        elif is_missing(member):
            raise ValueError(f"{argument} has no address in entry {n}, but {member!r}; leave out missing addresses")
        else:
            raise TypeError(f"{expected}; it has {member!r:.60}")
    return listed


def roles_of(people: object, role: object, count: int, allowed: Iterable[str]) -> list[str]:
    """Return the role of each of `count` people: one for all, a column, or for None the column role of a DataFrame.

    A DataFrame without this column, and other people, are readers. Raises ValueError for a role that is not allowed.
    """
    default = people["role"] if is_frame(people) and "role" in people else "reader"
    given = default if role is None else role
    return [choice("role", each, allowed) for each in column_values("role", given, count, "grantee") or [given] * count]


def _grantee(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return whom a row of permissions names, or None for another dict."""
    if "domain" in fields:
        return {"email": f"domain:{fields['domain']}"}
    grantee = fields.get("emailAddress") or ("anyone" if fields.get("type") == "anyone" else None)
    return {"email": grantee} if grantee else None


def read_people(text: str) -> tuple[list[dict[str, str]], list[str]]:
    """Return the people in a text, and the entries that are not e-mail addresses.

    Commas, semicolons, line breaks and spaces between addresses separate the people. An entry is an address, or a name
    with the address in angle brackets. In a text with semicolons, a name can contain a comma, as in mail programs.

    Returns:
        The people as entries of the event field `attendees`, with `email` and perhaps `displayName`, and the other
        entries as texts, both in the order of the text.

    >>> read_people("ada@svc.example, Bob <bob@svc.example>")
    ([{'email': 'ada@svc.example'}, {'email': 'bob@svc.example', 'displayName': 'Bob'}], [])
    >>> read_people("Lovelace, Ada <ada@svc.example>; bob@")
    ([{'email': 'ada@svc.example', 'displayName': 'Lovelace, Ada'}], ['bob@'])
    """
    read = [(entry, _person(entry)) for entry in _entries(text)]
    return [person for _, person in read if person], [entry for entry, person in read if not person]


def _entries(text: str) -> Iterator[str]:
    """Yield the parts of a text that each should be one person."""
    for part in (_AT_SEMICOLONS if ";" in text else _AT_COMMAS).findall(text):
        part = part.strip(" \t\r,")
        if part and (is_address(part) or "@" not in part):
            yield part
        else:
            yield from (match[0].strip(" \t\r,") for match in _ENTRY.finditer(part))


def _person(entry: str) -> dict[str, str] | None:
    match = _NAME_AND_ADDRESS.fullmatch(entry.strip())
    address, name = (match["address"], match["name"].strip(' "')) if match else (entry.strip(), "")
    address = address.removeprefix("mailto:")
    if not is_address(address):
        return None
    return {"email": address, **({"displayName": name} if name else {})}


def _person_or_entry(entry: Any) -> dict[str, Any]:
    return (_person(entry) if isinstance(entry, str) else None) or {"email": entry}
