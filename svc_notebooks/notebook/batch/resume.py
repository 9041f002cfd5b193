"""Continues a call for many rows that has stopped, with a ledger of the rows that are done."""

from __future__ import annotations

import gc
import json
import os
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from ...client.files import ROOT, generate_ids, get_file
from ...client.transport.retry import Retry
from ...core.errors.caller_warning import warn_caller
from ...core.errors.errors import AlreadyExists, ContentMismatch, Interrupted, NotAllowed, NotFound, SourceChanged
from ..sandbox.sandbox_numbers import open_sandboxes
from .workers import Report, Row, RowCall, RowOutcome

if TYPE_CHECKING:
    from ...client.session import Session
    from ...local.ledger import Ledger, LedgerRow
    from ..frames.frames import Record

Resume: TypeAlias = str | os.PathLike[str] | None
"""The argument `resume`, which is the name or the path of a ledger, or None for a call without a ledger."""

_SKIPPED: Mapping[str, Any] = {"outcome": "skipped", "attempts": 0, "seconds": 0.0}
"""The columns of a row that an earlier call with the same ledger has done."""

_ENDING = ".resume.sqlite"
_ID_IS_USED = (AlreadyExists, ContentMismatch, SourceChanged)
"""The errors after which a file with the chosen id exists, which is not the file of the row."""

_STARTED = 32
"""The number of rows that are recorded as started at a time."""

_IDS = 1000
"""The number of ids for new files that one request returns."""


@dataclass(frozen=True, slots=True)
class Resumable(Generic[Row]):
    """How a public function repeats a row, and records its rows in a ledger.

    Attributes:
        function: The name of the public function.
        arguments: What all rows have in common. A ledger is refused for other arguments. None is left out.
        identity: A function that returns what identifies a row, such as a file id, as a JSON value.
        with_id: A function that returns the row of a new file or event with a new id. None if rows need no id.
        new_ids: A function that returns a number of new ids.
        needs_id: A function that returns whether a row can be repeated only with an id. With a ledger all rows get ids.
        fewest: The number of rows from which they get ids without a ledger.
        repeat: The call for a row that may be done already. None means the same call.
        is_done: A function that returns whether a row that is recorded as done is still done, given the row and its
            record. A row that is not is called again, with a new id.
        current: A function that returns the columns that a skipped row takes from the row and not from the ledger.
    """

    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    identity: Callable[[Row], Any] = str
    with_id: Callable[[Row, str], Row] | None = None
    new_ids: Callable[[Session, int], Sequence[str]] = generate_ids
    needs_id: Callable[[Row], bool] = lambda row: True
    fewest: int = 2
    repeat: RowCall[Row] | None = None
    is_done: Callable[[Row, Record], bool] = lambda row, record: True
    current: Callable[[Row], Record] = lambda row: {}


def ledger_path(resume: Resume) -> Path | None:
    """Return the path of a ledger, or None for None. A name is a file in the current folder.

    >>> ledger_path("survey").name, ledger_path("lists/survey.sqlite").name
    ('survey.resume.sqlite', 'survey.sqlite')
    """
    if resume is None:
        return None
    if not isinstance(resume, str | os.PathLike) or not isinstance(os.fspath(resume), str):
        raise TypeError(f"resume must be a name or a path, not {type(resume).__name__}")
    text = os.fspath(resume)
    if not text:
        raise ValueError("resume is empty; give a name such as 'survey'")
    path = Path(text).expanduser()
    is_name = isinstance(resume, str) and path.name == text and not text.endswith(".sqlite")
    return Path(text + _ENDING) if is_name else path


class _RowToCall(NamedTuple):
    """A row of a call. `repeated` is True if an earlier call may have done it already."""

    row: Any
    repeated: bool
    has_chosen_id: bool


class AllRows(Generic[Row]):
    """The rows of a call without a ledger. New files and events of several rows get ids, so that none is made twice."""

    def __init__(
        self, call: RowCall[Row], rows: Sequence[Row], session: Session, resumable: Resumable[Row] | None
    ) -> None:
        self._rows, self._session, self._resumable = rows, session, resumable or Resumable("")
        self.call: RowCall[Any] = partial(_call_or_repeat, call=call, repeat=self._resumable.repeat or call)
        self.pending: Sequence[int] = range(len(rows))
        """The numbers of the rows that an earlier call has not done."""
        self._ids: dict[int, str] = {}
        few = self._resumable.with_id is None or len(rows) < self._resumable.fewest
        self._without_id = (n for n in self.pending if not few and self._resumable.needs_id(rows[n]))
        self._next_without_id = next(self._without_id, None)

    def begin(self, n: int) -> _RowToCall:
        """Return the argument of `call` for a row, immediately before it is called."""
        row, with_id = self._rows[n], self._resumable.with_id
        if n == self._next_without_id:
            self._choose_ids(n)
        if n in self._ids and with_id is not None:
            row = with_id(row, self._ids.pop(n))
        return _RowToCall(row, repeated=self._was_sent(n), has_chosen_id=row is not self._rows[n])

    def _was_sent(self, n: int) -> bool:
        return False

    def _choose_ids(self, n: int) -> dict[int, str]:
        """Generate ids for the row and the next ones without an id, and return them."""
        following = [n, *islice(self._without_id, _IDS - 1)]
        self._next_without_id = next(self._without_id, None)
        ids = dict(zip(following, self._resumable.new_ids(self._session, len(following)), strict=True))
        self._ids |= ids
        return ids

    def end(self, n: int, outcome: RowOutcome, failure: str | None) -> None:
        """Record the outcome of a row. `failure` is the error message of a failed row."""


class _LedgerRows(AllRows[Row]):
    """The rows of a call with a ledger, which records each row before and after its call."""

    def __init__(
        self,
        call: RowCall[Row],
        rows: Sequence[Row],
        session: Session,
        resumable: Resumable[Row],
        ledger: Ledger,
        skip: Callable[[int, Record], None],
    ) -> None:
        super().__init__(call, rows, session, resumable)
        self._ledger = ledger
        numbers = _numbers(rows, resumable.identity)
        self._stored: dict[int, LedgerRow] = {}
        with _without_collector():
            for row in ledger.rows():
                n = numbers.get(row.key)
                if n is None:
                    continue
                if row.state != "done":
                    self._stored[n] = row
                elif resumable.is_done(rows[n], record := row.record or {}):
                    record |= resumable.current(rows[n])
                    record |= _SKIPPED
                    skip(n, record)
                    del numbers[row.key]
        self._keys = {n: key for key, n in numbers.items()}
        self.pending = list(self._keys)
        self._ids = {n: row.id for n, row in self._stored.items() if row.id is not None}
        with_id = {*self._ids}
        self._without_id = (n for n in self.pending if resumable.with_id and n not in with_id)
        self._next_without_id = next(self._without_id, None)
        self._waiting, self._started = iter(self.pending), set[int]()

    def begin(self, n: int) -> _RowToCall:
        to_call = super().begin(n)
        if n not in self._started:
            self._start_rows()
        return to_call

    def _was_sent(self, n: int) -> bool:
        before = self._stored.get(n)
        return before is not None and (before.state == "started" or (before.state == "failed" and bool(before.id)))

    def _start_rows(self) -> None:
        """Save the next rows as started. One transaction for each of them would slow the threads down."""
        following = list(islice(self._waiting, _STARTED))
        self._ledger.start([self._keys[n] for n in following])
        self._started.update(following)

    def _choose_ids(self, n: int) -> dict[int, str]:
        ids = super()._choose_ids(n)
        self._ledger.choose([(self._keys[n], file_id) for n, file_id in ids.items()])
        return ids

    def end(self, n: int, outcome: RowOutcome, failure: str | None) -> None:
        if outcome.error is None:
            self._ledger.save(self._keys[n], "done", record=outcome.record)
        elif failure is not None:
            keep_id = not isinstance(outcome.error, _ID_IS_USED)
            self._ledger.save(self._keys[n], "failed", error=failure, keep_id=keep_id)


@contextmanager
def open_rows(
    call: RowCall[Row],
    rows: Sequence[Row],
    session: Session,
    resumable: Resumable[Row] | None,
    resume: Resume,
    skip: Callable[[int, Record], None],
) -> Generator[AllRows[Row]]:
    """Open the ledger of a call, and yield its rows. The block calls `begin` and `end` for each pending row.

    `skip` is called with the numbers and the records of the rows that an earlier call has done.
    """
    path = ledger_path(resume)
    if path is None or resumable is None:
        yield AllRows(call, rows, session, resumable)
        return
    from ...local.ledger import Ledger, OtherCallError

    common = _common(session, resumable)
    try:
        ledger = Ledger(path, common)
    except OtherCallError as error:
        if not _has_ended(error.call.get("service", "")):
            raise ValueError(str(error)) from None
        _start_again(path)
        ledger = Ledger(path, common)
    try:
        yield _LedgerRows(call, rows, session, resumable, ledger, skip)
    finally:
        ledger.close()


def _common(session: Session, resumable: Resumable[Any]) -> dict[str, str]:
    """Return the values that all rows of a ledger have in common. The top folder stands for the service and user."""

    try:
        top = str(get_file(session, ROOT, fields="id").get("id"))
    except (NotAllowed, NotFound):  # the access token is for other files only
        top = "unknown"
    values = {name: value for name, value in resumable.arguments.items() if value is not None}
    arguments = {name: json.dumps(value, sort_keys=True, default=str) for name, value in values.items()}
    return {"function": resumable.function, "service": _service(session), "top folder": top, **arguments}


_in_memory: WeakKeyDictionary[object, str] = WeakKeyDictionary()
"""The random names of the sandboxes whose data are in memory. Another sandbox can have the same address and ids."""


_SANDBOX = ", sandbox "


def _service(session: Session) -> str:
    if not session.in_process or session.pending.folder is not None:
        return session.base_url
    name = _in_memory.setdefault(session.owner or session, token_hex(4))
    return f"{session.base_url}{_SANDBOX}{name}"


def _has_ended(service: str) -> bool:
    """Return True for the service of a ledger that was a sandbox in memory, unless it is open in this kernel."""
    _, mark, name = service.partition(_SANDBOX)
    gc.collect()  # a sandbox that a cell has replaced by another one
    owners = [owner for owner, own_name in _in_memory.items() if own_name == name]
    return bool(mark) and not any(owner in open_sandboxes() or not hasattr(owner, "closes") for owner in owners)


def _start_again(path: Path) -> None:
    """Set the ledger of a sandbox that has ended aside, with a warning."""
    from ...local.saving import set_aside

    kept = set_aside(path)
    warn_caller(
        f"resume is {str(path)!r}, the ledger of a sandbox in memory, which has ended with its files."
        f" The call does all rows; the old ledger is kept as {kept.name!r}"
    )


@contextmanager
def _without_collector() -> Generator[None]:
    """Turn off the garbage collector, which would look through a million records again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _numbers(rows: Sequence[Row], identity: Callable[[Row], Any]) -> dict[str, int]:
    """Return the numbers of the rows by their keys in the ledger. Rows with the same identity are numbered, too."""
    encode = json.JSONEncoder(sort_keys=True, default=str).encode
    numbers: dict[str, int] = {}
    repeated: Counter[str] = Counter()
    for n, row in enumerate(rows):
        if (key := encode(identity(row))) in numbers:
            repeated[key] += 1
            key = f"{key} {repeated[key] + 1}"
        numbers[key] = n
    return numbers


def _call_or_repeat(
    session: Session, item: _RowToCall, report: Report, call: RowCall[Any], repeat: RowCall[Any]
) -> Mapping[str, Any]:
    """Call the function of a row, or `repeat` if the row may be done already.

    This is so if a connection was lost, and if a cluster calls the row twice, because a worker has ended.
    """
    tries, repeated = Retry(session, repeatable=True), item.repeated
    tries.progress()
    while True:
        try:
            return (repeat if repeated else call)(session, item.row, report)
        except AlreadyExists:
            if repeated or not item.has_chosen_id:
                raise
        except Interrupted as lost:
            if not (lost.uncertain and item.has_chosen_id and tries.wait()):
                raise
        repeated = True
