"""Resets a user of the service after writing a backup file, and restores a user from such a file.

A backup file is a saved service (archive.py) with the rows of one user only. `open_sandbox` opens it. The files are in
the folder `user-backups` of the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from ..core.http.messages import JSON
from ..core.notifications.channels import ChannelState
from ..core.times import format_time
from .calendars.event_messages import (
    record_calendar_change,
    record_clearing,
    record_event_change,
    record_list_change,
    users_of,
)
from .context_factory import save
from .dispatch.service_context import ServiceContext
from .files.change_log import record_creation
from .files.file_operations import delete_tree, discard_contents
from .store.archive import ArchiveReader, Rows
from .store.atomic_write import atomic_write
from .store.contents import Digests
from .store.store import Store, row_by_name

# The folder of the backup files in the folder of a store.
BACKUPS = "user-backups"

_SUFFIX = ".svc"
_TIME = "%Y%m%dT%H%M%SZ"
_STOPPED = ChannelState.STOPPED.value


@dataclass(frozen=True, slots=True)
class UserBackups:
    """The backup files of the users of one service, each of which was written before a reset."""

    context: ServiceContext

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each backup file, the oldest file first. Raises ValueError for a service in memory."""
        backups = []
        for path in self._folder().glob(f"*{_SUFFIX}"):
            name, _, moment = path.name.removesuffix(_SUFFIX).rpartition("-")
            if not path.name.startswith("."):
                written = datetime.strptime(moment.partition("_")[0], _TIME).replace(tzinfo=UTC)
                backups.append(
                    {
                        "user": unquote(name),
                        "time": format_time(written),
                        "backup": path.name,
                        "path": str(path),
                        "size": path.stat().st_size,
                    }
                )
        return sorted(backups, key=lambda row: (row["time"], row["backup"]))

    def reset(self, user: str) -> dict[str, Any]:
        """Write a backup file of a user, and then delete the files, uploads and events of the user and stop channels.

        Return the user, the backup file, and the numbers of what was deleted.
        Calendars other than the primary calendar are deleted. Files of others in folders of the user move to the root
        folders of their owners. Tokens, quotas, registered receivers and what others have shared stay. Raises
        ValueError for a service in memory, and OSError if the backup cannot be written. Nothing has changed then.
        """
        self._refuse_if_shared()
        with self.context.store.exclusive():  # nothing changes between the backup and the reset
            path = self._write(user)
            with self.context.store.transaction():
                counts, contents = self._delete(user)
        discard_contents(self.context, contents)
        return {"user": user, "backup": path.name, "path": str(path), **counts}

    def restore(self, backup: str, users: Iterable[str]) -> dict[str, Any]:
        """Restore the user of a backup file, whose present state is written to another backup file before.

        `users` are the users who can be restored. Channels do not start again. Raises ValueError, and changes nothing
        but the new backup file, for an unknown name, a damaged file, another user, or a file id that another user has.
        """
        path = next((Path(row["path"]) for row in self.rows() if backup in (row["backup"], row["path"])), None)
        if path is None:
            raise ValueError(f"{backup[:120]!r} is not a backup; GET class/backups lists the backups")
        self._refuse_if_shared()
        with path.open("rb") as file, ArchiveReader(file) as saved:
            owners = [str(row_by_name("users", row)["email"]) for row in saved.rows["users"]]
            if len(owners) != 1 or owners[0] not in users:
                raise ValueError(f"{path.name} is not the backup of an account of this service")
            return self._restore(owners[0], saved)

    def _restore(self, user: str, saved: ArchiveReader) -> dict[str, Any]:
        with saved.copied_parts(self.context.content.parts) as copied, self.context.store.exclusive():
            before = self._write(user)
            with self.context.store.transaction():
                _, contents = self._delete(user)
                _restore_rows(self.context, user, saved.rows_with(copied))
                counts = self._count(user)
        discard_contents(self.context, contents)
        return {"user": user, "backup": before.name, "path": str(before), **counts}

    def _refuse_if_shared(self) -> None:
        """Raise ValueError if another process could write between the backup and the reset."""
        if self.context.store.is_shared:
            raise ValueError(
                "a user cannot be reset or restored while several processes share the store; serve it without --shared"
            )

    def _folder(self) -> Path:
        if self.context.folder is None:
            raise ValueError("this service has no folder for backups; start it with --store DIR or --content DIR")
        return self.context.folder / BACKUPS

    def _write(self, user: str) -> Path:
        """Write a new backup file of a user and return its path."""
        folder = self._folder()
        folder.mkdir(mode=0o700, exist_ok=True)
        stem = f"{quote(user, safe='@+')}-{self.context.clock.now().strftime(_TIME)}"
        names = (f"{stem}{f'_{number}' if number else ''}{_SUFFIX}" for number in count())
        path = next(folder / name for name in names if not (folder / name).exists())
        atomic_write(path, lambda file: save(self.context, file, user), overwrite=False)
        return path

    def _count(self, user: str) -> dict[str, int]:
        store, rows = self.context.store, self.context.store.user_rows
        calendars = [row.id for row in store.calendars.of(user) if row.owner == user]
        return dict(
            files=len(rows.files(user)),
            bytes=store.files.usage(user)[0],
            uploads=len(rows.sessions(user)),
            calendars=len(set(calendars) - {user}),
            events=sum(rows.count_events(calendar) for calendar in {user, *calendars}),
            channels=sum(state != _STOPPED for _, state in rows.channels(user)),
        )

    def _delete(self, user: str) -> tuple[dict[str, int], Mapping[int, list[str]]]:
        """Delete the data of a user in the open transaction. Return numbers and the parts of deleted contents."""
        context, store = self.context, self.context.store
        counts = self._count(user)
        for seq, state in store.user_rows.channels(user):
            if state != _STOPPED:
                store.channels.set_state(seq, ChannelState.STOPPED)
        contents: dict[int, list[str]] = {}
        files = [file for key in store.user_rows.files(user) if (file := store.files.get(key))]
        # Files come before folders, so that each file is logged for its own readers.
        for file in sorted(files, key=lambda file: file.mime_type == context.folder_type):
            contents |= delete_tree(context, file.id)
        for session, content in store.user_rows.sessions(user):
            store.upload_sessions.drop(session)
            if not store.files.holds(content):
                contents.setdefault(content, store.contents.drop(content))
        store.events.drop_all(user)
        for row in [row for row in store.calendars.of(user) if row.owner == user]:
            users = users_of(context, row)
            store.events.drop_all(row.id)
            if row.primary:
                for grant in store.calendars.grants(row.id):
                    store.calendars.revoke(row.id, grant.scope)
                record_clearing(context, row.id)
            else:
                store.calendars.drop(row.id)
                record_event_change(context, row.id)
                record_list_change(context, users, row.id)
        return counts, contents


Row = Mapping[str, JSON]


def _restore_rows(context: ServiceContext, user: str, saved: Rows) -> None:
    """Add the rows of a backup to the store of a user who has just been reset, in the open transaction.

    The files are logged as new files.
    """
    store = context.store
    rows = {name: [row_by_name(name, row) for row in table] for name, table in saved.items()}
    new_content: dict[JSON, JSON] = {None: None}
    for row in rows["contents"]:
        new_content[row["id"]] = number = store.contents.begin()
        if row["md5"] is not None:
            store.contents.keep_digests(number, Digests(str(row["md5"]), str(row["sha1"]), str(row["sha256"])))
    for row in rows["rope"]:
        store.user_rows.add("rope", {**row, "content": new_content[row["content"]]})
    _restore_files(store, context.root(user), rows["files"], new_content)
    for table in ("properties", "opened", "permissions"):
        for row in rows[table]:
            store.user_rows.add(table, row)
    for row in rows["sessions"]:
        store.user_rows.add("sessions", {**row, "content": new_content[row["content"]]})
    _restore_calendars(context, rows)
    for row in rows["files"]:
        if row["parent"] is not None and (file := store.files.get(str(row["id"]))):
            record_creation(context, file, restored=True)


def _restore_files(store: Store, root: str, files: Sequence[Row], new_content: Mapping[JSON, JSON]) -> None:
    """Add the files in folders that exist, and the others in the root folder of the user."""
    restored = {row["id"] for row in files}
    roots = {row["id"] for row in files if row["parent"] is None}
    for row in _in_order(files):
        parent = row["parent"]
        if parent is None:
            continue
        known = parent in restored - roots or (parent not in roots and store.files.get(str(parent)))
        changes = {"parent": parent if known else root, "content": new_content[row["content"]]}
        store.user_rows.add("files", {**row, **changes})


def _restore_calendars(context: ServiceContext, rows: Mapping[str, Sequence[Row]]) -> None:
    """Add calendars, sharing and events. The primary calendar exists after the first use and stays as it is."""
    store = context.store
    for row in rows["calendars"]:
        if store.calendars.get(str(row["id"])) is None:
            store.user_rows.add("calendars", row)
    for row in rows["calendar_access"]:
        store.user_rows.add("calendar_access", row)
    for row in rows["calendar_entries"]:
        if store.calendars.entry(str(row["user"]), str(row["calendar"])) is None:
            store.user_rows.add("calendar_entries", row)
    for row in _in_order(rows["events"]):
        store.user_rows.add("events", row)
    for row in rows["calendars"]:
        if calendar := store.calendars.get(str(row["id"])):
            record_calendar_change(context, calendar)
            record_clearing(context, calendar.id)


def _in_order(rows: Sequence[Row]) -> list[Row]:
    """Return rows in the order of their numbers and without these, so that they get new, greater numbers."""
    numbered: list[dict[str, Any]] = sorted(map(dict, rows), key=lambda row: int(row["seq"]))
    return [{name: value for name, value in row.items() if name != "seq"} for row in numbered]
