"""The interface through which the service lists and runs conversions."""

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
    """The user of a conversion, for fair sharing, and whether the client has disconnected, which ends it."""

    user: str = ""
    is_gone: Callable[[], bool] = lambda: False


ANONYMOUS = Client()


@dataclass(frozen=True, slots=True)
class Converted:
    """The result of a conversion, and notes for the journal."""

    body: bytes
    notes: tuple[str, ...] = ()


class Converter:
    """Reads and writes native documents, whose types are named by their last word. It is thread-safe."""

    def __init__(
        self, limits: JobLimits | None = None, *, extended: bool = False, office: bool = False, max_waiting: int = 8
    ) -> None:
        """Create a converter that lets `max_waiting` conversions of one user wait."""
        self._limits = limits or JobLimits()
        self._extended = extended
        self._office = office
        self._pool, self._inline = ProcessPool(self._limits, max_waiting=max_waiting), InlineExecutor()

    @property
    def _readers(self) -> dict[tuple[str, str], Conversion]:
        return _readers(self._extended, available.available_engines())

    @property
    def _writers(self) -> dict[tuple[str, str], Conversion]:
        return _writers(self._extended, available.available_engines())

    @property
    def imports(self) -> dict[str, list[str]]:
        """The native types that each readable media type can become."""
        natives_by_type: dict[str, list[str]] = {}
        for media_type, native in self._readers:
            natives_by_type.setdefault(media_type, []).append(native)
        return natives_by_type

    @property
    def exports(self) -> dict[str, list[str]]:
        """The media types that each native type can become."""
        types_by_native: dict[str, list[str]] = {}
        for native, media_type in self._writers:
            types_by_native.setdefault(native, []).append(media_type)
        return types_by_native

    def can_read(self, media_type: str, native: str) -> bool:
        """Return whether a source of this media type can become that native type."""
        return (media_type, native) in self._readers

    def can_write(self, native: str, media_type: str) -> bool:
        """Return whether a native type can become this media type."""
        return (native, media_type) in self._writers

    def missing_engine_message(self, native: str, media_type: str, *, reads: bool) -> str | None:
        """Return the end of a sentence on the engine that a conversion misses, or None if it misses none."""
        engine = missing_engine(native, media_type, reads=reads, extended=self._extended)
        return engine.missing if engine else None

    def read(
        self, source: bytes, media_type: str, native: str, client: Client = ANONYMOUS, **options: Any
    ) -> Converted:
        """Read a source as the body of a native document, with fields of Job as `options`.

        Raises:
            ConversionError: it cannot be read; TooLarge: it exceeds a limit.
            Abandoned: the client has disconnected; TooManyWaiting: the user has too many conversions waiting.
        """
        return self._run(self._readers[media_type, native], source, client, reads=True, options=options)

    def write(
        self, body: bytes | None, native: str, media_type: str, client: Client = ANONYMOUS, **options: Any
    ) -> Converted:
        """Write a native document, or an empty one for None, in another format.

        Raises:
            ConversionError: it cannot be written; TooLarge: it exceeds a limit.
            Abandoned: the client has disconnected; TooManyWaiting: the user has too many conversions waiting.
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
                "job": dataclasses.asdict(job) | {"folder": str(job.folder), "now": job.now.isoformat()},
            }
            executor: Executor = self._pool if capabilities().processes else self._inline
            response = executor.run(request, user=client.user, is_gone=client.is_gone)
            if "error" in response:
                raise _error_from(conversion, response)
            return Converted(target.read_bytes(), tuple(response["notes"]))

    def close(self) -> None:
        """End the idle processes, which later conversions start again."""
        self._pool.close()


@cache
def _readers(extended: bool, _present: frozenset[str]) -> dict[tuple[str, str], Conversion]:
    """Return the conversions to native types, cached for the engines that are available."""
    return {(conversion.media_type, conversion.native): conversion for conversion in importers(extended=extended)}


@cache
def _writers(extended: bool, _present: frozenset[str]) -> dict[tuple[str, str], Conversion]:
    return {(conversion.native, conversion.media_type): conversion for conversion in exporters(extended=extended)}


def _error_from(conversion: Conversion, response: Mapping[str, Any]) -> ConversionError:
    if response["kind"] == "large":
        return TooLarge(response["error"])
    if response["kind"] == "refused":
        return ConversionError(response["error"])
    _log.warning("%s failed: %s", conversion.function, response["error"])
    return ConversionError("the content is damaged, or not of its media type.")


@cache
def shared(limits: JobLimits, *, extended: bool, office: bool, max_waiting: int) -> Converter:
    """Return one converter for equal arguments, whose processes are kept until this process ends."""
    converter = Converter(limits, extended=extended, office=office, max_waiting=max_waiting)
    atexit.register(converter.close)
    return converter
