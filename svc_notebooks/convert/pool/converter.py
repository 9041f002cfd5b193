"""The interface that the service uses: which conversions are possible, and to run them."""

from __future__ import annotations

import atexit
import dataclasses
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from ...core.platform import capabilities
from ...core.process_fork import temporary_folder
from ..engines import available
from ..job import ConversionError, Job, JobLimits, TooLarge
from ..registry import MODELS, Conversion, exporters, importers, missing_engine
from .worker_pool import Executor, InlineExecutor, ProcessPool

_log = logging.getLogger(__name__)


class Client(NamedTuple):
    """For whom a conversion is: conversions are shared fairly between users, and end when their client has gone."""

    user: str = ""
    is_gone: Callable[[], bool] = lambda: False


ANONYMOUS = Client()


@dataclass(frozen=True, slots=True)
class Converted:
    """A result, and what is to be said of it in the journal."""

    body: bytes
    notes: tuple[str, ...] = ()


class Converter:
    """Reads and writes native documents. Native types are named by their last word; threads may share it."""

    def __init__(
        self, limits: JobLimits | None = None, *, extended: bool = False, office: bool = False, max_waiting: int = 8
    ) -> None:
        """`max_waiting`: so many conversions of one user may wait."""
        self._limits = limits or JobLimits()
        self._extended = extended
        self._office = office
        self._pool, self._inline = ProcessPool(self._limits, max_waiting=max_waiting), InlineExecutor()

    @property
    def _executor(self) -> Executor:
        return self._pool if capabilities().processes else self._inline

    @property
    def _readers(self) -> dict[tuple[str, str], Conversion]:
        return _readers(self._extended, available.available_engines())

    @property
    def _writers(self) -> dict[tuple[str, str], Conversion]:
        return _writers(self._extended, available.available_engines())

    @property
    def imports(self) -> dict[str, list[str]]:
        """For each media type that can be read here, the native types that it can become."""
        natives_by_type: dict[str, list[str]] = {}
        for media_type, native in self._readers:
            natives_by_type.setdefault(media_type, []).append(native)
        return natives_by_type

    @property
    def exports(self) -> dict[str, list[str]]:
        """For each native type, the media types that it can become here."""
        types_by_native: dict[str, list[str]] = {}
        for native, media_type in self._writers:
            types_by_native.setdefault(native, []).append(media_type)
        return types_by_native

    def can_read(self, media_type: str, native: str) -> bool:
        """Whether a source of this type can become that native document."""
        return (media_type, native) in self._readers

    def can_write(self, native: str, media_type: str) -> bool:
        """Whether a native document can become this type."""
        return (native, media_type) in self._writers

    def missing_engine_message(self, native: str, media_type: str, *, reads: bool) -> str | None:
        """What is missing here for that conversion, as the end of a sentence; None where nothing would help."""
        engine = missing_engine(native, media_type, reads=reads, extended=self._extended)
        return engine.missing if engine else None

    def read(
        self, source: bytes, media_type: str, native: str, client: Client = ANONYMOUS, **options: Any
    ) -> Converted:
        """The canonical body of what a source says; `options` are fields of Job.

        Raises:
            ConversionError: it cannot be read; TooLarge: it would need too much.
            Abandoned: the client has gone; TooManyWaiting: the user has too many conversions waiting.
        """
        return self._run(self._readers[media_type, native], source, client, reads=True, options=options)

    def write(
        self, body: bytes | None, native: str, media_type: str, client: Client = ANONYMOUS, **options: Any
    ) -> Converted:
        """A native document as a file of another format; None is an empty document.

        Raises:
            TooLarge: it would need too much; ConversionError: it cannot be written.
            Abandoned: the client has gone; TooManyWaiting: the user has too many conversions waiting.
        """
        return self._run(self._writers[native, media_type], body, client, reads=False, options=options)

    def _run(
        self, conversion: Conversion, source: bytes | None, client: Client, *, reads: bool, options: Mapping[str, Any]
    ) -> Converted:
        with temporary_folder("convert-") as folder:
            source_file, target, work = folder / "source", folder / "target", folder / "work"
            work.mkdir()
            if source is not None:
                source_file.write_bytes(source)
            job = Job(conversion.media_type, work, office=self._office, limits=self._limits, **options)
            request = {
                "function": f".{conversion.function}",
                "model": f".{MODELS[conversion.native]}",
                "reads": reads,
                "source": None if source is None else str(source_file),
                "target": str(target),
                "job": _as_json(job),
            }
            response = self._executor.run(request, user=client.user, is_gone=client.is_gone)
            if "error" in response:
                raise _error_from(conversion, response)
            return Converted(target.read_bytes(), tuple(response["notes"]))

    def close(self) -> None:
        """End the processes that wait for work; the next conversion begins new ones."""
        self._pool.close()


@cache
def _readers(extended: bool, _present: frozenset[str]) -> dict[tuple[str, str], Conversion]:
    """What can be read while these engines are there."""
    return {(conversion.media_type, conversion.native): conversion for conversion in importers(extended=extended)}


@cache
def _writers(extended: bool, _present: frozenset[str]) -> dict[tuple[str, str], Conversion]:
    return {(conversion.native, conversion.media_type): conversion for conversion in exporters(extended=extended)}


def _as_json(job: Job) -> dict[str, Any]:
    return dataclasses.asdict(job) | {"folder": str(job.folder), "now": job.now.isoformat()}


def _error_from(conversion: Conversion, response: Mapping[str, Any]) -> ConversionError:
    if response["kind"] == "large":
        return TooLarge(response["error"])
    if response["kind"] == "refused":
        return ConversionError(response["error"])
    _log.warning("%s failed: %s", conversion.function, response["error"])
    return ConversionError("the content is damaged, or not of the type that it is said to be.")


@cache
def shared(limits: JobLimits, *, extended: bool, office: bool, max_waiting: int) -> Converter:
    """One converter for all who ask for the same: its processes stay warm until this one ends."""
    converter = Converter(limits, extended=extended, office=office, max_waiting=max_waiting)
    atexit.register(converter.close)
    return converter
