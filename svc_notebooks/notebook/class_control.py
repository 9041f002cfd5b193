"""Controls the service of a class from the notebook of a teacher (docs/class.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from ..client.json_response import foreign_answer, reading
from ..client.session import RequestParts, Session, SessionLike, current_session, session_or_current
from ..core.brand_names import IN_PROCESS_URL
from ..core.errors.errors import SvcError
from ..core.errors.public_calls import public_methods
from ..core.fault_plan import network_outage, preset as preset_of
from ..core.time_arguments import Duration, parse_duration
from . import frames
from .arguments import row_ids
from .sandbox.controls import fault_plan_rows
from .sandbox.sandbox import new_session

if TYPE_CHECKING:
    from pandas import DataFrame, Series


Rows: TypeAlias = "str | Mapping[str, Any] | Series | DataFrame | Iterable[Any] | None"

_CONTROL = "/_control/"


def class_control(*, session: SessionLike = None) -> ClassControl:
    """Return the control of the class to whose service a teacher has connected. This sends no request.

    The requests of the control are not in `svc.exchanges()`.

    Args:
        session: The session of the teacher. None stands for the current session.

    Returns:
        A ClassControl. Each of its methods returns a DataFrame.

    >>> session = svc.connect("http://127.0.0.1:8300", token="svc.of-a-teacher")
    >>> svc.class_control()
    <ClassControl http://127.0.0.1:8300>
    """
    return ClassControl(session_or_current(session))


@public_methods
class ClassControl:
    """The calls of a teacher to the service of a class (`svc-notebooks serve --class` or `--hub --control`).

    Each method except `journal` raises NotAllowed for the token of a student. All raise NotSignedIn for an invalid
    token, and NotFound if the service has no class or no control interface. A student is an e-mail address, or a row
    with one, such as a row of `students()`.

    >>> session = svc.connect("http://127.0.0.1:8300", token="svc.of-a-teacher")
    >>> school = svc.class_control()
    >>> school.base_url
    'http://127.0.0.1:8300'
    """

    def __init__(self, session: Session) -> None:
        self._session = session if session.in_process else Session.from_recipe(session.recipe())

    @property
    def base_url(self) -> str:
        """The address of the service."""
        return self._session.base_url

    def __repr__(self) -> str:
        return f"<ClassControl {self.base_url}>"

    def students(self) -> DataFrame:
        """List the accounts of the class, with their requests.

        Returns:
            One row for each account in the order of the roster: name, email, role (str), active (boolean, False after
            the sign-in token was revoked), last (datetime64[ms, UTC], the time of the last request), requests, errors
            (Int64, of the requests in the journal), bytes (Int64, of the files), channels (Int64, active channels),
            steps (Int64, steps of exercises), operations (str, each operation with its numbers).
        """
        rows = self._get("class/students", "students")
        with reading(self.base_url):
            for row in rows:
                row["operations"] = ", ".join(
                    f"{name} {done + failed}{f' ({failed} failed)' if failed else ''}"
                    for name, (done, failed) in row["steps"].items()
                )
                row["steps"] = sum(done for done, _ in row["exercises"].values())
            return frames.frame(frames.STUDENTS, rows)

    def steps(self, user: Rows = None) -> DataFrame:
        """List the steps of the course's exercises that the requests of each account contain.

        A request does not say to which exercise it belongs, so a request outside of an exercise counts as well. A step
        counts after the steps before it, and only in the requests that the journal still has.

        Args:
            user: An account or several. None stands for all accounts.

        Returns:
            One row for each step: name, email (str), exercise (str, name of the exercise), title (str, its title), step
            (Int64, from 1), of (Int64, number of steps), text (str, what the request did), time (datetime64[ms, UTC]),
            request (Int64, number in the journal).
        """
        rows = self._get("class/steps", "steps")
        users = _users(user)
        return frames.frame(frames.CLASS_STEPS, [row for row in rows if user is None or row.get("email") in users])

    def predictions(self) -> DataFrame:
        """Count the answers to the questions of `course.predict` that students have chosen first, without their names.

        Students count whose kernel is connected to the service, or has its address and token in SVC_BASE_URL and
        SVC_TOKEN. The service has the counts in memory, until it ends.

        Returns:
            One row for each answer: question, answer (str), right (boolean), students (Int64).
        """
        return frames.frame(frames.CLASS_PREDICTIONS, self._get("class/predictions", "predictions"))

    def journal(self, user: Rows = None, *, since: int = 0) -> DataFrame:
        """List the requests that the service has received. The journal keeps the latest 10,000.

        With the token of a student these are the student's own requests, each with the rule that decided its response.

        Args:
            user: The account that has sent the requests, or several. None stands for all requests.
            since: The number of a request. Only later requests are listed.

        Returns:
            One row for each request, with the columns of `lab.journal()`.

        Raises:
            NotAllowed: The token is that of a student, and `user` is another account.
        """
        users = _users(user)
        rows = self._get("journal", "journal", {"since": since} | ({"user": users[0]} if len(users) == 1 else {}))
        return frames.frame(frames.JOURNAL, [row for row in rows if user is None or row.get("user") in users])

    def reset(self, user: Rows) -> DataFrame:
        """Delete the files, uploads and events of a student, and stop the channels, after writing a backup file.

        The backup is on the machine of the service and has everything that is deleted; `restore` restores it. Sign-in
        token, quota and files of others stay. Files of others in a folder of the student move to their owners' roots.

        Args:
            user: The student, or several.

        Returns:
            One row for each student: user, backup (str, name of the backup), path (str, path of the backup file),
            files, bytes, uploads, calendars, events, channels (Int64, what was deleted or stopped).

        Raises:
            BadRequest: The class has no such account, or the service is in memory. Nothing has changed.
        """
        done = [self._ask("class/reset", "backup", body={"user": each}) for each in _users(user)]
        return frames.frame(frames.RESET_STUDENT, done)

    def backups(self) -> DataFrame:
        """List the backup files that `reset` and `restore` have written.

        Returns:
            One row for each file, the oldest first: user (str), time (datetime64[ms, UTC]), backup (str, name for
            `restore`), path (str, on the machine of the service), size (Int64, bytes).
        """
        return frames.frame(frames.BACKUPS, self._get("class/backups", "backups"))

    def restore(self, backup: Rows) -> DataFrame:
        """Restore a student to the state in a backup. The present state is written to another backup file before.

        Channels do not start again.

        Args:
            backup: The name or the path of a backup, or a row of `reset` or `backups`, or several of these.

        Returns:
            One row for each backup, with the columns of `reset`. backup and path are the backup of the state before,
            and the numbers count what the student has now.

        Raises:
            BadRequest: There is no such backup, or it is damaged. The student is unchanged.
        """
        names = row_ids(backup, "backup", ("backup",))
        return frames.frame(
            frames.RESET_STUDENT, [self._ask("class/restore", "backup", body={"backup": each}) for each in names]
        )

    def break_network(self, seconds: Duration = 60) -> DataFrame:
        """Let the service close the connections of all users without a response for some time.

        The control of the class and the live page go on. `clear_faults` ends it.

        Args:
            seconds: The real time: seconds, a timedelta or a text such as "90s" or "2 min".

        Returns:
            The active faults, as `fault_plans` returns them.
        """
        self._ask("faults", "id", body=network_outage(parse_duration(seconds, "seconds").total_seconds()))
        return self.fault_plans()

    def faults(self, preset: str, *, seconds: Duration | None = None) -> DataFrame:
        """Activate a preset of faults for all users. Each step of a preset happens a few times.

        Args:
            preset: The name of a preset of `svc.fault_presets()`.
            seconds: The real time after which the faults end, such as 90 or "2 min". None: they end when each has
                happened.

        Returns:
            The active faults, as `fault_plans` returns them.

        Raises:
            ValueError: There is no such preset.
        """
        preset_of(preset)
        limit = None if seconds is None else parse_duration(seconds, "seconds").total_seconds()
        self._ask("faults", "id", body={"preset": preset, "seconds": limit} if limit else {"preset": preset})
        return self.fault_plans()

    def fault_plans(self) -> DataFrame:
        """List the steps of all active faults, with the columns of `lab.fault_plans()`."""
        return frames.frame(frames.FAULT_PLANS, fault_plan_rows(self._get("faults", "plans")))

    def clear_faults(self) -> DataFrame:
        """Remove all faults. Returns the active faults, which are none."""
        self._session.execute("DELETE", f"{_CONTROL}faults")
        return self.fault_plans()

    def clock(self) -> DataFrame:
        """Return one row with the time of the service: now (datetime64[ms, UTC])."""
        return frames.frame(frames.CLASS_CLOCK, [self._ask("clock", "now")])

    def advance(self, duration: Duration) -> DataFrame:
        """Advance the clock of the service for all users. Everything that is due happens at its time.

        From then on the clock stands still between these calls, until the service is started again.

        Args:
            duration: Seconds, a timedelta or a text such as "90s", "2h" or "8 days".

        Returns:
            One row with the new time: now (datetime64[ms, UTC]).
        """
        seconds = parse_duration(duration, "duration").total_seconds()
        return frames.frame(frames.CLASS_CLOCK, [self._ask("clock", "now", body={"advance": seconds})])

    def _get(self, name: str, member: str, query: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        rows: Any = self._ask(name, member, query=query)[member]
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise foreign_answer(self.base_url, f"it has no list {member}", str(rows)[:99])
        return rows

    def _ask(self, name: str, member: str, **parts: Unpack[RequestParts]) -> Mapping[str, Any]:
        """Return the answer to a call, a POST if it has a body. Raises ServiceFailed if it has no field `member`."""
        answer = self._session.fetch("POST" if "body" in parts else "GET", f"{_CONTROL}{name}", **parts)
        if answer.get(member) is None:
            raise foreign_answer(self.base_url, f"it has no field {member}", str([*answer][:9]))
        return answer


def report_prediction(question: str, answer: str, right: bool) -> None:
    """Send the first answer to a question to the service of the class, if this kernel has one."""
    session = None
    with suppress(RuntimeError):  # no current session
        session = current_session()
    with suppress(ValueError, SvcError):  # no other address in the environment, or not the service of a class
        if session is None or session.base_url == IN_PROCESS_URL:
            session = new_session()
        body = {"question": question, "answer": answer, "right": right}
        ClassControl(session)._session.execute("POST", "/_class/predictions", body=body)


def _users(user: Rows) -> list[str]:
    return [] if user is None else [each.lower() for each in row_ids(user, "user", ("email", "user"))]
