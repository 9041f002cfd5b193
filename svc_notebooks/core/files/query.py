"""Parses the query languages of `q` and `orderBy`. The store translates the result to SQL.

    query  = and *("or" and)
    and    = not *("and" not)
    not    = *"not" ( "(" query ")" | term )
    term   = field operator value | value "in" collection | field "has" "{" key... "and" value... "}"

`not` binds tighter than `and`, `and` tighter than `or`. Strings are between apostrophes, with `\\'` and `\\\\`
for an apostrophe and a backslash. A query that is too deep or too long is rejected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from ..clock import parse_time, to_millis
from ..errors.catalogue import ApiError, refuse

MAX_DEPTH = 40
MAX_TERMS = 200
MAX_CHARACTERS = 16_384
MAX_SEARCH_TEXT = 4096


@dataclass(frozen=True, slots=True)
class Compare:
    """A search term that compares a field with a string, a boolean or a time in Unix milliseconds."""

    field: str
    operator: str
    value: str | bool | int


@dataclass(frozen=True, slots=True)
class Member:
    """A search term that tests whether a file's parents, owners, writers or readers contain a value."""

    value: str
    collection: str


@dataclass(frozen=True, slots=True)
class Has:
    """A search term that tests whether `properties` or `appProperties` contain a key with a value."""

    field: str
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Not:
    """A search that matches the files that `inner` does not match."""

    inner: Search


@dataclass(frozen=True, slots=True)
class And:
    """A search that matches the files that all `parts` match."""

    parts: tuple[Search, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """A search that matches the files that at least one of `parts` matches."""

    parts: tuple[Search, ...]


Search: TypeAlias = Compare | Member | Has | Not | And | Or

_EQUAL = ("=", "!=")
_ORDER = ("<=", "<", "=", "!=", ">", ">=")
_TEXT = ("contains", *_EQUAL)
_VISIBILITY = ("anyoneCanFind", "anyoneWithLink", "domainCanFind", "domainWithLink", "limited")

# fmt: off
FIELDS: dict[str, tuple[str, tuple[str, ...]]] = {
    # field                     type       operators
    "name":                     ("string", _TEXT),
    "fullText":                 ("string", ("contains",)),
    "mimeType":                 ("string", _TEXT),
    "modifiedTime":             ("time",   _ORDER),
    "createdTime":              ("time",   _ORDER),
    "viewedByMeTime":           ("time",   _ORDER),
    "trashed":                  ("truth",  _EQUAL),
    "starred":                  ("truth",  _EQUAL),
    "sharedWithMe":             ("truth",  _EQUAL),
    "visibility":               ("choice", _EQUAL),
    "shortcutDetails.targetId": ("string", _EQUAL),
}
# fmt: on
COLLECTIONS = ("parents", "owners", "writers", "readers")
PAIRS = ("properties", "appProperties")

_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(
    r"\s*(?:(?P<string>'(?:[^'\\]|\\.)*')|(?P<sign><=|>=|!=|[<>=(){}])|(?P<word>[A-Za-z][A-Za-z.]*))",
    re.DOTALL,
)


def parse_query(text: str) -> Search:
    r"""Parse a `q` parameter into a search tree. Raises ApiError (400 invalid, location q) if invalid.

    >>> parse_query(r"not name = 'it\'s'")
    Not(inner=Compare(field='name', operator='=', value="it's"))
    """
    if len(text) > MAX_CHARACTERS:
        raise _invalid_query(f"has more than {MAX_CHARACTERS} characters.")
    reader = _Reader(_tokens(text))
    search = reader.disjunction(0)
    reader.expect("")
    return search


def _invalid_query(message: str) -> ApiError:
    return refuse("invalidValue", name="q", message=message)


def _tokens(text: str) -> list[str]:
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if not match:
            raise _invalid_query(f"syntax error at {text[at : at + 20]!r}.")
        tokens.append(match["string"] or match[0].strip())
        at = match.end()
    return tokens


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._terms = 0

    def peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self._at += 1
        return token

    def expect(self, token: str) -> None:
        if (actual := self.next()) != token:
            raise _invalid_query(f"expected {token or 'the end'}, found {actual[:40] or 'the end'}.")

    def string(self) -> str:
        if not (token := self.next()).startswith("'"):
            raise _invalid_query(f"expected a string between apostrophes, found {token[:40] or 'the end'}.")
        return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)

    def disjunction(self, depth: int) -> Search:
        parts = [self.conjunction(depth)]
        while self.peek() == "or":
            self.next()
            parts.append(self.conjunction(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def conjunction(self, depth: int) -> Search:
        parts = [self.negation(depth)]
        while self.peek() == "and":
            self.next()
            parts.append(self.negation(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def negation(self, depth: int) -> Search:
        negative = False
        while self.peek() == "not":
            self.next()
            negative = not negative
        search = self.group(depth) if self.peek() == "(" else self.term()
        return Not(search) if negative else search

    def group(self, depth: int) -> Search:
        if depth >= MAX_DEPTH:
            raise _invalid_query(f"parentheses are nested more than {MAX_DEPTH} deep.")
        self.next()
        search = self.disjunction(depth + 1)
        self.expect(")")
        return search

    def term(self) -> Search:
        self.count()
        if self.peek().startswith("'"):
            return self.member()
        name = self.next()
        if name in PAIRS:
            return self.has(name)
        if name not in FIELDS:
            raise _invalid_query(f"{name[:40] or 'the end'} is not a field; the fields are {', '.join(FIELDS)}.")
        return self.compare(name)

    def member(self) -> Search:
        value = self.string()
        self.expect("in")
        if (collection := self.next()) not in COLLECTIONS:
            raise _invalid_query(
                f"the field after 'in' must be one of {', '.join(COLLECTIONS)}, not {collection[:40]}."
            )
        return Member(value, collection)

    def has(self, name: str) -> Search:
        self.expect("has")
        self.expect("{")
        first = self.pair()
        self.expect("and")
        pair = dict([first, self.pair()])
        self.expect("}")
        if set(pair) != {"key", "value"}:
            raise _invalid_query(f"the operator 'has' of {name} needs {{key='...' and value='...'}}.")
        return Has(name, pair["key"], pair["value"])

    def pair(self) -> tuple[str, str]:
        name = self.next()
        self.expect("=")
        return name, self.string()

    def compare(self, name: str) -> Search:
        value_type, operators = FIELDS[name]
        if name == "sharedWithMe" and self.peek() in ("", "and", "or", ")"):
            return Compare(name, "=", True)  # clients of the family send only the field name
        if (operator := self.next()) not in operators:
            raise _invalid_query(
                f"the operator of {name} must be one of {', '.join(operators)}, not {operator[:40] or 'the end'}."
            )
        value = self.value(value_type)
        if operator == "contains":
            self.check_search_text(name, str(value))
        return Compare(name, operator, value)

    def check_search_text(self, name: str, text: str) -> None:
        """Limit the length and word count of a `contains` text, because databases limit patterns and conditions."""
        if len(text) > MAX_SEARCH_TEXT:
            raise _invalid_query(f"the text for '{name} contains' has more than {MAX_SEARCH_TEXT} characters.")
        if name == "fullText":
            self.count(max(0, len(_WORD.findall(text.casefold())) - 1))

    def count(self, terms: int = 1) -> None:
        self._terms += terms
        if self._terms > MAX_TERMS:
            raise _invalid_query(f"has more than {MAX_TERMS} terms; each word of fullText counts as a term.")

    def value(self, value_type: str) -> str | bool | int:
        if value_type == "truth":
            if (token := self.next()) not in ("true", "false"):
                raise _invalid_query(f"expected true or false, found {token[:40] or 'the end'}.")
            return token == "true"
        text = self.string()
        if value_type == "choice" and text not in _VISIBILITY:
            raise _invalid_query(f"visibility must be one of {', '.join(_VISIBILITY)}.")
        if value_type != "time":
            return text
        try:
            return to_millis(parse_time(text if "T" in text.upper() else f"{text}T00:00:00"))
        except (ValueError, OverflowError):
            raise _invalid_query(f"{text[:40]!r} is not an RFC 3339 date-time.") from None


def mentions(search: Search, field: str) -> bool:
    """Return whether any comparison in a search tree uses this field."""
    if isinstance(search, And | Or):
        return any(mentions(part, field) for part in search.parts)
    if isinstance(search, Not):
        return mentions(search.inner, field)
    return isinstance(search, Compare) and search.field == field


SORT_KEYS = (
    "createdTime", "folder", "modifiedByMeTime", "modifiedTime", "name", "name_natural", "quotaBytesUsed",
    "recency", "sharedWithMeTime", "starred", "viewedByMeTime",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SortKey:
    """A sort key of the parameter `orderBy`, ascending unless `descending` is True."""

    name: str
    descending: bool = False


def parse_order(text: str) -> tuple[SortKey, ...]:
    """Parse the parameter `orderBy` into sort keys. Raises ApiError for an unknown or repeated key.

    >>> parse_order("folder,modifiedTime desc")
    (SortKey(name='folder', descending=False), SortKey(name='modifiedTime', descending=True))
    """
    keys: dict[str, SortKey] = {}
    duplicates: list[str] = []
    for item in text.split(",") if text.strip() else ():
        name, *direction = item.split() or [""]
        if name not in SORT_KEYS or direction not in ([], ["asc"], ["desc"]):
            message = (
                f"{item.strip()[:40]!r} is not a sort key; the keys are {', '.join(SORT_KEYS)}, with or without desc."
            )
            raise refuse("invalidValue", name="orderBy", message=message)
        if name in keys:
            duplicates.append(name)
        keys[name] = SortKey(name, direction == ["desc"])
    if duplicates:  # reported only after every key was checked
        raise refuse("duplicateSortKeys", key=duplicates[0])
    return tuple(keys.values())
