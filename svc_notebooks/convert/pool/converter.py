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
from ...core.processes import temporary_folder
from ...core.thread_permit import release_permit
from ..job import ConversionError, Job, JobLimits, TooLarge
from ..registry import MODELS, Conversion, exporters, importers, readers, writers
from .worker_pool import ConversionExecutor, InlineExecutor, ProcessPool

_log = logging.getLogger(__name__)


class Client(NamedTuple):
    """The user who requests a conversion, and a function that returns whether the user's client has disconnected."""

    user: str = ""
    is_gone: Callable[[], bool] = lambda: False


ANONYMOUS = Client()


@dataclass(frozen=True, slots=True)
class Converted:
    """The bytes that a conversion returned, and notes for the journal about content that was left out or changed."""

    body: bytes
    notes: tuple[str, ...] = ()


class Converter:
    """Converts files to native documents (types "document", "spreadsheet" and so on) and back. It is thread-safe."""

    def __init__(
        self, limits: JobLimits | None = None, *, extended: bool = False, office: bool = False, max_waiting: int = 8
    ) -> None:
        """Create a converter, whose worker processes start when conversions need them.

        extended: whether to offer the extended formats in core/http/native_formats.py.
        office: whether LibreOffice reads and writes Office, OpenDocument and PDF files, where it is installed.
        max_waiting: the maximum number of waiting conversions of each user.
        """
        self._limits = limits or JobLimits()
        self._extended = extended
        self._office = office
        self._readers, self._writers = readers(extended=extended), writers(extended=extended)
        self._pool, self._inline = ProcessPool(self._limits, max_waiting=max_waiting), InlineExecutor()

    @property
    def imports(self) -> dict[str, list[str]]:
        """A dict from each readable media type to the list of native types into which a source can be converted."""
        natives_by_type: dict[str, list[str]] = {}
        for conversion in importers(extended=self._extended):
            natives_by_type.setdefault(conversion.media_type, []).append(conversion.native)
        return natives_by_type

    @property
    def exports(self) -> dict[str, list[str]]:
        """A dict from each native type to the list of media types into which a document can be converted."""
        types_by_native: dict[str, list[str]] = {}
        for conversion in exporters(extended=self._extended):
            types_by_native.setdefault(conversion.native, []).append(conversion.media_type)
        return types_by_native

    def can_read(self, media_type: str, native: str) -> bool:
        """Return whether a source of this media type can be converted to this native type."""
        conversion = self._readers.get((native, media_type))
        return conversion is not None and conversion.is_available

    def can_write(self, native: str, media_type: str) -> bool:
        """Return whether a document of this native type can be converted to this media type."""
        conversion = self._writers.get((native, media_type))
        return conversion is not None and conversion.is_available

    def missing_engine_message(self, native: str, media_type: str, *, reads: bool) -> str | None:
        """Return the end of an error message about the first missing engine, or None if no engine is missing."""
        conversion = (self._readers if reads else self._writers).get((native, media_type))
        engine = conversion.missing_engine if conversion else None
        return engine.missing if engine else None

    def read(
        self, source: bytes, media_type: str, native: str, client: Client = ANONYMOUS, **options: Any
    ) -> Converted:
        """Convert a source file to the stored bytes of a native document.

        `options` sets fields of Job, such as `name`. Raises ConversionError, TooLarge, Abandoned or TooManyWaiting.
        """
        return self._run(self._readers[native, media_type], source, client, reads=True, options=options)

    def write(
        self, body: bytes | None, native: str, media_type: str, client: Client = ANONYMOUS, **options: Any
    ) -> Converted:
        """Convert the stored bytes of a native document, or an empty document if `body` is None, to a file.

        `options` sets fields of Job, such as `now`. Raises the same exceptions as `read`.
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
                "native": conversion.native,
                "model": f".{MODELS[conversion.native]}",
                "reads": reads,
                "source": None if source is None else str(source_file),
                "target": str(target),
                "job": dataclasses.asdict(job) | {"folder": str(job.folder), "now": job.now.isoformat()},
            }
            executor: ConversionExecutor = self._pool if capabilities().processes else self._inline
            with release_permit():
                response = executor.run(request, user=client.user, is_gone=client.is_gone)
            if "error" in response:
                raise _error_from(conversion, response)
            return Converted(target.read_bytes(), tuple(response["notes"]))

    def start(self) -> None:
        """Start a worker process, so that the first conversion need not wait for it. Raises OSError if it cannot."""
        if capabilities().processes:
            self._pool.start()

    def close(self) -> None:
        """End the idle worker processes. Later conversions start new processes."""
        self._pool.close()


def _error_from(conversion: Conversion, response: Mapping[str, Any]) -> ConversionError:
    if response["kind"] == "large":
        return TooLarge(response["error"])
    if response["kind"] == "refused":
        return ConversionError(response["error"])
    _log.warning("%s failed: %s", conversion.function, response["error"])
    return ConversionError("the content is damaged, or does not match its media type.")


@cache
def shared(limits: JobLimits, *, extended: bool, office: bool, max_waiting: int) -> Converter:
    """Return the converter that all callers with equal arguments share until the process ends."""
    converter = Converter(limits, extended=extended, office=office, max_waiting=max_waiting)
    atexit.register(converter.close)
    return converter
