"""Reads the JSON object of a response, and refuses the objects of another program, such as a network's sign-in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from operator import methodcaller
from reprlib import Repr
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, Union, cast, get_args, get_origin, is_typeddict

from ..core.errors.errors import ServiceFailed
from ..core.http.messages import JSONObject, Response
from ..core.http.redaction import redact_text
from ..core.printable_text import printable
from ..core.resources.field import hints, split
from .transport.bounds import MAX_JSON_MEMORY
from .transport.urls import host_of

_T = TypeVar("_T")

# The `kind` of a resource, without the prefix, which is a brand name, if it is not the name of the TypedDict.
_OTHER_KINDS = {"channelResource": "channel", "eventList": "events"}

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 60

_NO_CONTENT = 204

_WIDE = re.compile(rb"[\xf0-\xff]|\\u[dD][89abAB]")
# The bytes of JSON with characters that take four bytes in memory, and of those that take two.
_NARROW = re.compile(rb"[\xc4-\xef]|\\u(?!00)")

_PER_VALUE, _MOST_PER_BYTE = 200, 80

_IS_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)
# The fields with whole numbers, which are texts because JSON numbers have fewer digits.
_NUMBERS = frozenset(
    ["expiration", "limit", "maxUploadSize", "quotaBytesUsed", "size", "usage", "usageInStorage", "usageInStorageTrash"]
)

_IDS = frozenset(
    {"id", "ids", "parents", "fileId", "driveId", "teamDriveId", "targetId", "headRevisionId", "permissionId"}
    | {"recurringEventId", "resourceId"}
)
_TOKENS = frozenset(["nextPageToken", "startPageToken", "newStartPageToken", "nextSyncToken"])
_MAX_ID, _MAX_TOKEN = 2048, 8192


def parse_object(content: bytes) -> JSONObject | None:
    """Return the JSON object in a response, or None if it is not one, or takes more memory than the client uses."""
    if len(content) * _MOST_PER_BYTE > MAX_JSON_MEMORY and _memory(content) > MAX_JSON_MEMORY:
        return None
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _memory(content: bytes) -> int:
    """Return the most bytes of memory for a JSON text, for the decoded text, and for its values."""
    width = 4 if _WIDE.search(content) else 2 if _NARROW.search(content) else 1
    return len(content) * (1 + 2 * width) + _PER_VALUE * sum(map(content.count, (b",", b"[", b"{")))


def read_object(response: Response, url: str) -> JSONObject:
    """Return a response's JSON object, or {} for a 204. Raises ServiceFailed, with the host of `url`, otherwise."""
    parsed = {} if response.status == _NO_CONTENT else parse_object(response.content())
    if parsed is None:
        raise _not_expected(response, url, f"not a JSON object of at most {MAX_JSON_MEMORY // 10**6} MB in memory")
    return parsed


def check_no_content(response: Response, url: str) -> None:
    """Raise ServiceFailed, with the host of `url`, for a success that is not a 204."""
    if response.status != _NO_CONTENT:
        raise _not_expected(response, url, f"not a {_NO_CONTENT} without content")


def _not_expected(response: Response, url: str, expected: str) -> ServiceFailed:
    content = response.content()
    media_type = printable(response.headers.get("Content-Type") or "content without a type", 60)
    page = ", perhaps the error page of a proxy or the sign-in page of a network" if "html" in media_type else ""
    problem = f"it is {media_type if content else 'empty'}{page}, and {expected}"
    return foreign_answer(url, problem, content[:500].decode("utf-8", "replace"), response.status)


def read_resource(
    answer: JSONObject, resource: type[_T], url: str, fields: object = None, *, identifier: object = None
) -> _T:
    """Return a JSON object as a resource. Raises ServiceFailed if it is not one.

    It must have an id, or some of the fields in the mask `fields`, the `kind` of the resource if it has one, and values
    of the types in the TypedDict `resource`. A service may leave out a requested field, or ignore a mask. `identifier`
    is the id of the requested resource, or None if not known.

    >>> from svc_notebooks.core.resources.files import File
    >>> read_resource({"size": "5"}, File, "https://x", "size,md5Checksum")
    {'size': '5'}
    """
    mask = str(fields or "*").partition("(")[0].split(",")
    named = "id" in mask or "*" in mask
    found = answer.keys() & _rules(cast(Any, resource)).keys()
    if not named:
        found &= {*re.findall(r"\w+", str(fields)), "id", "kind"}
    problem = ""
    if named and not (isinstance(answer.get("id"), str) and answer["id"]):
        problem = "it has no id"
    elif not found:
        problem = f"it has none of the fields {', '.join(mask)}"
    elif len(found) == 1 and named and len(mask) + ("*" in mask) > 1:
        problem = "it has an id, but no other field of the resource"
    elif identifier is not None and "id" in answer and answer["id"] != identifier:
        problem = f"it has the id {printable(str(answer['id']), 60)!r}, and not {identifier!r}"
    return cast(_T, _checked(answer, resource, url, problem))


def read_fields(answer: JSONObject, resource: type[_T], url: str, *alternatives: str) -> _T:
    """Return a JSON object that has one of the fields as a resource. Raises ServiceFailed for any other object."""
    has_one = [answer[name] for name in alternatives if answer.get(name) is not None]
    problem = "" if has_one else f"it does not have the field {' or '.join(alternatives)}"
    return cast(_T, _checked(answer, resource, url, problem))


def read_page(answer: JSONObject, resource: type, url: str, key: str, fields: object = None) -> list[JSONObject]:
    """Return the list `key` of a page of resources. Raises ServiceFailed if it is not one, or if an entry has no id.

    `fields` is the mask of the request, and None if there was none.
    """
    page: Any = read_fields(answer, resource, url, key, "kind", "nextPageToken")
    members: list[JSONObject] = page.get(key) or []
    has_ids = fields is None or re.search(r"[(,](id|\*)[,)]", str(fields))
    if has_ids and not all(map(methodcaller("get", "id"), members)):
        raise foreign_answer(url, f"an entry of its list {key} has no id", _SHORT.repr(answer))
    return members


def _checked(answer: JSONObject, resource: type, url: str, problem: str) -> JSONObject:
    if not problem and (name := _wrong_field(answer, resource)):
        problem = f"its field {printable(name, 60)} does not have the type of the interface"
    if problem:
        raise foreign_answer(url, problem, _SHORT.repr(answer))
    return answer


@contextmanager
def reading(url: str) -> Iterator[None]:
    """Raise ServiceFailed in place of the errors of Python for values that the service at `url` should not send."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise foreign_answer(url, f"it has a value that cannot be read ({type(error).__name__})", str(error)) from None


def foreign_answer(url: str, problem: str, text: str, status: int | None = None) -> ServiceFailed:
    """Return the error for a response of another program, for the caller to raise. `text` is its beginning."""
    return ServiceFailed(
        f"The response from {host_of(url)} is not an answer of this service: {printable(problem)}. It begins with"
        f" '{printable(redact_text(text), 60)}'.",
        status=status,
        advice="Check base_url, and whether the network requires a sign-in. The request may have had no effect.",
    )


class _Rule(NamedTuple):
    """The types of a field, and the types of its members, or their TypedDict. None allows any members.

    `is_map` is True for an object whose members have any names. `allows` returns whether a value is one of the field.
    """

    types: frozenset[type]
    members: frozenset[type] | type | None = None
    is_map: bool = False
    allows: Callable[[Any], object] | None = None


@cache
def _rules(resource: Any) -> Mapping[str, _Rule]:
    rules = {name: _rule(split(annotation)[0]) for name, annotation in hints(resource).items()}
    checks: dict[str, Callable[[Any], object]] = {name: _are_ids for name in rules.keys() & _IDS}
    checks |= {name: lambda value: len(value) <= _MAX_TOKEN and value.isprintable() for name in rules.keys() & _TOKENS}
    checks |= {name: lambda value: _IS_NUMBER.fullmatch(str(value)) for name in rules.keys() & _NUMBERS}
    checks["kind"] = lambda value: value.rpartition("#")[2] == _kind(resource)
    if _kind(resource) == "channel":
        del checks["id"]  # which the client has chosen
    return {name: rule._replace(allows=checks.get(name)) for name, rule in rules.items()}


def _are_ids(value: Any) -> bool:
    for text in value if type(value) is list else (value,):
        if type(text) is not str or not 0 < len(text) <= _MAX_ID or not text.isprintable():
            return False
        if "." in text and {".", ".."} & set(text.split("/")):  # an id of another service may contain slashes
            return False
    return True


def _rule(hint: Any) -> _Rule:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _Rule(frozenset().union(*(_rule(part).types for part in arguments)))
    if origin in (list, dict):
        members = arguments[-1]
        allowed = None if members is Any else members if is_typeddict(members) else _rule(members).types | {NoneType}
        return _Rule(frozenset({origin}), allowed, origin is dict)
    return _Rule(frozenset({dict}), hint) if is_typeddict(hint) else _Rule(frozenset({hint}))


@cache
def _kind(resource: Any) -> str:
    name = str(resource.__name__[0].lower() + resource.__name__[1:])
    return _OTHER_KINDS.get(name, name)


def _wrong_field(value: Mapping[str, Any], resource: type) -> str:
    """Return the path of the first field whose value does not have the type in a TypedDict, or "" if all have it."""
    rules = _rules(resource)
    for name, entry in value.items():
        rule = rules.get(name)
        if rule is None or entry is None:
            continue
        if type(entry) not in rule.types or (rule.allows and not rule.allows(entry)):
            return name
        if rule.members is None:
            continue
        members = entry if type(entry) is list else entry.values() if rule.is_map else (entry,)
        if isinstance(rule.members, frozenset):
            if not rule.members.issuperset(map(type, members)):
                return name
            continue
        for member in members:
            if type(member) is not dict:
                return name
            if wrong := _wrong_field(member, rule.members):
                return f"{name}.{wrong}"
    return ""
