"""Checks and normalizes the arguments of public functions, without importing pandas, and finds files by their paths."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import IOBase
from operator import index
from typing import IO, TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from ..client.files import ROOT, get_file, list_files
from ..core.errors.errors import NotFound
from ..core.events.fields import is_address
from ..core.files.fields import composed
from ..core.files.query import quote
from ..core.suggestions import nearest_name
from .display import count_text
from .frames import camel

_PATHS = (
    re.compile(r"/d/(?P<id>[^/]+)"),  # webViewLink, such as /file/d/abc/view and /document/d/abc/edit
    re.compile(r"/folders/(?P<id>[^/]+)"),
    re.compile(r"/v\d+/files/(?!generateIds$|trash$)(?P<id>[^/]+)"),  # the API, whatever the brand's first segment is
)
# The last segments of paths whose query parameter `id` is the id of a file, such as in webContentLink.
_DOWNLOADS = ("uc", "open")


def is_link(text: str) -> bool:
    """Return True if a text begins like a web address."""
    return "://" in text and text.lstrip().lower().startswith(("http://", "https://"))


def file_id_in_link(link: str) -> str | None:
    """Return the id of the file to which a link leads, or None for a link to anything else.

    >>> file_id_in_link("https://svc.example/document/d/abc/edit?usp=storagesdk")
    'abc'
    >>> file_id_in_link("https://svc.example/uc?id=abc"), file_id_in_link("https://svc.example/drive/v3/files/abc?alt=media")
    ('abc', 'abc')
    """
    url = urlsplit(link.strip())
    for pattern in _PATHS:
        if match := pattern.search(url.path):
            return unquote(match["id"])
    if url.path.rpartition("/")[2] in _DOWNLOADS:
        return next(iter(parse_qs(url.query).get("id", ())), None)
    return None


if TYPE_CHECKING:
    from pandas import DataFrame, Index, Series

    from ..client.session import Session

Value = TypeVar("Value")
File: TypeAlias = "str | Mapping[str, Any] | DataFrame | Series[Any] | Index[Any] | Iterable[Any]"
Source: TypeAlias = (
    "str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes] | DataFrame | Mapping[str, Any]"
)
Sources: TypeAlias = "Source | list[Source] | tuple[Source, ...]"
Column: TypeAlias = "Value | Sequence[Value] | Series[Any] | Index[Any]"


def is_frame(value: object) -> TypeGuard[DataFrame]:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def is_table(value: object) -> bool:
    """Return True for a DataFrame, and for a dict of DataFrames, which are the sheets of a workbook."""
    return is_frame(value) or (isinstance(value, Mapping) and bool(value) and all(map(is_frame, value.values())))


def file_ids(file: object, argument: str = "file") -> list[str]:
    """Return the ids of a file argument, which is an id, a link, a row, a DataFrame, or several of these (D-02).

    A column `file_id`, as in `changes()` and `permissions()`, comes before a column `id`.

    Raises TypeError for another type, and ValueError for a missing or repeated id, a link that does not lead to a file,
    or rows without a column of ids.

    >>> file_ids("abc"), file_ids({"id": "abc"}), file_ids(["a", {"id": "b"}])
    (['abc'], ['abc'], ['a', 'b'])
    >>> file_ids("https://svc.example/file/d/abc/view")
    ['abc']
    """
    ids = [_without_link(text, argument) for text in _ids(file, argument, ("file_id", "id"), "an id, a link")]
    if len({*ids}) < len(ids):
        ((repeated, count),) = Counter(ids).most_common(1)
        raise ValueError(
            f"{argument} has the id {repeated!r} {count} times;"
            " name each file once, in a DataFrame with drop_duplicates"
        )
    return ids


def _without_link(text: str, argument: str) -> str:
    """Return the id in a link to a file, or an id unchanged. Raises ValueError for a link to anything else."""
    if not is_link(text):
        return text
    if file_id := file_id_in_link(text):
        return file_id
    raise ValueError(f"{argument} is {text!r}, which is not a link to a file; give the file's id or web_view_link")


def row_ids(rows: object, argument: str, columns: Sequence[str] = ("id",)) -> list[str]:
    """Return the ids of events or channels, which are an id, a row, a DataFrame, or several of these (D-02).

    `columns` are the possible columns of ids. Raises TypeError for another type, and ValueError for a missing id or for
    rows without one of these columns.

    >>> row_ids([{"id": "a"}, "b"], "event")
    ['a', 'b']
    """
    return list(_ids(rows, argument, columns, "an id"))


def _ids(value: Any, argument: str, columns: Sequence[str], forms: str) -> Iterator[str]:
    """Yield the ids in `value`. `columns` are the possible columns of ids, and `forms` is for error messages."""
    if isinstance(value, str):
        members: Iterable[Any] = [value]
    elif is_frame(value) or _is_row(value, columns):
        members = _column(value, argument, columns)
    elif isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray, memoryview, IOBase)):
        members = value
    else:
        raise TypeError(f"{argument} must be {forms}, a row, a DataFrame or a list of these, not {_type_name(value)}")
    for n, member in enumerate(members):
        if isinstance(member, str):
            if not member:
                raise ValueError(f"{argument} has the id {member!r}; an id must be a non-empty str")
            yield member
        elif is_missing(member):
            raise ValueError(f"{argument} has no id in row {n}, but {member!r}; leave out rows with missing ids")
        else:
            yield from _ids(member, argument, columns, forms)


def _is_row(value: Any, columns: Sequence[str]) -> bool:
    """Return True for a dict, a namedtuple and a Series with the values of one row, False for a Series of ids."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, pandas.Series):
        labels = value.index.map(type).unique()
        is_column = value.name is None or value.name in columns or list(labels) != [str]
        return any(column in value.index for column in columns) or not is_column
    return isinstance(value, Mapping) or (isinstance(value, tuple) and hasattr(value, "_fields"))


def _column(rows: Any, argument: str, columns: Sequence[str]) -> list[Any]:
    """Return the ids in the first of `columns` that a row or a DataFrame has. Raises ValueError if it has none."""
    if isinstance(rows, tuple):
        rows = rows._asdict()  # type: ignore[attr-defined]
    if columns[0] == "file_id" and "summary" in rows and "start" in rows and "mime_type" not in rows:
        raise ValueError(f"{argument} is the row of an event, which update_event and delete_event take")
    for column in columns:
        if column in rows:
            return list(rows[column]) if is_frame(rows) else [rows[column]]
    if is_frame(rows) and rows.index.name in columns:
        return list(rows.index)
    raise ValueError(f"{argument} has no column {columns[-1]}; give a row or a DataFrame with this column")


def is_missing(value: object) -> bool:
    """Return True for None, NaN, NaT and pandas' NA, as in an empty cell of a DataFrame."""
    return value is None or (isinstance(value, float) and value != value) or _type_name(value) in ("NAType", "NaTType")


def _type_name(value: object) -> str:
    return type(value).__name__


def one_id(file: object, argument: str = "file") -> str:
    """Return the id of a file argument that has exactly one file. Raises ValueError for no file or several files."""
    return str(_only(file_ids(file, argument), f"{argument} has {{}} files"))


def one_row_id(row: object, argument: str) -> str:
    """Return the id of an argument that has exactly one event or channel. Raises ValueError for none or several."""
    return row if isinstance(row, str) and row else str(_only(row_ids(row, argument), f"{argument} has {{}} rows"))


def _only(values: Sequence[Any], problem: str) -> Any:
    if len(values) != 1:
        raise ValueError(f"{problem.format(len(values))}; this function accepts only one")
    return values[0]


# -- files by their paths


_MAX_NAMESAKES = 50  # the largest number of folders of one name that a path may lead through

# The argument `kind` of `files_at` for folders only.
FOLDER = "folder "

ESCAPED_SLASH = re.compile(r"%((?:25)*)2F")
# A text that is sent as an id. Ids of services are long and have digits. A longer name is a path: "/name".
_ID = re.compile(r"root|(?=\D*\d)[\w-]{19,}", re.ASCII)
# A text that may be an id if no file in the top folder has this name.
_WORD = re.compile(r"[\w-]+(@[\w.-]+)?", re.ASCII)


def path_part(name: str) -> str:
    """Return the name as a part of a path, in which %2F stands for a slash.

    >>> path_part("in/out.csv"), path_part("50%2F.csv")
    ('in%2Fout.csv', '50%252F.csv')
    """
    return ESCAPED_SLASH.sub(r"%25\g<1>2F", name).replace("/", "%2F")


def name_of_part(part: str) -> str:
    """Return the name for a part of a path, which is the inverse of `path_part`."""
    return ESCAPED_SLASH.sub(lambda match: f"%{match[1][2:]}2F" if match[1] else "/", part)


def files_at(
    session: Session, value: object, argument: str = "file", kind: str = "", *, trashed: bool = False
) -> list[str]:
    """Return the ids of a file argument. A text that does not look like an id is the path of a file, like "A/b.txt".

    A word that is not a name in the top folder may be an id of another service, and is returned. `kind` is FOLDER for
    folders only. With `trashed` the file is in the trash. Raises NotFound for a path without a file, and ValueError for
    a path of several files, and for a file that is given twice.
    """
    texts = file_ids(value, argument)
    ids = [text if _ID.fullmatch(text) else _at(session, text, argument, kind, trashed=trashed) for text in texts]
    if twice := next((text for n, text in enumerate(texts) if ids[n] in ids[:n]), None):
        raise ValueError(f"{argument} has the file {twice!r} twice, under two names; name each file once")
    return ids


def one_file_at(session: Session, value: object, argument: str = "file") -> str:
    """Return the id of a file argument that has one file, which may be a path."""
    return files_at(session, one_id(value, argument), argument)[0]


def one_folder_id(session: Session, value: object, argument: str = "folder") -> str:
    """Return the id of a folder argument that has one folder. Raises ValueError for none or several."""
    folders = file_ids(value, argument)
    if len(folders) != 1:
        raise ValueError(f"{argument} has {len(folders)} files or folders; give one folder")
    return files_at(session, folders, argument, FOLDER)[0]


def _at(session: Session, path: str, argument: str, kind: str, *, trashed: bool) -> str:
    """Return the id of the file at a path. Folders of one name are all searched."""
    found, folder = [ROOT], f" and mimeType = {quote(session.names.native('folder'))}"
    parts = [part for part in path.removeprefix("svc://").split("/") if part]
    for n, part in enumerate(parts, 1):
        name, is_last = name_of_part(part), n == len(parts)
        parents = " or ".join(f"{quote(file)} in parents" for file in found)
        query = f"name = {quote(name)} and ({parents}) and trashed = {str(trashed and is_last).lower()}"
        query += "" if is_last and not kind else folder
        rows = list_files(session, q=query, order_by="createdTime", fields="id,name")
        found = [row["id"] for row in rows if composed(row["name"]) == composed(name)]
        if not found and not kind and _WORD.fullmatch(path):
            return path
        if not found:
            with suppress(NotFound):
                if kind and "/" not in path:
                    return str(get_file(session, path, fields="id")["id"])
            above = "/".join(parts[: n - 1])
            advice = f"files(folder={above or ROOT!r}) lists the files of the folder."
            advice = "files(trashed=True) lists the trash." if trashed and is_last else advice
            advice = f"create_folder({'/'.join(parts)!r}) creates it." if kind else advice
            if n == 1 and (shared := [*list_files(session, q=f"name = {quote(name)} and sharedWithMe", fields="id")]):
                advice = f"A file of this name is shared with this user; give its id: {[row['id'] for row in shared]}."
            raise NotFound(f"{argument} is {path!r}, and there is no {kind}{name!r} at this place.", advice=advice)
        if len(found) > (1 if is_last else _MAX_NAMESAKES):
            files = f"{kind.strip() or 'file'}s" if is_last else f"folders {name!r}"
            raise ValueError(f"{argument} is {path!r}, the path of {len(found)} {files}; give an id: {found[:9]}")
    return found[0]


def sources(source: object) -> list[Any]:
    """Return a list of upload sources, such as those of a generator like `Path("data").glob("*.csv")`.

    >>> sources(b"hello"), sources(["a.csv", "b.csv"])
    ([b'hello'], ['a.csv', 'b.csv'])
    """
    if isinstance(source, list | tuple | Iterator) and not hasattr(source, "read"):
        return list(source)
    column: Any = source  # perhaps a Series or another column of bytes or paths
    if hasattr(column, "to_list") and all(isinstance(member, bytes | str | os.PathLike) for member in column):
        return list(column)
    return [source]


def single_source(source: object) -> Any:
    """Return the only source of an upload argument. Raises ValueError for none or several."""
    return _only(sources(source), "source has {} sources")


def names_for(count: int, name: object) -> list[str | None]:
    """Return the list of `count` file names from a `name` argument, or `count` times None if `name` is None.

    `name` is a str for one source, or a list or column with a name for each source. Raises TypeError for another type,
    and ValueError for another number of names.
    """
    if name is None:
        return [None] * count
    names = column_values("name", [name] if isinstance(name, str) else name, count, "source")
    for n, text in enumerate(names or ()):
        if is_missing(text) or text == "":
            raise ValueError(f"name has no text in row {n}, but {text!r}; give each file a name")
    if names is None or not all(isinstance(text, str) for text in names):
        other = [_type_name(text) for text in names or () if not isinstance(text, str)]
        raise TypeError(f"name must be a str or a list of str, not {_type_name(name)}{f' of {other[0]}' * bool(other)}")
    return names


def column_values(argument: str, value: Any, count: int, row: str = "file") -> list[Any] | None:
    """Return the values of a list, a Series or another column with a value for each row, or None for a single value.

    Raises ValueError for another number of values than `count`. `row` is the word for a row in the message.

    >>> column_values("name", ("a", "b"), 2), column_values("name", "a", 2)
    (['a', 'b'], None)
    """
    is_column = hasattr(value, "tolist") and hasattr(value, "__len__")  # of pandas or numpy
    if not (is_column or isinstance(value, list | tuple)) or isinstance(value, str) or is_frame(value):
        return None
    if len(value) != count:
        text = f"{count_text(len(value), 'value')} for {count_text(count, row)}"
        raise ValueError(f"{argument} is a {_type_name(value)} with {text}; give one value for each {row}")
    return list(value)


def choice(argument: str, value: object, allowed: Iterable[str]) -> str:
    """Return an allowed value of an argument. Raises ValueError for any other value."""
    options = list(allowed)
    if not isinstance(value, str) or value not in options:
        near = nearest_name(value, options) if isinstance(value, str) else None
        hint = f"; did you mean {near!r}?" if near else ""
        raise ValueError(f"{argument} is {value!r}; it must be one of {', '.join(options)}{hint}")
    return value


def whole(argument: str, value: object, minimum: int, maximum: int | None = None) -> int:
    """Return an int from `minimum` to `maximum`, or above without a maximum. Raises TypeError or ValueError."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{argument} must be a whole number, not {type(value).__name__}")
    number = index(value)  # an int of numpy, too
    if number < minimum or (maximum is not None and number > maximum):
        bounds = f"{minimum} or more" if maximum is None else f"between {minimum} and {maximum}"
        raise ValueError(f"{argument} is {number}; it must be {bounds}")
    return number


def flag(argument: str, value: object) -> bool:
    """Return True or False, of Python or of numpy, as a bool. Raises TypeError for any other value."""
    if type(value).__name__ not in ("bool", "bool_"):
        shown = repr(value) if isinstance(value, str | int | float) else type(value).__name__
        raise TypeError(f"{argument} must be True or False, not {shown}")
    return bool(value)


_PLAIN = frozenset({str, int, float, bool, type(None)})


def plain(value: Any) -> Any:
    """Return a value with the booleans and numbers of numpy in it as those of Python, also in dicts and lists."""
    if isinstance(value, Mapping):
        return {key: member if type(member) in _PLAIN else plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [plain(member) for member in value]
    is_scalar = type(value).__module__ == "numpy" and value.ndim == 0 and value.dtype.kind in "biuf"
    return value.item() if is_scalar else value


def texts(argument: str, value: object) -> list[str]:
    """Return a list with one str, or with the texts of a list, Series or other iterable.

    Raises TypeError for another type, and ValueError for an empty text.

    >>> texts("name", "a.csv"), texts("name", ("a.csv", "b.csv"))
    (['a.csv'], ['a.csv', 'b.csv'])
    """
    members = [value] if isinstance(value, str) else value
    if not isinstance(members, Iterable) or isinstance(members, bytes | bytearray | Mapping):
        raise TypeError(f"{argument} must be a str or a list of them, not {type(value).__name__}")
    entries = list(members)
    for entry in entries:
        if not isinstance(entry, str):
            raise TypeError(f"{argument} must be a str or a list of them; it has {entry!r:.60}")
        if not entry.strip():
            raise ValueError(f"{argument} has {entry!r}, which is empty; leave {argument} out, or give a text")
    return entries


def optional_text(argument: str, value: object) -> str | None:
    """Return a str or None unchanged. Raises TypeError for any other value."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{argument} must be a str or None, not {type(value).__name__}")
    return value


# -- people, as e-mail addresses with names


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
