"""The live page, which shows the files, messages and requests of a service, and the students of a class.

The steps of exercises are counted in the requests of each student. A request does not say to which exercise it belongs.
So a step is a kind of request, with an operation, a status and the rule that decided the response. A request of another
exercise, or of no exercise, counts as well. The exercise "Reject forged messages" has no step, because it sends no
request.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

from ...core.fault_plan import PRESETS
from ...core.http.messages import Query, Request, Response
from ...core.times import format_time, from_millis
from ..auth.access_tokens import TokenVerifier
from ..auth.accounts import ClassAccount, ClassAccounts
from ..calendars.event_messages import outbox
from ..dispatch.journal import Journal, JournalEntry
from ..dispatch.service_context import ServiceContext, bearer
from ..files.resource import view_path
from ..files.tables import FileRow
from ..notifications.delivery_queue import DeliveryQueue
from .html import page_response
from .sign_in import session_token

# A row or an object of the response, as plain data.
Row: TypeAlias = dict[str, object]

# The maximum number of rows of each list. The page shows the latest rows.
MAX_ROWS = 200


def activity(
    context: ServiceContext, journal: Journal, deliveries: DeliveryQueue, query: Query, class_view: ClassView
) -> Row:
    """Return the latest requests and messages, oldest first, and the latest files, last modified first.

    The query parameters describe the rows that the page has: `journal` is the id of the journal and `since` the number
    of a request, `messages`, `files` and `students` are the versions of these lists. The rows of a list that the page
    already has are None. Only the service of a class has students.
    """
    students = [{**row} for row in class_view.students()] if class_view.is_open else None
    since = _number(query.get("since")) if query.get("journal") == journal.id else 0
    return {
        "now": format_time(context.clock.now()),
        "journal": journal.id,
        "limit": MAX_ROWS,
        "requests": journal.rows(max(since, journal.last - MAX_ROWS)),
        "messages": _changed_list(_messages(context, deliveries), query.get("messages")),
        "files": _changed_list(
            [_file(context, *row) for row in context.store.files.latest(MAX_ROWS)], query.get("files")
        ),
        "students": None if students is None else _changed_list(students, query.get("students")),
    }


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 16 else 0


def _changed_list(rows: list[Row], version_of_page: str | None) -> Row:
    version = f"{crc32(json.dumps(rows).encode()):08x}"
    return {"version": version, "rows": None if version == version_of_page else rows}


def _messages(context: ServiceContext, deliveries: DeliveryQueue) -> list[Row]:
    """Return the attempts to deliver notifications and the e-mails about events, in the order of their times."""
    rows: list[Row] = [{"kind": "notification", **row} for row in deliveries.deliveries(MAX_ROWS)]
    rows += [{"kind": "e-mail", **mail} for mail in outbox(context, MAX_ROWS)]
    return sorted(rows, key=lambda row: str(row["time"]))[-MAX_ROWS:]


def _file(context: ServiceContext, row: FileRow, folder: str) -> Row:
    return {
        "id": row.id,
        "name": row.name,
        "mimeType": row.mime_type,
        "size": row.size,
        "owner": row.owner,
        "folder": folder,
        "created": format_time(from_millis(row.created)),
        "modified": format_time(from_millis(row.modified)),
        "trashed": bool(row.trashed),
        "abusive": bool(row.abusive),
        "version": row.version,
        "link": context.policy.path_prefix + view_path(context, row),
    }


_FOLDER = Path(__file__).parent


@cache
def live_page() -> Response:
    """Return the response with the live page, which is the same for everyone."""
    style, script = (f"\n{_read(name)}" for name in ("live_page.css", "live_page.js"))
    presets = "".join(f"<option>{escape(preset.name)}</option>" for preset in PRESETS)
    page = _read("live_page.html").replace("{presets}", presets).replace("{style}", style).replace("{script}", script)
    content = page.encode()
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'"
    )
    extra = [("Cross-Origin-Resource-Policy", "same-origin"), ("Referrer-Policy", "no-referrer")]
    return page_response(content, policy, *extra)


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


# -- the students of a class


_WIDE = frozenset({"storage"})
_MAX_QUESTIONS, _MAX_ANSWER = 200, 500


@dataclass(frozen=True, slots=True)
class ExerciseStep:
    """A step of an exercise. Each condition that is not None must hold for a request of one of the operations.

    `with_fault` requires a fault, and `narrow` a token without the scope for all files. `query` is a part of the query.
    """

    text: str
    operations: Collection[str]
    statuses: Collection[int | None] | None = None
    rules: Collection[str] | None = None
    with_fault: bool = False
    narrow: bool = False
    query: str = ""

    def matches(self, entry: JournalEntry) -> bool:
        """Return whether a finished request performs this step."""
        return (
            entry.operation in self.operations
            and (self.statuses is None or entry.status in self.statuses)
            and (self.rules is None or (entry.decided_by or "").partition(";")[0] in self.rules)
            and (not self.with_fault or entry.fault is not None)
            and (not self.narrow or _WIDE.isdisjoint(entry.scopes))
            and self.query in entry.query
        )


@dataclass(frozen=True, slots=True)
class ExerciseSteps:
    """The steps of an exercise of the course, in order. A step counts only after the steps before it."""

    name: str
    title: str
    steps: tuple[ExerciseStep, ...]


# The exercises in the order of the course.
EXERCISES = tuple(
    ExerciseSteps(name, row["title"], tuple(ExerciseStep(**step) for step in row["steps"]))
    for name, row in json.loads((files(__package__) / "exercises.json").read_text("utf-8")).items()
)


class PredictedAnswer(NamedTuple):
    """The answer to a question of a lesson that a student has chosen first."""

    question: str
    answer: str
    right: bool


class _Counts:
    """The numbers of one user: requests that succeeded and failed, by operation, and the requests of steps."""

    def __init__(self) -> None:
        self.last: JournalEntry | None = None
        self.succeeded: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        # The entries that performed the steps of an exercise, in order, by the name of the exercise.
        self.steps: dict[str, tuple[JournalEntry, ...]] = {}

    def add(self, entry: JournalEntry) -> None:
        self.last = entry
        has_failed = entry.status is None or entry.status >= 400
        (self.failed if has_failed else self.succeeded)[entry.operation or "unknown"] += 1
        if entry.status is None and entry.fault is None:  # in progress
            return
        for exercise in _WITH_OPERATION.get(entry.operation or "", ()):
            done = self.steps.get(exercise.name, ())
            if len(done) < len(exercise.steps) and exercise.steps[len(done)].matches(entry):
                self.steps[exercise.name] = (*done, entry)


# The exercises that have a step with an operation, by operation.
_WITH_OPERATION = {
    operation: [exercise for exercise in EXERCISES if any(operation in step.operations for step in exercise.steps)]
    for operation in {operation for exercise in EXERCISES for step in exercise.steps for operation in step.operations}
}


class ClassView:
    """The accounts of a class and their requests. Without a roster, all users of the service are students."""

    def __init__(self, context: ServiceContext, journal: Journal, verifier: TokenVerifier) -> None:
        self._context, self._journal, self._verifier = context, journal, verifier
        self.accounts: ClassAccounts | None = None
        # The first answers in memory, by user and question.
        self._predictions: dict[str, dict[str, PredictedAnswer]] = {}

    @property
    def is_open(self) -> bool:
        """Whether the service has the roster of a class, or the users of a sign-in provider such as JupyterHub."""
        return self.accounts is not None or self._verifier.provider is not None

    def credential(self, request: Request) -> str | None:
        """Return the bearer token of a request, or the token of its browser session, or None. It may be invalid."""
        return bearer(request) or session_token(self._context, self._verifier, request)

    def members(self) -> list[ClassAccount]:
        """Return the accounts in the order of the roster, or all users in the order of their addresses."""
        if self.accounts:
            return self.accounts.accounts()
        users = self._context.store.users.emails()
        return [ClassAccount(email.partition("@")[0], email, "student") for email in users]

    def students(self) -> list[dict[str, Any]]:
        """Return a row for each account, from the requests that the journal has.

        `last` is the time of the last request, and `bytes` the size of the files. `steps` has the numbers of requests
        that succeeded and failed by operation, and `exercises` the number of the steps that were done and of all steps,
        by the title of each exercise that was begun.
        """
        counts = _count(self._journal.entries())
        return [self._student_row(account, counts.get(account.email) or _Counts()) for account in self.members()]

    def _student_row(self, account: ClassAccount, own: _Counts) -> dict[str, Any]:
        store, email = self._context.store, account.email
        return {
            "name": account.name,
            "email": email,
            "role": account.role,
            "active": self.accounts is None or self.accounts.is_active(email),
            "last": format_time(own.last.time) if own.last else None,
            "requests": own.succeeded.total() + own.failed.total(),
            "errors": own.failed.total(),
            "bytes": store.files.usage(email)[0],
            "channels": store.channels.count_active(email, self._context.millis()),
            "steps": {name: [own.succeeded[name], own.failed[name]] for name in sorted({*own.succeeded, *own.failed})},
            "exercises": {
                exercise.title: [len(own.steps[exercise.name]), len(exercise.steps)]
                for exercise in EXERCISES
                if exercise.name in own.steps
            },
        }

    def steps(self) -> list[dict[str, Any]]:
        """Return a row for each step that an account has done, in the order of the accounts and of the exercises.

        `request` is the number of the request in the journal.
        """
        counts = _count(self._journal.entries())
        return [
            {
                "name": account.name,
                "email": account.email,
                "exercise": exercise.name,
                "title": exercise.title,
                "step": number,
                "of": len(exercise.steps),
                "text": exercise.steps[number - 1].text,
                "time": format_time(entry.time),
                "request": entry.n,
            }
            for account in self.members()
            if (own := counts.get(account.email))
            for exercise in EXERCISES
            for number, entry in enumerate(own.steps.get(exercise.name, ()), 1)
        ]

    def count_prediction(self, user: str, first: PredictedAnswer) -> bool:
        """Keep the first answer of a user to a question. Return False for a further one, and for too many or long."""
        own = self._predictions.setdefault(user, {})
        if first.question in own or len(own) == _MAX_QUESTIONS or max(map(len, first[:2])) > _MAX_ANSWER:
            return False
        own[first.question] = first
        return True

    def predictions(self) -> list[dict[str, object]]:
        """Return a row for each answer that somebody has chosen first, with the number of these students."""
        counts = Counter(first for own in [*self._predictions.values()] for first in [*own.values()])
        return [{**first._asdict(), "students": count} for first, count in sorted(counts.items())]


def _count(entries: Iterable[JournalEntry]) -> dict[str, _Counts]:
    counts: dict[str, _Counts] = {}
    for entry in entries:
        if entry.user is not None:
            counts.setdefault(entry.user, _Counts()).add(entry)
    return counts
