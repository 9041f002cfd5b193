"""Builds a ServiceContext, empty or from a data directory, a running service or a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..core.brand_names import Names
from ..core.policy import Policy
from .dispatch.service_context import ServiceContext
from .files.conversion import converter_of
from .files.storage_errors import naming_files
from .notifications.trust_store import TrustStore
from .store.archive import ArchiveReader, Manifest, write
from .store.blob_store import BlobStore, MemoryBlobStore, check_parts, write_part
from .store.clock import SharedClock, SystemClock, VirtualClock, unshared
from .store.contents import Content
from .store.data_directory import DATABASE, OpenedStore, Reserve, open_folder
from .store.errors import explain_errors, on_error
from .store.ids import Ids
from .store.opening import open_database
from .store.session_locks import SessionLocks
from .store.store import Store


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The state of a service at one moment.

    `rows` is an image of the database. `parts` shares the bytes with the service if possible. `manifest` has the rest.
    """

    rows: bytes
    parts: BlobStore
    manifest: Manifest

    @classmethod
    def of(cls, context: ServiceContext) -> ServiceState:
        """Return the present state of a service. Raises DamagedContent if a part is missing or has the wrong length."""
        with context.store.exclusive(), naming_files(context):
            kept = context.content.parts.copy(context.store.contents.parts())
            clock, ids = context.clock, context.ids
            start = clock.start if clock.is_virtual else None
            manifest = Manifest(clock.now(), start, ids.seed, ids.state(), context.names, context.policy)
            return cls(context.store.image(), kept, manifest)

    def restore(self, context: ServiceContext) -> None:
        """Restore a service to this state.

        Parts are restored before the rows that name the parts, and other parts are deleted last, so a kill loses
        nothing.
        """
        with context.store.exclusive():
            context.content.parts.restore(self.parts)
            with context.content.replacing():
                context.store.restore(self.rows)
            context.ids.go_to(self.manifest.ids)
        if context.clock.is_virtual:
            context.clock.put(self.manifest.now)

    def drop(self) -> None:
        """Delete the parts of this state. The state cannot be restored any more."""
        self.parts.drop()


class ServiceSettings(NamedTuple):
    """What a service has wherever its store is, as in `open_service`."""

    seed: int | None
    clock: VirtualClock
    policy: Policy
    names: Names


def _assemble(
    store: Store, parts: BlobStore, ids: Ids, clock: VirtualClock, policy: Policy, names: Names
) -> ServiceContext:
    return ServiceContext(
        store=store,
        content=Content(store, parts, policy.part_size),
        session_locks=SessionLocks(policy.takeover_after),
        clock=clock,
        ids=ids,
        policy=policy,
        names=names,
        converter=converter_of(policy),
        base_url=None,
        secret=store.users.ensure_named_value("secret", ids.secret()),
    )


def open_context(
    path: str | Path | None, content: str | Path | None, settings: ServiceSettings, *, shared: bool, journal: int | None
) -> ServiceContext:
    """Build a context for a folder, for the address of a PostgreSQL database and `content`, or in memory."""
    scheme, is_url, _ = str(path or "").partition("://")
    if scheme in ("postgresql", "postgres") and is_url:
        if content is None:
            raise ValueError("a store on PostgreSQL needs a folder or a bucket for the contents of files: give content")
        return _build_server_context(str(path), content, settings, shared=shared, journal=journal)
    if is_url:  # the URL may have a password
        raise ValueError(f"path is a URL of the scheme {scheme!r}; give a folder or postgresql://user@host/database")
    if shared:
        raise ValueError("only a store on PostgreSQL can be shared by several processes")
    if journal is not None:
        raise ValueError("only a store on PostgreSQL keeps the journal in its database")
    if content is not None:
        raise ValueError("content applies only to a store on PostgreSQL; in a folder, the contents are beside the rows")
    folder = None if path is None else Path(path)
    return Reserve(folder).spend(lambda: _build_context(folder, settings))


def _build_server_context(
    address: str, content: str | Path, settings: ServiceSettings, *, shared: bool, journal: int | None
) -> ServiceContext:
    """Build a context for a store whose rows are on PostgreSQL, and whose contents are in a folder or a bucket."""
    seed, clock, policy, names = settings
    if journal is not None and journal < 1:
        raise ValueError("journal must be a number of requests, 1 or more")
    if shared and seed is not None:
        raise ValueError("a store that several processes share has no seed, because each process makes its own ids")
    try:
        from .store.postgres.opening import open_server_store
    except ImportError:
        raise ImportError('PostgreSQL needs a driver: pip install "svc-notebooks[postgres]"') from None
    durability = policy.durability or "power"
    database, parts, notes, folder = open_server_store(address, content, durability, shared=shared)
    store = Store(database)
    with on_error(store.close):
        if store.shared:
            clock = SharedClock(store.shared.values, clock.now() if clock.is_virtual else None)
        with store.transaction():  # another process may be creating the same rows
            ids = Ids(seed, opening=store.users.count_opening())
            context = _assemble(store, parts, ids, clock, policy, names)
        records = store.records(journal) if journal else None
    return replace(context, folder=folder, notes=notes, records=records)


def _build_context(folder: Path | None, settings: ServiceSettings) -> ServiceContext:
    seed, clock, policy, names = settings
    with explain_errors(folder and folder / DATABASE):
        database, parts, notes, _ = (
            open_folder(folder, policy.durability or "process")
            if folder
            else OpenedStore(open_database(None, "process"), MemoryBlobStore(), [], None)
        )
    store = Store(database)
    with on_error(store.close):
        ids = Ids(seed, opening=store.users.count_opening())
        context = _assemble(store, parts, ids, clock, policy, names)
        context.content.record_checksums()
        reserve = Reserve(folder, database.checkpoint)
        reserve.renew()
    return replace(context, folder=folder, notes=notes, reserve=reserve)


def fork_context(context: ServiceContext, branch: int = 0) -> ServiceContext:
    """Return a copy of a service in memory, with its own clock and stopped channels.

    Copies with different `branch` numbers get different ids. Raises DamagedContent if a part is damaged.
    """
    state, store = ServiceState.of(context), Store(open_database(None, "process"))
    with on_error(store.close):
        store.restore(state.rows)
        copied = state.parts
        if not isinstance(copied, MemoryBlobStore):
            copied = MemoryBlobStore()
            with naming_files(context):
                for part in check_parts(state.parts, store.contents.parts()):
                    write_part(copied, state.parts.read(part, 0, part.size), part.key)
            state.drop()
        return _assemble_copy(store, copied, state.manifest, branch)


def load_context(file: BinaryIO, branch: int = 0) -> ServiceContext:
    """Build a context in memory from a saved service. Raises ValueError if the file is not a valid saved service."""
    with ArchiveReader(file) as saved:
        store, parts = Store(open_database(None, "process")), MemoryBlobStore()
        with on_error(store.close), saved.copied_parts(parts) as copied:
            store.load_rows(saved.rows_with(copied), saved.counters)
            return _assemble_copy(store, parts, saved.manifest, branch)


def _assemble_copy(store: Store, parts: BlobStore, manifest: Manifest, branch: int) -> ServiceContext:
    """Return a context with stopped channels. Branch 0 continues the ids, and other branches begin new sequences."""
    ids = Ids(manifest.seed, opening=store.users.count_opening(), branch=branch)
    if not branch:
        ids.go_to(manifest.ids)
    clock = VirtualClock(manifest.start) if manifest.start else SystemClock()
    if manifest.start:
        clock.put(manifest.now)
    store.channels.stop_all()  # no receiver of the original gets messages from the copy
    return _assemble(store, parts, ids, clock, manifest.policy, manifest.names)


def save(context: ServiceContext, file: BinaryIO, user: str | None = None) -> None:
    """Write the state of a running service, or only the rows of a user, to an empty file. Raises DamagedContent.

    The state is copied at one moment, and the service handles requests while the file is written.
    """
    state, store = ServiceState.of(context), Store(open_database(None, "process"))
    try:
        store.restore(state.rows)
        manifest = state.manifest
        if user:
            store.user_rows.keep_only(user)
            manifest = replace(manifest, policy=replace(manifest.policy, first_user=user))
        with naming_files(context):
            write(file, store, state.parts, manifest)
    finally:
        store.close()
        state.drop()


def load(context: ServiceContext, file: BinaryIO) -> None:
    """Replace the state of a running service by a saved state, except the policy, the brand names and the secret.

    Raises ValueError, and changes nothing, if the file is damaged, is not a saved service or has other brand names, or
    if several processes share the store.
    """
    if context.store.is_shared:
        raise ValueError(unshared("the state cannot be replaced"))
    with ArchiveReader(file) as saved, context.store.exclusive():
        if saved.manifest.names != context.names:
            raise ValueError("the saved service has other brand names than this service")
        for (pem,) in saved.rows["authorities"]:
            TrustStore().add(str(pem))  # before anything is changed, because an invalid certificate raises ValueError
        with (
            saved.copied_parts(context.content.parts) as copied,
            context.content.replacing(),
            context.store.transaction(),
        ):
            context.store.load_rows(saved.rows_with(copied), saved.counters)
            context.store.users.set_named_value("secret", context.secret)
            context.store.channels.stop_all()
            context.ids.go_to(saved.manifest.ids)
    if context.clock.is_virtual and saved.manifest.start:
        context.clock.put(saved.manifest.now)
