"""Lists files, by conditions as keyword arguments or by a query of the interface, and draws folders as a tree.

The query language has no wildcards. So a name or media type with wildcards also gives a pattern, which `files()` tests
on the listed files. The query then has only the text before the first wildcard, which narrows the list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from difflib import get_close_matches
from fnmatch import translate
from functools import partial
from glob import escape
from mimetypes import guess_type
from operator import attrgetter, gt, lt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

from ...client.files import ROOT, get_file, list_file_pages, list_files
from ...client.session import Session, SessionLike, session_or_current
from ...core.brand_names import NATIVE_NAMES, Names
from ...core.byte_counts import byte_count
from ...core.errors.errors import BadRequest, NotFound, warn_caller
from ...core.errors.public_calls import public_methods
from ...core.files.fields import composed, name_key
from ...core.files.query import (
    FIELDS,
    PAIRS,
    SORT_KEYS,
    QueryError,
    compared_values,
    parse_query,
    quote,
    sort_key_problem,
)
from ...core.resources.files import File as FileResource
from ...core.time_arguments import instant_of
from ...core.times import format_time
from .. import arguments
from ..arguments import File
from ..display import Markup, count_text, size_text, tag
from ..frames import FILE, FILES, Column, Record, Schema, concatenate, frame, select_columns, snake

if TYPE_CHECKING:
    from pandas import DataFrame


# The largest number of names or media types to put into a query, because a query has at most 200 terms.
_MOST_VALUES = 100
_LONGEST_TERM = 12_000  # the largest number of characters of these names in a query, which has at most 16,384
_MOST_CHARACTERS = 200  # the largest number of characters to put into a query of the text before a wildcard
_AT_ONCE = 20  # the number of patterns that are looked up as names in one request
# The part of a pattern before its first wildcard. [*], [?] and [[] are literal characters.
_HEAD = re.compile(r"(?:\[[*?[]\]|[^*?])*")
_BRACKET = re.compile(r"\[([*?[])\]|\[")


class _Context(NamedTuple):
    names: Names
    now: datetime


@dataclass(frozen=True, slots=True)
class _Condition:
    """A term of a query, or None, and a test of the metadata `key` of the files that the query matches."""

    term: str | None
    key: str = ""
    test: Callable[[Any], bool] | None = None


@dataclass(frozen=True, slots=True)
class FileFilter:
    """A query, or None for all files, and conditions that the query cannot express."""

    query: str | None
    conditions: tuple[_Condition, ...]

    def matches(self, file: FileResource) -> bool:
        """Return whether a file that the query matches fulfils the other conditions too."""
        return all(condition.test is None or condition.test(file.get(condition.key)) for condition in self.conditions)


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
    return FileFilter(" and ".join(terms) or None, tuple(entry for entry in conditions if entry.test))


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
    pattern = re.compile("|".join(map(_pattern, values)), re.IGNORECASE)
    return _Condition(term, key, lambda text: pattern.fullmatch(composed(str(text or ""))) is not None)


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
    return _text_condition("name", arguments.texts(argument, value))


def _mime_type(argument: str, value: Any, context: _Context) -> _Condition | None:
    return _text_condition(
        "mimeType", [_media_type(argument, text, context.names) for text in arguments.texts(argument, value)]
    )


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
    ids = arguments.file_ids(value, argument)
    return _Condition(_any_of(f"{quote(folder)} in parents" for folder in ids)) if ids else None


def _owner(argument: str, value: Any, context: _Context) -> _Condition | None:
    addresses = arguments.texts(argument, value)
    owners = [
        str(person["email"]) for person in arguments.people(argument, value if isinstance(value, str) else addresses)
    ]
    if wrong := [owner for owner in owners if "@" not in owner and owner != "me"]:
        raise ValueError(f"{argument} has {wrong[0]!r}; give an e-mail address or 'me'; files(\"not 'me' in owners\")")
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


def _size(argument: str, value: Any, context: _Context) -> _Condition:
    limit, compare = byte_count(value), gt if argument == "larger_than" else lt
    if type(limit) is not int:
        raise TypeError(f"{argument} must be a number of bytes, such as 5_000_000 or '5 MB', not {value!r:.60}")
    return _Condition(None, "size", lambda size: size is not None and compare(int(size), limit))


def _flag(argument: str, value: Any, context: _Context) -> _Condition:
    field = "sharedWithMe" if argument == "shared_with_me" else argument
    return _Condition(f"{field} = {'true' if arguments.flag(argument, value) else 'false'}")


def _properties(argument: str, value: Any, context: _Context) -> _Condition:
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for pair in value.items() for text in pair):
        raise TypeError(f"{argument} must be a dict of texts such as {{'lab': '7'}}, not {value!r:.60}")
    terms = (f"properties has {{key={quote(key)} and value={quote(text)}}}" for key, text in value.items())
    return _Condition(" and ".join(terms) or None)


# The function that reads each keyword argument of `files()`. It returns None if no file can match.
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
    "larger_than": _size,
    "smaller_than": _size,
    "trashed": _flag,
    "starred": _flag,
    "shared_with_me": _flag,
    "properties": _properties,
}


_FIELDS = {snake(name): name for name in (*FIELDS, *PAIRS) if snake(name) != name}
_KEYS = {snake(name): name for name in SORT_KEYS}
_KEYS |= {"size": "quotaBytesUsed", "modified": "modifiedTime", "created": "createdTime"}
_STRING_OR_NAME = re.compile(r"'(?:[^'\\]|\\.)*'|[A-Za-z][A-Za-z0-9_.]*", re.DOTALL)
_OPERATOR = re.compile(r"[=<>']|\b(?:contains|in|has)\b")
_FULL_TEXT = re.compile(r"\bfull_?text contains '([^']*)'", re.IGNORECASE)
_WIDTH = 100  # of the part of a long query that an error shows, in characters


def wire_query(query: str) -> str:
    """Replace field names in snake_case by their wire names. Strings and all other words are not changed.

    >>> wire_query("modified_time > '2026-01-01' and name = 'modified_time'")
    "modifiedTime > '2026-01-01' and name = 'modified_time'"
    """
    return _STRING_OR_NAME.sub(lambda match: _FIELDS.get(match[0], match[0]), query)


def media_types(query: str) -> list[str]:
    """Return the media types with which a query compares. The service answers a query that is not valid.

    >>> media_types("mime_type = 'text/csv' and name = 'a/b'"), media_types("mime_type")
    (['text/csv'], [])
    """
    try:
        return [str(value) for value in compared_values(parse_query(query, _FIELDS), "mimeType")]
    except QueryError:
        return []


def sort_keys(order_by: str | Iterable[str] | None) -> list[str]:
    """Return the sort keys of an `order_by` argument, which is a text with commas or a list. None gives an empty list.

    >>> sort_keys("folder, modified_time desc"), sort_keys(["name"])
    (['folder', 'modified_time desc'], ['name'])
    """
    if order_by is None:
        return []
    return [key.strip() for item in arguments.texts("order_by", order_by) for key in item.split(",") if key.strip()]


def wire_order(keys: Iterable[str]) -> str | None:
    """Return sort keys with wire names as one text, or None without a key. Unknown keys are not changed.

    >>> wire_order(["folder", "modified_time DESC"]), wire_order(["size desc"])
    ('folder,modifiedTime desc', 'quotaBytesUsed desc')
    """
    split = (key.split() for key in keys)
    return ",".join(" ".join([_KEYS.get(name, name), *map(str.lower, rest)]) for name, *rest in split) or None


def explain_bad_request(error: BadRequest, query: str | None, keys: Iterable[str]) -> None:
    """Change the message of a 400 for a query or a sort order, so that it shows the place or names the right key.

    An error that the grammar of this package does not have, as of another service, is not changed.
    """
    if error.location == "q" and query is not None:
        try:
            parse_query(query, _FIELDS)
        except QueryError as invalid:
            text = invalid.problem
            if not _OPERATOR.search(query) and wire_query(query).split()[0] not in FIELDS:
                hint = "files(name=...) searches names, and files(text=...) words."
                text = f"{query.strip()!r:.60} is not a query; {hint}"
            error.message, error.advice = f"query: {text}\n{_excerpt(query, invalid.start, invalid.end)}", ""
    elif error.location == "orderBy":
        for name, *direction in map(str.split, keys):
            if problem := sort_key_problem(name, direction, SORT_KEYS if name in SORT_KEYS else tuple(_KEYS)):
                error.message, error.advice = f"order_by: {problem}", ""
                return


def _excerpt(query: str, start: int, end: int) -> str:
    """Return the part of a query around a place, and a line with carets below the place."""
    first = max(0, min(start - _WIDTH // 2, len(query) - _WIDTH))
    before, after = "…" if first else "", "…" if first + _WIDTH < len(query) else ""
    shown = re.sub(r"\s", " ", query[first : first + _WIDTH])
    carets = max(1, min(end, first + _WIDTH) - start)
    return f"    {before}{shown}{after}\n    {' ' * (len(before) + start - first)}{'^' * carets}"


if TYPE_CHECKING:
    When: TypeAlias = str | date | timedelta

_LARGEST_PAGE = 1000
_CHUNK = 10_000  # the number of files whose JSON objects are in memory at once


class FolderTree:
    """All folders that a user can see. One request reads a thousand of them.

    >>> from svc_notebooks.notebook.files.search import FolderTree
    >>> lab = svc.sandbox()
    >>> inner = svc.create_folder("birds/2026")
    >>> tree = FolderTree(lab.session)
    >>> tree.path({"name": "may.csv", "parents": inner["id"].tolist()})
    'birds/2026/may.csv'
    """

    def __init__(self, session: Session) -> None:

        query = f"mimeType = {quote(session.names.native('folder'))}"
        folders = list_files(session, q=query, page_size=_LARGEST_PAGE, fields="id,name,parents")
        self._folders: dict[str, FileResource] = {str(folder["id"]): folder for folder in folders}
        self._session = session

    def path(self, file: FileResource) -> str:
        """Return the names of the folders above a file and its own, from the top folder, joined by slashes.

        %2F is a slash in a name. The path of a shared file begins with the first folder that this user can see.
        """
        names = [arguments.path_part(str(file.get("name")))]
        above: Collection[str] = file.get("parents") or ()
        seen: set[str] = set()
        while (folder := self._folders.get(next(iter(above), ""))) and folder["id"] not in seen:
            seen.add(folder["id"])
            names.append(arguments.path_part(str(folder.get("name"))))
            above = folder.get("parents") or ()
        return "/".join(reversed(names))

    def below(self, folders: Iterable[str]) -> set[str]:
        """Return the ids of folders and of all folders below them. The id "root" is the top folder."""

        children: dict[str, list[str]] = {}
        for folder_id, folder in self._folders.items():
            for parent in folder.get("parents") or ():
                children.setdefault(parent, []).append(folder_id)
        waiting = [str(get_file(self._session, ROOT, fields="id")["id"]) if id == ROOT else id for id in folders]
        ids: set[str] = set()
        while waiting:
            folder_id = waiting.pop()
            if folder_id not in ids:
                ids.add(folder_id)
                waiting += children.get(folder_id, ())
        return ids


@overload
def files(query: str | None = None, *, chunksize: None = None, **conditions: Any) -> DataFrame: ...


@overload
def files(query: str | None = None, *, chunksize: int, **conditions: Any) -> Generator[DataFrame, None, None]: ...


def files(  # type: ignore[misc]  # the overloads tell the types of the result
    query: str | None = None,
    *,
    name: str | Iterable[str] | None = None,
    text: str | None = None,
    mime_type: str | Iterable[str] | None = None,
    folder: File | None = None,
    recursive: bool = False,
    owner: str | Iterable[str] | None = None,
    modified_after: When | None = None,
    modified_before: When | None = None,
    created_after: When | None = None,
    created_before: When | None = None,
    larger_than: int | str | None = None,
    smaller_than: int | str | None = None,
    trashed: bool | None = None,
    starred: bool | None = None,
    shared_with_me: bool | None = None,
    properties: Mapping[str, str] | None = None,
    order_by: str | Iterable[str] | None = None,
    limit: int | None = None,
    fields: str | Iterable[str] | None = None,
    paths: bool = False,
    chunksize: int | None = None,
    session: SessionLike = None,
) -> DataFrame | Generator[DataFrame, None, None]:
    """List all files that match a query and all other conditions. All pages of the result are fetched.

    Without any condition, all files are listed, including files in the trash.

    Args:
        query: A search in the interface's query language, like "name contains 'survey' and modified_time >
            '2026-01-01'". Field names may be in snake_case.
        name: The whole name, in which * stands for any text and ? for any character ("*.csv"), or a list of names. Case
            and Unicode form do not matter. A name that a file has as it is written stands for itself: if there is a
            file "why?.txt", in any folder or in the trash, the name matches no other. [*], [?] and [[] are always
            literal. With * or ? at the beginning, all files that match the other conditions are fetched.
        text: Words, all of which must be in the name or description of a file. A deployment may search the content too.
        mime_type: A media type such as "text/csv" or "image/*", a native type such as "folder", "document" or
            "spreadsheet", or a list of these.
        folder: The folder that directly contains the files, as an id, a link, a path like "birds/2026", a row or
            "root", or several of these.
        recursive: True also lists the files in all folders below `folder`.
        owner: The e-mail address of the owner, "me", or several of these as for `share`.
        modified_after, modified_before, created_after, created_before: A time, a date (its midnight), a str such as
            "2026-11-02 10:00", "today", "yesterday" or "7 days ago", or a timedelta, which stands for a time that long
            ago. Times without a zone are in UTC, as in the result.
        larger_than, smaller_than: A number of bytes, or a text such as "5 MB". The service does not compare sizes, so
            all files that match the other conditions are fetched.
        trashed, starred, shared_with_me: True lists only such files, False only the others, and None both.
        properties: Properties that a file must have, like `{"lab": "7"}`.
        order_by: Sort keys separated by commas or as a list, each optionally followed by desc, like
            "folder,modified_time desc". The keys are created_time, folder, modified_by_me_time, modified_time, name,
            name_natural, recency, shared_with_me_time, size, starred and viewed_by_me_time. None: newest first.
        limit: The maximum number of rows. None returns all rows.
        fields: The columns to return, as names separated by commas or a list of names. "*" returns all columns, and
            None the columns below.
        paths: True adds a column `path` after the name.
        chunksize: The number of rows in each of several DataFrames, which are returned one after another. Use it for
            lists that are too long for the memory.

    Returns:
        One row for each file: id, name, mime_type (str), size (Int64, bytes, missing for folders), created_time,
        modified_time (datetime64[ms, UTC]), trashed, starred (boolean), parents (object, list of ids), web_view_link
        (str). With `paths`, also path (str): the names of the folders above the file from the top folder, and its own,
        like "birds/2026/may.csv", where %2F is a slash in a name. With `chunksize`, a generator of such DataFrames,
        whose rows are numbered on from one to the next. Its method `close` stops the requests.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent. Or `folder` is a file that is not a folder.
        BadRequest: The service does not understand the query or the order. The message shows the place in the query.
        NotFound: The folder does not exist, or this user may not see it.

    Warns:
        UserWarning: No file has the words of `text`, which are not searched in the content of files.

    >>> lab = svc.sandbox()
    >>> made = svc.upload([b"1", b"22", b"a,b"], name=["one.txt", "two.txt", "table.csv"])
    >>> svc.files(name="*.txt", order_by="size desc")["name"].tolist()
    ['two.txt', 'one.txt']
    >>> svc.files("name contains 't' and mime_type = 'text/csv'", modified_after="yesterday")["name"].tolist()
    ['table.csv']
    >>> [len(chunk) for chunk in svc.files(chunksize=2)]
    [2, 1]
    """
    given = locals()
    session = session_or_current(session)
    arguments.optional_text("query", query)
    limit = None if limit is None else arguments.whole("limit", limit, 0)
    size = _CHUNK if chunksize is None else arguments.whole("chunksize", chunksize, 1)
    recursive, paths = arguments.flag("recursive", recursive), arguments.flag("paths", paths)
    conditions = {key: list(given[key]) if isinstance(given[key], Iterator) else given[key] for key in CONDITIONS}
    schema, keys = select_columns(fields, FILES, FILE, "a file"), sort_keys(order_by)
    sent_query = None if query is None else wire_query(query)
    for media_type in media_types(query) if query else ():
        session.names.full_media_type(media_type, "query")  # raises for the media type of another brand
    read = partial(file_filter, sent_query, names=session.names, now=session.clock.now())
    selection = read(conditions)  # raises for an argument that is not valid, before anything is sent
    if folder is not None:
        conditions["folder"] = arguments.files_at(session, conditions["folder"], "folder", arguments.FOLDER)
        selection = read(conditions)
    columns = schema
    if paths:  # after the name, or at the end
        at = schema.keys.index("name") + 1 if "name" in schema.keys else len(schema.keys)
        columns = Schema((*schema.columns[:at], Column("path", "str", "path"), *schema.columns[at:]))

    def chunks() -> Generator[DataFrame, None, None]:
        """Yield DataFrames of `size` rows, and of fewer rows at the end. Without a file, yield an empty DataFrame."""
        if selection is None or limit == 0:
            yield frame(columns, [])
            return
        chosen, left, start, is_empty = selection, limit, 0, True
        records: list[Record] = []
        if name is not None:
            names = as_written(session, arguments.texts("name", conditions["name"]))
            chosen = read({**conditions, "name": names}) or selection
        tree = FolderTree(session) if paths or (recursive and folder is not None) else None
        if tree and recursive and folder is not None:
            inside = tree.below(conditions["folder"])
            without = read({**conditions, "folder": None}) or chosen
            is_inside = _Condition(None, "parents", lambda parents: not inside.isdisjoint(parents or ()))
            chosen = FileFilter(without.query, (*without.conditions, is_inside))  # a query cannot name many folders
        most = None if chosen.conditions else limit  # the service does not test patterns
        needed = [*map(attrgetter("key"), chosen.conditions), *("name", "parents") * paths]
        listed = list_file_pages(
            session,
            q=chosen.query,
            order_by=wire_order(keys) if keys else None,
            page_size=min(filter(None, (_LARGEST_PAGE, most, chunksize))),
            fields="*" if schema is FILE else ",".join(dict.fromkeys((*schema.keys, *needed))),
            limit=most,
            ahead=most == limit,
        )
        try:
            with closing(listed):
                for page in listed:
                    matches = list(filter(chosen.matches, page))[:left] if chosen.conditions else page
                    is_empty &= not matches
                    records += [{**file, "path": tree.path(file)} for file in matches] if tree and paths else matches
                    while len(records) > size:  # not the last rows, because the next page may be empty
                        yield _numbered(frame(columns, records[:size]), start)
                        del records[:size]
                        start += size
                    left = None if left is None else left - len(matches)
                    if left == 0:
                        break
        except BadRequest as error:
            explain_bad_request(error, query, keys)
            raise
        if is_empty and folder is not None:
            _check_folders(session, conditions["folder"])
        words = text or (_FULL_TEXT.search(query or "") or ["", None])[1]
        if is_empty and words is not None:
            searched = "only names and descriptions are searched, not the content of files"
            warn_caller(f"no file has the words {words!r:.60}: {searched}, unless a deployment does more")
        if records or not start:
            yield _numbered(frame(columns, records), start)

    return concatenate(columns, [*chunks()]) if chunksize is None else chunks()


def _numbered(chunk: DataFrame, start: int) -> DataFrame:
    """Return the DataFrame with rows that are numbered from `start`."""
    chunk.index += start
    return chunk


def _check_folders(session: Session, ids: list[str]) -> None:
    """Raise NotFound or ValueError for the first id that is not the id of a folder, as for the name of a folder."""

    for folder_id in ids:
        try:
            folder = get_file(session, folder_id, fields="name,mimeType")
        except NotFound as error:
            search = "files(name=..., mime_type='folder') finds a folder by its name"
            error.advice = f"Give the folder's id or row; {search}."
            raise
        if folder.get("mimeType") != session.names.native("folder"):
            raise ValueError(f"folder is {folder.get('name')!r}, which is a file and not a folder")


# -- folders and the files below them as a tree, as text and as HTML


_MAX_LINES = 1000  # the maximum number of lines that are drawn. The attribute `files` has all files.


@dataclass(frozen=True, slots=True)
class _Node:
    name: str
    # The bytes of a file, or None for a document of the service, which has no size.
    size: int | None
    # The members of a folder, None for a file.
    children: list[_Node] | None

    @property
    def count(self) -> int:
        return 1 if self.children is None else sum(child.count for child in self.children)

    @property
    def total(self) -> int:
        return self.size or 0 if self.children is None else sum(child.total for child in self.children)

    @property
    def label(self) -> str:
        """The number of files and their size, or the size of a file."""
        if self.children is None:
            return "" if self.size is None else size_text(self.size)
        return f"{count_text(self.count, 'file')}, {size_text(self.total)}"


@public_methods
class Tree:
    """A tree of folders and files, which a notebook shows with folders to open, and `print` as text.

    `files` is the DataFrame of the files and folders in it, with the columns of `files()` and `path`.
    """

    def __init__(self, top: _Node, rows: DataFrame) -> None:
        self._top = top
        self.files = rows

    def __repr__(self) -> str:
        lines = _lines(self._top)
        width = max(len(text) for text, _ in lines)
        shown = [f"{text:{width}}  {label}".rstrip() for text, label in lines[:_MAX_LINES]]
        hidden = len(lines) - len(shown)
        return "\n".join([*shown, *([f"... and {hidden:,} more; the attribute files has all"] if hidden else [])])

    def _repr_html_(self) -> str:
        return str(tag("div", _html(self._top, is_open=True), style="line-height: 1.6; font-family: monospace"))


def _lines(node: _Node, head: str = "", rest: str = "") -> list[tuple[str, str]]:
    """Return the text and the size of a node and of each node below it, with the lines of the tree before it."""
    name = node.name if node.children is None else f"{node.name}/"
    lines = [(head + name, node.label)]
    for n, child in enumerate(node.children or (), start=1):
        is_last = n == len(node.children or ())
        lines += _lines(child, rest + ("└── " if is_last else "├── "), rest + ("    " if is_last else "│   "))
    return lines


def _html(node: _Node, *, is_open: bool = False) -> Markup:
    size = tag("span", node.label, style="opacity: 0.7; padding-left: 1em")
    if node.children is None:
        return tag("div", node.name, size, style="padding-left: 1em")
    hidden = len(node.children) - _MAX_LINES
    more = [tag("div", f"... and {hidden:,} more; the attribute files has all")] if hidden > 0 else []
    shown = map(_html, node.children[:_MAX_LINES])
    members = tag("div", *shown, *more, style="padding-left: 1.5em")
    return tag("details", tag("summary", f"{node.name}/", size), members, open="" if is_open else None)


def tree(folder: File | None = None, *, session: SessionLike = None) -> Tree:
    """Draw a folder with all folders and files below it, and their sizes. Files in the trash are left out.

    Args:
        folder: A folder, as an id, a link, a path like "birds/2026", a row or a DataFrame of one row. None means
            the top folder.

    Returns:
        A Tree, which a notebook shows with folders to open, and `print` as text. Its attribute `files` is the DataFrame
        of `files(folder=folder, recursive=True, paths=True, trashed=False)`.

    Raises:
        NotFound: The folder does not exist, or this user may not see it.
        ValueError: `folder` is a file that is not a folder.

    >>> lab = svc.sandbox()
    >>> year = svc.create_folder("birds/2026")
    >>> made = svc.upload([b"robin", b"wren"], name=["may.csv", "june.csv"], folder=year)
    >>> svc.tree()
    My files/             2 files, 9 bytes
    └── birds/            2 files, 9 bytes
        └── 2026/         2 files, 9 bytes
            ├── june.csv  4 bytes
            └── may.csv   5 bytes
    """
    session = session_or_current(session)
    top = get_file(session, ROOT if folder is None else arguments.one_folder_id(session, folder), fields="id,name")
    rows = files(folder=top["id"], recursive=True, paths=True, trashed=False, order_by="name_natural", session=session)
    is_folder = (rows["mime_type"] == session.names.native("folder")).tolist()
    nodes: dict[str, list[_Node]] = {str(top["id"]): []}
    nodes |= {file_id: [] for file_id, folder_row in zip(rows["id"], is_folder, strict=True) if folder_row}
    for row in rows.to_dict("records"):
        size = None if arguments.is_missing(row["size"]) else int(row["size"])
        node = _Node(row["name"], size, nodes.get(row["id"]))
        for parent in row["parents"] or ():
            nodes.setdefault(parent, []).append(node)
    return Tree(_Node(str(top.get("name")), None, nodes[str(top["id"])]), rows)
