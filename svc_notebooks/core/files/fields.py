"""The table of the File resource's fields by name, including fields that this service never fills, and their checks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from unicodedata import normalize

from ..brand_names import Names
from ..errors.catalogue import NO_TEXT, ApiError, Row, row
from ..field_mask import FAMILY_FILE, Shape, shape_of, with_family_fields
from ..http.messages import JSON, JSONObject, has_lone_surrogate
from ..policy import Policy
from ..resources.field import Field, Write, fields_of
from ..resources.files import File, FileCapabilities, FileList, GeneratedIds
from ..times import parse_time

# The actions that a file may allow the caller, depending on the caller's role.
CAPABILITIES: Final = tuple(FileCapabilities.__annotations__)

BY_PATH: Mapping[str, Field] = {field.path: field for field in fields_of(File)}
FILE_FIELDS: Final = tuple(field for path, field in BY_PATH.items() if "." not in path and "[]" not in path)

FILE_SHAPE: Shape = with_family_fields(shape_of(File), FAMILY_FILE)
LIST_SHAPE: Shape = {**shape_of(FileList), "files": FILE_SHAPE}
IDS_SHAPE: Shape = shape_of(GeneratedIds)


# The media type is sent as a header. A type of the family has a second slash: script+text/plain.
_MEDIA_TYPE = re.compile(r"[!-.0-:<-~]+/[!-.0-:<-~]+(?:\+text/plain)?(?:[ \t]*;[\t -~]*)?")
_MAX_MEDIA_TYPE = 1000
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")


def is_media_type(text: str) -> bool:
    """Return whether a text has the syntax of a media type, with or without parameters."""
    return len(text) <= _MAX_MEDIA_TYPE and _MEDIA_TYPE.fullmatch(text) is not None


def _is_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(parse_time(value))
    except (ValueError, OverflowError):
        return False


# Maps each field type to a function that checks a value, and to the message for an invalid value.
TYPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "string": (lambda value: isinstance(value, str), "expected a string."),
    "boolean": (lambda value: isinstance(value, bool), "expected true or false."),
    "time": (_is_time, "expected an RFC 3339 date-time like 2026-01-02T03:04:05Z."),
    "media": (lambda value: isinstance(value, str) and is_media_type(value), "expected a media type like text/csv."),
    "colour": (
        lambda value: isinstance(value, str) and _COLOUR.fullmatch(value) is not None,
        "expected a colour like #4986e7.",
    ),
    "object": (lambda value: isinstance(value, dict), "expected an object."),
    "objects": (
        lambda value: isinstance(value, list) and all(isinstance(entry, dict) for entry in value),
        "expected a list of objects.",
    ),
    "parents": (
        lambda value: isinstance(value, list) and len(value) == 1 and isinstance(value[0], str),
        "expected a list with the id of one folder.",
    ),
    "map": (
        lambda value: isinstance(value, dict) and all(isinstance(text, str | None) for text in value.values()),
        "expected an object whose values are strings.",
    ),
    "target": (
        lambda value: isinstance(value, dict) and isinstance(value.get("targetId"), str) and len(value) == 1,
        "expected an object with targetId, the id of a file.",
    ),
}


def type_problem(field: Field, value: JSON) -> str | None:
    """Return the error message for a value of the wrong type, or None if the type is right."""
    is_valid, message = TYPES[field.type]
    return None if is_valid(value) else message


def check_file(body: JSONObject, *, creating: bool, names: Names, policy: Policy) -> JSONObject:
    """Check that a client may write each field of a body, and return the body. Null is always valid.

    Raises ApiError with all problems, status 400 before 403.
    """
    allowed = (Write.CREATE, Write.ALWAYS) if creating else (Write.ALWAYS,)
    problems = [row for name, value in body.items() for row in _problems(name, value, allowed, policy)]
    if message := names.media_type_problem(str(body.get("mimeType"))):
        problems.append(row("invalid", field="mimeType", message=message))
    if problems:
        raise ApiError(sorted(problems, key=lambda problem: problem.status))
    return body


def not_writable(field: Field | None, path: str) -> Row:
    """Return the error row for a field that a client cannot set, or for an unknown field (None)."""
    if field is None:
        return row("unknownField", field=path[:100].encode("utf-8", "replace").decode())
    if field.write is Write.CREATE:
        hint = " To move a file, use addParents and removeParents." if path == "parents" else ""
        return row("fieldOnCreation", field=path, hint=hint)
    return row("fieldAbsent" if field.never_set else "fieldNotWritable", field=path)


def _problems(name: str, value: JSON, allowed: tuple[Write, ...], policy: Policy) -> list[Row]:
    field = BY_PATH.get(name)
    if field is None or field.write not in allowed:
        return [not_writable(field, name)]
    if value is None:
        return []
    if message := type_problem(field, value) or (NO_TEXT if has_lone_surrogate(value) else None):
        return [row("invalid", field=name, message=message)]
    if field.members:
        return list(_members(field, value))
    return [row("invalid", decided_by=rule, field=name, message=wrong) for rule, wrong in _size(field, value, policy)]


def _members(field: Field, value: JSON) -> Iterator[Row]:
    """Yield an error row for each member of an object, or of a list of objects, that is unknown or has a wrong type."""
    is_list = isinstance(value, list)
    for index, entry in enumerate(value if isinstance(value, list) else [value]):
        for name, member in entry.items() if isinstance(entry, dict) else ():
            known = BY_PATH.get(f"{field.path}{'[]' * is_list}.{name}")
            path = f"{field.path}{f'[{index}]' * is_list}.{name}"
            if known is None or known.never_set:
                yield not_writable(known, path)
            elif member is not None and (message := type_problem(known, member)):
                yield row("invalid", field=path, message=message)


def _size(field: Field, value: JSON, policy: Policy) -> list[tuple[str, str]]:
    """Return the exceeded policy limit and an error message in a list, which is empty if no limit is exceeded."""
    if field.type != "map" or not isinstance(value, dict):
        return []
    if len(value) > policy.max_properties:
        return [("max_properties", f"expected at most {policy.max_properties} entries, not {len(value)}.")]
    for key, text in value.items():
        size = len(key.encode()) + len(str(text or "").encode())
        if size > policy.max_property_bytes:
            wrong = f"key and value of {key[:40]!r} have {size} bytes; the limit is {policy.max_property_bytes}."
            return [("max_property_bytes", wrong)]
    return []


_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")


def composed(text: str) -> str:
    """Return a text in the Unicode form NFC.

    >>> composed("A\\u030a") == composed("\\u212b") == "\\u00c5"
    True
    """
    return text if text.isascii() else normalize("NFC", text)


def name_key(text: str) -> str:
    """Return the form in which names are compared: in NFC, with ASCII letters in lower case."""
    return composed(text).translate(_LOWER)


def words_of(text: str) -> list[str]:
    """Return the words of a text, case-folded.

    >>> words_of("Straße_2, draft")
    ['strasse', '2', 'draft']
    """
    return _WORD.findall(composed(text).casefold())


def word_list(text: str) -> str:
    """Return the words of a text with a space before each word, so that ` x` matches words that begin with x."""
    return " ".join(["", *_WORD.findall(composed(text).casefold())])


def search_keys(name: str, extra: str) -> dict[str, str]:
    """Return the columns of a file by which it is searched and sorted. `extra` is JSON with the file's other texts."""
    words = word_list(name)
    other_texts: tuple[Any, ...] = ()
    if '"description"' in extra or '"contentHints"' in extra:
        fields = json.loads(extra)
        other_texts = (fields.get("description"), (fields.get("contentHints") or {}).get("indexableText"))
    return {
        "name_key": name_key(name),
        "natural_key": _DIGITS.sub(lambda digits: digits[0].zfill(20), composed(name).casefold()),
        "words": words,
        "all_words": words + "".join(word_list(text) for text in other_texts if isinstance(text, str)),
    }
