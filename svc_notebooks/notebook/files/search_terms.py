"""Builds a query of the interface from the keyword arguments of `files()`.

The query language has no wildcards. So a name or media type with wildcards also gives a pattern, which `files()` tests
on the listed files. The query then has only the text before the first wildcard, which narrows the list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from fnmatch import translate
from glob import escape
from mimetypes import guess_type
from typing import TYPE_CHECKING, Any, NamedTuple

from ...client.files import list_files
from ...core.brand_names import NATIVE_NAMES, Names
from ...core.clock import format_time
from ...core.files.fields import composed, name_key
from ...core.files.query import quote
from ...core.resources.files import File
from ...core.time_arguments import instant_of
from ..arguments import file_ids, flag, texts
from ..people import people

if TYPE_CHECKING:
    from ...client.session import Session

_MOST_VALUES = 100
"""The largest number of names or media types to put into a query, because a query has at most 200 terms."""
_LONGEST_TERM = 12_000
"""The largest number of characters of these names in a query, which has at most 16,384."""
_MOST_CHARACTERS = 200
"""The largest number of characters to put into a query of the text before a wildcard."""
_AT_ONCE = 20
"""The number of patterns that are looked up as names in one request."""
_HEAD = re.compile(r"(?:\[[*?[]\]|[^*?])*")
"""The part of a pattern before its first wildcard. [*], [?] and [[] are literal characters."""
_BRACKET = re.compile(r"\[([*?[])\]|\[")


class _Context(NamedTuple):
    names: Names
    now: datetime


@dataclass(frozen=True, slots=True)
class _Condition:
    """A term of a query, or None, and a pattern for the metadata `key` of the files that the query matches."""

    term: str | None
    key: str = ""
    pattern: re.Pattern[str] | None = None

    def matches(self, file: File) -> bool:
        return self.pattern is None or self.pattern.fullmatch(composed(str(file.get(self.key, "")))) is not None


@dataclass(frozen=True, slots=True)
class InFolders:
    """The condition that a file is in one of many folders, which a query cannot name."""

    folders: set[str]
    key: str = "parents"

    def matches(self, file: File) -> bool:
        return not self.folders.isdisjoint(file.get("parents") or ())


@dataclass(frozen=True, slots=True)
class FileFilter:
    """A query, or None for all files, and conditions that the query cannot express."""

    query: str | None
    conditions: tuple[_Condition | InFolders, ...]

    def matches(self, file: File) -> bool:
        """Return whether a file that the query matches fulfils the other conditions too."""
        return all(condition.matches(file) for condition in self.conditions)


def file_filter(query: str | None, values: Mapping[str, Any], *, names: Names, now: datetime) -> FileFilter | None:
    """Return the filter for files that match a query and all keyword arguments, whose value None means no condition.

    Return None if no file can match, because a value is an empty list. Raises TypeError or ValueError, with the name of
    the argument in the message, for an invalid value.

    >>> selection = file_filter("starred = true", {"name": "it's*"}, names=Names(), now=datetime.now())
    >>> print(selection.query)
    (starred = true) and name contains 'it\\'s'
    >>> selection.matches({"name": "It's late.txt"})
    True
    """
    context = _Context(names, now)
    read = [CONDITIONS[name](name, value, context) for name, value in values.items() if value is not None]
    conditions = [condition for condition in read if condition is not None]
    if len(conditions) < len(read):
        return None
    terms = [condition.term for condition in conditions if condition.term]
    if query is not None and query.strip():
        terms = [f"({query})" if terms else query, *terms]
    return FileFilter(" and ".join(terms) or None, tuple(entry for entry in conditions if entry.pattern))


def _any_of(terms: Iterable[str]) -> str:
    text = " or ".join(dict.fromkeys(terms))
    return f"({text})" if " or " in text else text


def _text_condition(key: str, values: list[str]) -> _Condition | None:
    """Return the condition that a metadata text is one of `values`, which may have the wildcards * and ?."""
    if not values:
        return None
    terms = [_term(key, text) for text in values]
    joined = _any_of(filter(None, terms))
    is_short = len(values) <= _MOST_VALUES and len(joined) <= _LONGEST_TERM
    term = joined if is_short and all(terms) else None
    if term and all(map(_is_exact, values)):
        return _Condition(term)
    return _Condition(term, key, re.compile("|".join(map(_pattern, values)), re.IGNORECASE))


def _term(key: str, text: str) -> str | None:
    """Return the term for a text or a pattern, or None for a pattern that begins with a wildcard."""
    if _is_exact(text):
        return f"{key} = {quote(_unescaped(text))}"
    prefix = _unescaped(_HEAD.match(composed(text))[0])[:_MOST_CHARACTERS]  # type: ignore[index]
    return f"{key} contains {quote(prefix)}" if prefix else None


def _is_exact(text: str) -> bool:
    """Return whether the operator = finds all texts that match. It ignores only the case of ASCII letters."""
    return text.isascii() and not _has_wildcard(text)


def _has_wildcard(text: str) -> bool:
    return _HEAD.fullmatch(text) is None


def _unescaped(text: str) -> str:
    return _BRACKET.sub(lambda match: match[1] or match[0], text)


def _pattern(text: str) -> str:
    """Return the regular expression of a pattern. Other brackets than [*], [?] and [[] are literal."""
    return translate(_BRACKET.sub(lambda match: match[0] if match[1] else "[[]", composed(text)))


def as_written(session: Session, names: list[str]) -> list[str]:
    """Return patterns for names that may have wildcards. A name that some file has as it is written is literal.

    A file in the trash or in another folder counts too, so that a repeated call does not select further files.
    """
    special = [text for text in names if _unescaped(text) != text or _has_wildcard(text)]
    existing: set[str] = set()
    for first in range(0, len(special), _AT_ONCE):
        query = _any_of(f"name = {quote(text)}" for text in special[first : first + _AT_ONCE])
        existing.update(name_key(str(file.get("name"))) for file in list_files(session, q=query, fields="name"))
    return [escape(text) if name_key(text) in existing else text for text in names]


def _name(argument: str, value: Any, context: _Context) -> _Condition | None:
    return _text_condition("name", texts(argument, value))


def _mime_type(argument: str, value: Any, context: _Context) -> _Condition | None:
    return _text_condition("mimeType", [_media_type(argument, text, context.names) for text in texts(argument, value)])


def _media_type(argument: str, text: str, names: Names) -> str:
    """Return a media type, or the media type of a short name such as "folder". Raises ValueError for another text."""
    media_type = names.full_media_type(text, argument)
    if "/" in media_type or _has_wildcard(media_type):
        return media_type
    near = guess_type(f"x.{text.lstrip('.')}")[0] or next(iter(get_close_matches(text.lower(), NATIVE_NAMES, 1)), None)
    hint = f"; did you mean {near!r}?" if near else ""
    raise ValueError(
        f"{argument} must be a media type such as 'text/csv' or 'image/*', or one of {', '.join(NATIVE_NAMES)},"
        f" not {text!r}{hint}"
    )


def _folder(argument: str, value: Any, context: _Context) -> _Condition | None:
    ids = file_ids(value, argument)
    return _Condition(_any_of(f"{quote(folder)} in parents" for folder in ids)) if ids else None


def _owner(argument: str, value: Any, context: _Context) -> _Condition | None:
    addresses = texts(argument, value)
    owners = [str(person["email"]) for person in people(argument, value if isinstance(value, str) else addresses)]
    if wrong := [owner for owner in owners if "@" not in owner and owner != "me"]:
        raise ValueError(f"{argument} has {wrong[0]!r}; give an e-mail address or 'me'")
    return _Condition(_any_of(f"{quote(owner)} in owners" for owner in owners)) if owners else None


def _text(argument: str, value: Any, context: _Context) -> _Condition:
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a str, not {type(value).__name__}")
    if not value.strip():
        raise ValueError(f"{argument} is {value!r}, which is empty; leave {argument} out, or give a text")
    return _Condition(f"fullText contains {quote(value)}")


def _time(argument: str, value: Any, context: _Context) -> _Condition:
    moment = format_time(instant_of(argument, value, context.now))
    field, _, side = argument.partition("_")
    return _Condition(f"{field}Time {'>' if side == 'after' else '<'} {quote(moment)}")


def _flag(argument: str, value: Any, context: _Context) -> _Condition:
    field = "sharedWithMe" if argument == "shared_with_me" else argument
    return _Condition(f"{field} = {'true' if flag(argument, value) else 'false'}")


def _properties(argument: str, value: Any, context: _Context) -> _Condition:
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for pair in value.items() for text in pair):
        raise TypeError(f"{argument} must be a dict of texts such as {{'lab': '7'}}, not {value!r:.60}")
    terms = (f"properties has {{key={quote(key)} and value={quote(text)}}}" for key, text in value.items())
    return _Condition(" and ".join(terms) or None)


CONDITIONS: Mapping[str, Callable[[str, Any, _Context], _Condition | None]] = {
    "name": _name,
    "text": _text,
    "mime_type": _mime_type,
    "folder": _folder,
    "owner": _owner,
    "modified_after": _time,
    "modified_before": _time,
    "created_after": _time,
    "created_before": _time,
    "trashed": _flag,
    "starred": _flag,
    "shared_with_me": _flag,
    "properties": _properties,
}
"""The function that reads each keyword argument of `files()`. It returns None if no file can match."""
