"""Houses to live in: a new one or that of a folder, one like another was at a moment, one out of a file."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ...core.names import Names
from ...core.policy import Policy
from ..blobs.blob_store import MemoryParts, Parts
from ..context.service_context import House
from ..database.errors import Translation
from ..files.conversion import converter_of
from ..files.storage_errors import naming_files
from ..notifications.trust_store import Trust
from ..storage.clock import SystemClock, VirtualClock, moved
from ..storage.content import Content
from ..storage.data_directory import DATABASE, OpenedFolder, open_folder
from ..storage.disk_reserve import Reserve
from ..storage.ids import Ids
from ..storage.session_locks import Lanes
from ..store import Store, open_database
from .archive import About, Saved, write
from .snapshots import State


class Opened(NamedTuple):
    """A house, and where its bytes lie."""

    house: House
    parts: Parts


def _furnished(
    store: Store, parts: Parts, ids: Ids, clock: SystemClock | VirtualClock, policy: Policy, names: Names
) -> House:
    return House(
        store=store,
        content=Content(store, parts, policy.part_size),
        lanes=Lanes(policy.takeover_after),
        clock=clock,
        ids=ids,
        policy=policy,
        names=names,
        converter=converter_of(policy),
        base_url=None,
        secret=store.people.fact("secret", ids.secret()),
    )


def house_in(
    folder: Path | None, seed: int | None, clock: SystemClock | VirtualClock, policy: Policy, names: Names
) -> Opened:
    """A house that keeps everything in this folder, or in memory."""
    return Reserve(folder).spend(lambda: _house_in(folder, seed, clock, policy, names))


def _house_in(
    folder: Path | None, seed: int | None, clock: SystemClock | VirtualClock, policy: Policy, names: Names
) -> Opened:
    with Translation(folder and folder / DATABASE):
        database, parts, notes = (
            open_folder(folder, policy.durability, time.time())
            if folder
            else OpenedFolder(open_database(None, policy.durability), MemoryParts(), [])
        )
    store = Store(database)
    try:
        ids = Ids(seed, opening=store.people.count_opening())
        house = _furnished(store, parts, ids, clock, policy, names)
        house.content.record_checksums()
        reserve = Reserve(folder, database.checkpoint)
        reserve.renew()
    except BaseException:
        store.close()
        raise
    return Opened(replace(house, folder=folder, notes=notes, reserve=reserve), parts)


def house_like(house: House, parts: Parts, branch: int = 0) -> Opened:
    """A copy in memory, which has a clock of its own and tells nobody: its channels are stopped (see `copied`)."""
    state, store = State.of(house, parts), Store(open_database(None, "process"))
    try:
        with naming_files(house):
            found = state.fill(store)
        if found is not state.parts:
            state.drop()
        ids = _ids_of_a_copy(store, house.ids.seed, state.ids, branch)
        clock = _clock(_start(house), state)
        return copied(Opened(_furnished(store, found, ids, clock, house.policy, house.names), found))
    except BaseException:
        store.close()
        raise


def house_from(file: BinaryIO, branch: int = 0) -> Opened:
    """What a file has kept, in memory. Raises ValueError for a file that is no such thing, or damaged."""
    with Saved(file) as saved:
        about, store, parts = saved.about, Store(open_database(None, "process")), MemoryParts()
        try:
            store.fill(saved.rows_with(saved.parts(parts)), saved.counters)
            ids = _ids_of_a_copy(store, about.seed, about.ids, branch)
            clock = _clock(about.start, about)
            return copied(Opened(_furnished(store, parts, ids, clock, about.policy, about.names), parts))
        except BaseException:
            store.close()
            raise


def _ids_of_a_copy(store: Store, seed: int | None, state: Any, branch: int) -> Ids:
    """The ids that a copy draws: branch 0 continues where `state` was taken, every other one draws its own."""
    ids = Ids(seed, opening=store.people.count_opening(), branch=branch)
    if not branch:
        ids.go_to(state)
    return ids


def _start(house: House) -> datetime | None:
    """Where its clock began, if it is one that is moved by hand."""
    hand = moved(house.clock)
    return hand.start if hand else None


def _clock(start: datetime | None, at: State | About) -> SystemClock | VirtualClock:
    if start is None:
        return SystemClock()
    clock = VirtualClock(start)
    clock.put(at.now)
    return clock


def copied(opened: Opened) -> Opened:
    """A copy writes to nobody: there may be many of it, and whoever watches the first has not asked for theirs."""
    opened.house.store.channels.silence()
    return opened


def save(house: House, parts: Parts, file: BinaryIO) -> None:
    """Write everything to a file that is empty, as it is at one moment; requests go on meanwhile."""
    state, store = State.of(house, parts), Store(open_database(None, "process"))
    try:
        store.put_back(state.rows)
        about = About(state.now, _start(house), house.ids.seed, state.ids, house.names, house.policy)
        with naming_files(house):
            write(file, store, state.parts, about)
    finally:
        store.close()
        state.drop()


def load(house: House, parts: Parts, file: BinaryIO) -> None:
    """Give a house that is lived in what a file has kept, in place of all that it has. Raises ValueError.

    Its policy and its names stay, and so does its secret; nothing has changed where an error is raised.
    """
    with Saved(file) as saved, house.store.still():
        if saved.about.names != house.names:
            raise ValueError("it was saved under other brand names than this service has")
        for (pem,) in saved.rows["authorities"]:
            Trust().add(str(pem))  # while it can still be refused
        moved_in = saved.parts(parts)
        try:
            with house.content.replacing(), house.store.transaction():
                house.store.fill(saved.rows_with(moved_in), saved.counters)
                house.store.people.set_fact("secret", house.secret)
                house.store.channels.silence()
                house.ids.go_to(saved.about.ids)
        except BaseException:
            parts.delete(part.key for part in moved_in.values())
            raise
    hand = moved(house.clock)
    if hand and saved.about.start:
        hand.put(saved.about.now)
