"""Parses the query language of `q`. The store translates the result to SQL.

    query  = and *("or" and)
    and    = not *("and" not)
    not    = *"not" ( "(" query ")" | term )
    term   = field operator value | value "in" collection | collection "in" value
           | field "has" "{" key... "and" value... "}"

`not` binds tighter than `and`, `and` tighter than `or`. Strings are between apostrophes, with `\\'` and `\\\\`
for an apostrophe and a backslash. Stock clients also write `collection in value`, words such as `AND` and `True` in any
case, and strings between double quotes. A query that is too deep or too long is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from ..errors.catalogue import ApiError, refuse, row
from ..suggestions import nearest_name
from ..times import parse_time, to_millis
from .fields import words_of

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

_TOKEN = re.compile(
    r"\s*(?P<token>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|<=|>=|!=|[<>=(){}]|[A-Za-z][A-Za-z0-9_.]*)", re.DOTALL
)
_QUOTES = ("'", '"')
_WORDS = frozenset({"and", "or", "not", "in", "has", "contains", "true", "false"})
_ESCAPE = r"; a string ends at the next apostrophe, and \' is an apostrophe inside of it"
_NO_ALIASES: Mapping[str, str] = MappingProxyType({})


class QueryError(ApiError):
    """The 400 (invalid, location q) for a query, with the `problem` of the characters from `start` to `end`."""

    def __init__(self, problem: str, start: int, end: int) -> None:
        super().__init__([row("invalidValue", name="q", message=problem)])
        self.problem = problem
        self.start = start
        self.end = end


class _Token(NamedTuple):
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def quote(text: str) -> str:
    r"""Return a text as a quoted string of the query language, which `parse_query` reads as the same text.

    >>> print(quote("it's"))
    'it\'s'
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def parse_query(text: str, aliases: Mapping[str, str] = _NO_ALIASES) -> Search:
    r"""Parse a `q` parameter into a search tree. Raises QueryError (an ApiError) if invalid.

    `aliases` are further names of fields, for a client that accepts `modified_time` too.

    >>> parse_query(r"not name = 'it\'s'")
    Not(inner=Compare(field='name', operator='=', value="it's"))
    """
    if len(text) > MAX_CHARACTERS:
        raise QueryError(f"has more than {MAX_CHARACTERS} characters.", MAX_CHARACTERS, len(text))
    reader = _Reader(text, aliases)
    search = reader.disjunction(0)
    reader.expect("")
    return search


def _tokens(text: str) -> Iterator[_Token]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if not match:
            rest = text[at:].lstrip()
            part = rest.split(maxsplit=1)[0][:20]
            start = len(text) - len(rest)
            raise QueryError(f"syntax error at {part!r}{_quotes_hint(part[0])}.", start, start + len(part))
        token = match["token"]
        yield _Token(token.lower() if token.lower() in _WORDS else token, match.start("token"))
        at = match.end()


def _quotes_hint(character: str) -> str:
    if character in _QUOTES:
        return _ESCAPE
    if character.isdigit():
        return "; write strings and times between apostrophes, such as '2026-01-31'"
    return ""


class _Reader:
    def __init__(self, text: str, aliases: Mapping[str, str]) -> None:
        self._source = _tokens(text)
        self._tokens: list[_Token] = []
        self._end = _Token("", len(text))
        self._aliases = aliases
        self._at = 0
        self._terms = 0

    def peek(self) -> str:
        return self._token(self._at).text

    def next(self) -> str:
        self._at += 1
        return self._token(self._at - 1).text

    def _token(self, at: int) -> _Token:
        while len(self._tokens) <= at:
            self._tokens.append(next(self._source, self._end))
        return self._tokens[at]

    def error(self, problem: str) -> QueryError:
        """Return the error for the token that was read last, for the caller to raise."""
        token = self._token(self._at - 1)
        return QueryError(problem, token.start, token.end)

    def unexpected(self, expected: str, actual: str, hint: str = "") -> QueryError:
        return self.error(f"expected {expected}, found {actual[:40] or 'the end'}{hint}.")

    def expect(self, token: str) -> None:
        if (actual := self.next()) != token:
            before = self._token(self._at - 2)
            adjoins = (
                before.text.startswith(_QUOTES) and before.end == self._token(self._at - 1).start and actual.isalpha()
            )
            hint = _ESCAPE if adjoins else ""
            raise self.unexpected(f"{token!r}" if token else "'and', 'or' or the end", actual, hint)

    def string(self) -> str:
        if not (token := self.next()).startswith(_QUOTES):
            raise self.unexpected("a string between apostrophes", token)
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
        self.next()
        if depth >= MAX_DEPTH:
            raise self.error(f"parentheses are nested more than {MAX_DEPTH} deep.")
        search = self.disjunction(depth + 1)
        self.expect(")")
        return search

    def term(self) -> Search:
        if self.peek().startswith(_QUOTES) or self.peek() in COLLECTIONS:
            self.count()
            return self.member()
        name = self.next()
        self.count()
        field = self._aliases.get(name, name)
        if field in PAIRS:
            return self.has(field)
        if field not in FIELDS:
            raise self.error(self._field_problem(name))
        return self.compare(field)

    def _field_problem(self, name: str) -> str:
        if not name:
            return "expected a field, found the end."
        if name in ("size", "quotaBytesUsed"):
            return f"{name} cannot be searched; list the files, and select the rows by their size."
        known = [*(self._aliases if "_" in name else ()), *FIELDS, *PAIRS, *COLLECTIONS]
        return f"{name[:40]} is not a field; {_suggestion(name, known, 'the fields are')}"

    def member(self) -> Search:
        if self.peek() in COLLECTIONS:
            collection = self.next()
            if (operator := self.next()) != "in":
                raise self.error(f"the operator of {collection} is in, not {operator[:40] or 'the end'}.")
            return Member(self.string(), collection)
        value = self.string()
        self.expect("in")
        if (collection := self.next()) not in COLLECTIONS:
            problem = f"the field after 'in' is one of {', '.join(COLLECTIONS)}, not {collection[:40] or 'the end'}."
            raise self.error(problem)
        return Member(value, collection)

    def has(self, name: str) -> Search:
        self.expect("has")
        self.expect("{")
        first = self.pair()
        self.expect("and")
        pair = dict([first, self.pair()])
        self.expect("}")
        if set(pair) != {"key", "value"}:
            raise self.error(f"the operator 'has' of {name} needs {{key='...' and value='...'}}.")
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
            problem = f"the operator of {name} must be one of {', '.join(operators)}, not {operator[:40] or 'the end'}."
            raise self.error(problem)
        value = self.value(value_type)
        if operator == "contains":
            # Databases limit the length of patterns and the number of conditions.
            if len(str(value)) > MAX_SEARCH_TEXT:
                raise self.error(f"the text for '{name} contains' has more than {MAX_SEARCH_TEXT} characters.")
            if name == "fullText":
                self.count(max(0, len(words_of(str(value))) - 1))
        return Compare(name, operator, value)

    def count(self, terms: int = 1) -> None:
        self._terms += terms
        if self._terms > MAX_TERMS:
            raise self.error(f"has more than {MAX_TERMS} terms; each word of fullText counts as a term.")

    def value(self, value_type: str) -> str | bool | int:
        if value_type == "truth":
            if (token := self.next()) not in ("true", "false"):
                raise self.unexpected("true or false", token)
            return token == "true"
        text = self.string()
        if value_type == "choice" and text not in _VISIBILITY:
            raise self.error(f"visibility is not {text[:40]!r}; {_suggestion(text, _VISIBILITY, 'it is one of')}")
        if value_type != "time":
            return text
        try:
            return to_millis(parse_time(text if "T" in text.upper() else f"{text}T00:00:00"))
        except (ValueError, OverflowError):
            raise self.error(f"{text[:40]!r} is not an RFC 3339 date-time.") from None


def _suggestion(name: str, known: Collection[str], otherwise: str) -> str:
    """Return the part of an error message that suggests the nearest known name, or else lists all known names."""
    near = nearest_name(name[:60], known)
    return f"did you mean {near}?" if near else f"{otherwise} {', '.join(known)}."


def compared_values(search: Search, field: str) -> Iterator[str | bool | int]:
    """Yield the values with which a search tree compares this field."""
    if isinstance(search, And | Or):
        for part in search.parts:
            yield from compared_values(part, field)
    elif isinstance(search, Not):
        yield from compared_values(search.inner, field)
    elif isinstance(search, Compare) and search.field == field:
        yield search.value


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
        if problem := sort_key_problem(name, direction, SORT_KEYS):
            raise refuse("invalidValue", name="orderBy", message=problem)
        if name in keys:
            duplicates.append(name)
        keys[name] = SortKey(name, direction == ["desc"])
    if duplicates:  # reported only after every key was checked
        raise refuse("duplicateSortKeys", key=duplicates[0])
    return tuple(keys.values())


def sort_key_problem(name: str, direction: Sequence[str], keys: Collection[str]) -> str | None:
    """Return the problem of a sort key and the words after it, or None if the key is valid.

    >>> sort_key_problem("modifiedTme", ["desc"], SORT_KEYS)
    "'modifiedTme' is not a sort key; did you mean modifiedTime?"
    """
    if name.startswith("-") and name[1:] in keys:
        return f"{name!r} is not a sort key; did you mean '{name[1:]} desc'?"
    if name not in keys:
        near = nearest_name(name[:60], keys)
        hint = f"did you mean {near}?" if near else f"the keys are {', '.join(keys)}, with or without desc."
        return f"{name[:40]!r} is not a sort key; {hint}"
    if list(direction) not in ([], ["asc"], ["desc"]):
        return f"{name} is followed by {' '.join(direction)[:40]!r}; write {name} or {name} desc."
    return None
