"""Saves a service in one file, and reads such files.

The file is a zip archive. Its entries are not compressed, so that a small file cannot need much memory.

    manifest.json        format, version, clock, seed, names, policy, and the size and digest of every entry
    tables/files.jsonl   the rows of a table, one JSON array in each line
    parts/1              the bytes of a part

The content of a file is not trusted. Names, sizes, digests, columns and types are checked before anything is used, and
no entry name is used as a path.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from ...core.brand_names import Names
from ...core.http.messages import JSON, JSONObject
from ...core.policy import Policy
from ...local.saving import FILE, check_path, path_exists
from .atomic_write import BACKUP, atomic_write
from .blob_store import BLOCK, BlobStore, StoredPart, check_parts, write_part
from .errors import on_error
from .store import TABLES, Store, check_row, columns, upgrade_rows
from .upgrades import VERSION as SCHEMA_VERSION

FORMAT = "svc-notebooks service"
VERSION = 1

_MANIFEST = "manifest.json"
_MOST_MANIFEST = 64 * 1024 * 1024
_ENTRY = re.compile(r"manifest\.json|tables/[a-z_]{1,40}\.jsonl|parts/[1-9][0-9]{0,17}")
_PART, _CHECKSUM = map(TABLES["rope"].columns.keys().index, ("part", "checksum"))

Rows = Mapping[str, list[Sequence[JSON]]]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The saved state of a service without rows and parts.

    `start` is the start of the virtual clock, or None for a system clock. `ids` is the result of `Ids.state`.
    """

    now: datetime
    start: datetime | None
    seed: int | None
    ids: Any
    names: Names
    policy: Policy


# -- writing


def write(file: BinaryIO, store: Store, parts: BlobStore, manifest_fields: Manifest) -> None:
    """Write a service to an empty file. Raises DamagedContent if a part is missing or damaged."""
    checksums: dict[str, list[int | str]] = {}
    stored = store.contents.parts()
    numbers = {part.key: number for number, part in enumerate(stored, start=1)}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, rows in store.rows():
            entry = f"tables/{name}.jsonl"
            checksums[entry] = _write_entry(archive, entry, _lines(name, rows, numbers))
        for part in check_parts(parts, stored):
            entry = f"parts/{numbers[part.key]}"
            checksums[entry] = _write_entry(archive, entry, parts.read(part, 0, part.size))
        manifest = {**_manifest_to_json(manifest_fields), "columns": {name: columns(name) for name in TABLES}}
        manifest |= {"counters": dict(store.counters()), "entries": checksums}
        _write_entry(archive, _MANIFEST, [json.dumps(manifest).encode()])


def _lines(table: str, rows: Iterable[Sequence[Any]], numbers: Mapping[str, int]) -> Iterator[bytes]:
    for row in rows:
        values = list(row)
        if table == "rope":
            values[_PART] = str(numbers[values[_PART]])
        yield json.dumps(values).encode() + b"\n"


def _write_entry(archive: zipfile.ZipFile, name: str, blocks: Iterable[bytes]) -> list[int | str]:
    """Write an entry to the archive, and return its size in bytes and its SHA-256 digest in hexadecimal."""
    size, digest = 0, hashlib.sha256()
    entry = zipfile.ZipInfo(name)  # dated 1980, so that equal states give equal files
    entry.external_attr = 0o600 << 16
    with archive.open(entry, "w", force_zip64=True) as out:
        for block in blocks:
            out.write(block)
            digest.update(block)
            size += len(block)
    return [size, digest.hexdigest()]


def _manifest_to_json(manifest: Manifest) -> dict[str, Any]:
    start = manifest.start and manifest.start.isoformat()
    plain = Policy()
    changed = {name: value for name, value in asdict(manifest.policy).items() if value != getattr(plain, name)}
    return {
        "format": FORMAT,
        "version": VERSION,
        "schema": SCHEMA_VERSION,
        "clock": {"now": manifest.now.isoformat(), "start": start},
        "seed": manifest.seed,
        "ids": manifest.ids,
        "names": asdict(manifest.names),
        "policy": changed,
    }


# -- reading


def is_saved(path: Path) -> bool:
    """Return whether a file has the manifest of a saved service. The other entries are not checked."""
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(_MANIFEST).file_size > _MOST_MANIFEST:
                return False
            return bool(json.loads(archive.read(_MANIFEST))["format"] == FORMAT)
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, OSError, EOFError, NotImplementedError, RuntimeError):
        return False


def save_to(path: Path, dump: Callable[[BinaryIO], None], *, overwrite: bool) -> Path:
    """Write a service to the file `path`, unless the file already has the same content, and return the path.

    `dump` writes to an open file. With `overwrite`, an existing saved service is renamed to `.bak`. Raises PathExists
    if an existing file may not be replaced, and OSError. The file is then unchanged.
    """
    _check_path(path, overwrite=overwrite)
    if overwrite:
        _check_path(path.with_name(path.name + BACKUP), overwrite=True)
    atomic_write(path, dump, overwrite=overwrite)
    return path


def _check_path(path: Path, *, overwrite: bool) -> None:
    existing = check_path(path, overwrite=overwrite)
    if existing is not None and existing.kind == FILE and not is_saved(path):
        raise path_exists(existing, f"exists and is not a saved service ({existing.facts})", "Choose another path.")


class ArchiveReader(AbstractContextManager["ArchiveReader"]):
    """An open file that `write` has written. Raises ValueError if the file is damaged or not a saved service."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        try:
            self._archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise ValueError(f"the file is not a saved service, or is incomplete: {error}") from None
        try:
            self._entries = _read_entries(self._archive, file.seek(0, 2))
            self._manifest = self._read_manifest()
            self.manifest = _manifest_from_json(self._manifest)
            self.counters = _counters(self._manifest.get("counters"))
            self.rows = self._read_tables()
            self._check_parts()
        except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise ValueError(f"the file is damaged: {error}") from None

    def __exit__(self, *error: object) -> None:
        self._archive.close()

    def _read_manifest(self) -> JSONObject:
        entry = self._entries.get(_MANIFEST)
        if entry is None or entry.file_size > _MOST_MANIFEST:
            raise ValueError("the file is not a saved service: the manifest is missing")
        manifest = _parse_json(self._archive.read(entry))
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            raise ValueError("the file is not a saved service: the manifest has another format")
        if manifest.get("version") != VERSION:
            raise ValueError(
                f"the file has format version {manifest.get('version')!r:.20}, and this package supports {VERSION}"
            )
        tables = manifest.get("columns")
        schema = manifest.setdefault("schema", 2 if "checksum" in json.dumps(tables) else 1)  # 1 and 2 write none
        if not isinstance(tables, dict) or type(schema) is not int:
            raise ValueError("the file is not a saved service: the manifest lists no tables")
        entries = manifest.get("entries")
        if not isinstance(entries, dict) or entries.keys() != self._entries.keys() - {_MANIFEST}:
            raise ValueError("the file is damaged: the archive entries differ from the manifest")
        return manifest

    def _read_tables(self) -> Rows:
        names: Any = self._manifest["columns"]
        tables = {name for name in self._entries if name.startswith("tables/")}
        if strange := tables ^ {f"tables/{name}.jsonl" for name in names}:
            raise ValueError(f"the file is damaged: {min(strange)} differs from the manifest")
        tables_read: dict[str, Iterable[JSON]] = {name: self._lines(name) for name in names}
        if self._manifest["schema"] != SCHEMA_VERSION:
            tables_read = upgrade_rows(tables_read, names, int(str(self._manifest["schema"])))
        elif names != {name: columns(name) for name in TABLES}:
            raise ValueError("the file was saved by another version of this package, which has other tables")
        return {name: [check_row(name, row) for row in tables_read[name]] for name in TABLES}

    def _lines(self, table: str) -> Iterator[JSON]:
        text = b"".join(self._blocks(f"tables/{table}.jsonl"))
        return (_parse_json(line) for line in text.splitlines())

    def _check_parts(self) -> None:
        needed: dict[str, int] = {}
        for row in self.rows["rope"]:
            _, first, stop, part, _ = row
            needed[f"parts/{part}"] = max(needed.get(f"parts/{part}", 0), int(str(stop)) - int(str(first)))
        held = {name: entry.file_size for name, entry in self._entries.items() if name.startswith("parts/")}
        if needed != held:
            raise ValueError("the file is damaged: the parts differ from the stored contents")

    @contextmanager
    def copied_parts(self, target: BlobStore) -> Iterator[dict[str, StoredPart]]:
        """Copy all parts to a blob store for a `with` block, and yield the new parts by old key.

        If the block fails, the copies are deleted. Raises ValueError for a damaged part.
        """
        copied: dict[str, StoredPart] = {}
        with on_error(lambda: target.delete(part.key for part in copied.values())):
            for name in self._entries:
                if name.startswith("parts/"):
                    copied[name.removeprefix("parts/")] = write_part(target, self._blocks(name))
            yield copied

    def rows_with(self, parts: Mapping[str, StoredPart]) -> Rows:
        """Return the rows of all tables, in which the keys and checksums of parts are replaced by those in `parts`."""
        rope = [list(row) for row in self.rows["rope"]]
        for row in rope:
            row[_PART], _, row[_CHECKSUM] = parts[str(row[_PART])]
        return {**self.rows, "rope": list[Sequence[JSON]](rope)}

    def _blocks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of an entry in blocks. Raises ValueError at the end if its size or digest is wrong."""
        entries: Any = self._manifest["entries"]
        digest, entry = hashlib.sha256(), self._entries[name]
        try:
            with self._archive.open(entry) as source:
                while block := source.read(BLOCK):
                    digest.update(block)
                    yield block
        except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise ValueError(f"the file is damaged: {error}") from None
        if entries[name] != [entry.file_size, digest.hexdigest()]:
            raise ValueError(f"the file is damaged: {name} differs from its digest")


def _read_entries(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the entries by name. Raises ValueError for an unknown, compressed, repeated or overlapping entry."""
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        if not _ENTRY.fullmatch(entry.filename):
            raise ValueError(f"the file is not a saved service: the entry {entry.filename!r:.60} is unknown")
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size or entry.flag_bits & 1:
            raise ValueError(f"the file is not a saved service: {entry.filename} is compressed")
        if entry.filename in entries:
            raise ValueError(f"the file is not a saved service: {entry.filename} occurs twice")
        entries[entry.filename] = entry
    if sum(entry.file_size for entry in entries.values()) > size:
        raise ValueError("the file is not a saved service: the archive entries overlap")
    return entries


def _parse_json(text: bytes) -> JSON:
    try:
        value: JSON = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("the file is damaged: an entry is not valid JSON") from None
    return value


def _manifest_from_json(manifest: JSONObject) -> Manifest:
    try:
        clock: Any = manifest["clock"]
        seed, start = manifest["seed"], clock["start"]
        if seed is not None and type(seed) is not int:
            raise TypeError("seed is not a number")
        return Manifest(
            now=_instant(clock["now"]),
            start=None if start is None else _instant(start),
            seed=seed,
            ids=manifest["ids"],
            names=Names(**_fields(Names, manifest["names"])),
            policy=Policy(**_fields(Policy, manifest["policy"])),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ValueError(f"the manifest of the file is not valid: {error}") from None


def _instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError("the clock has no time zone")
    return instant.astimezone(UTC)


def _fields(kind: type, values_by_name: JSON) -> dict[str, Any]:
    """Return the field values for a dataclass from a JSON object. Raises ValueError for unknown or invalid fields."""
    if not isinstance(values_by_name, dict):
        raise ValueError("names and policy must be objects")
    known = {field.name: field.default for field in fields(kind)}
    if unknown := values_by_name.keys() - known.keys():
        raise ValueError(f"the field {min(unknown)} is unknown")
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in values_by_name.items()}
    if wrong := [name for name, value in values.items() if kind is Names and not isinstance(value, str)]:
        raise ValueError(f"{wrong[0]} is not a string")
    return values


def _counters(counters: JSON) -> dict[str, int]:
    if not isinstance(counters, dict):
        raise ValueError("the file is damaged: the counters are not numbers")
    if not all(type(number) is int and 0 <= number < 2**62 for number in counters.values()):
        raise ValueError("the file is damaged: the counters are not numbers")
    if unknown := counters.keys() - TABLES.keys():
        raise ValueError(f"the file is damaged: the counter {min(unknown)} has no table")
    return {name: int(str(number)) for name, number in counters.items()}
