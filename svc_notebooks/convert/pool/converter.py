"""What the service uses: may this become that, make it so, and here is what was left out."""

from __future__ import annotations

import atexit
import dataclasses
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from ...core.fork import temporary_folder
from ...core.platform import capabilities
from ..engines import available as engines
from ..job import ConversionError, Job, JobLimits, TooLarge
from ..registry import MODELS, Conversion, exporters, importers, lacking
from .workers import Executor, InlineExecutor, ProcessPool

_log = logging.getLogger(__name__)


class Client(NamedTuple):
    """For whom a conversion is: conversions are shared fairly between users, and end when their client has gone."""

    user: str = ""
    is_gone: Callable[[], bool] = lambda: False


NOBODY = Client()


@dataclass(frozen=True, slots=True)
class Converted:
    """A result, and what is to be said of it in the journal."""

    body: bytes
    notes: tuple[str, ...] = ()


class Converter:
    """Reads and writes native documents. Native types are named by their last word; threads may share it."""

    def __init__(
        self, limits: JobLimits | None = None, *, extended: bool = False, office: bool = False, most_waiting: int = 8
    ) -> None:
        """`most_waiting`: so many conversions of one user may wait."""
        self._limits = limits or JobLimits()
        self._extended = extended
        self._office = office
        self._workers, self._here = ProcessPool(self._limits, most_waiting=most_waiting), InlineExecutor()

    @property
    def _hands(self) -> Executor:
        return self._workers if capabilities().processes else self._here

    @property
    def _readers(self) -> dict[tuple[str, str], Conversion]:
        return _readers(self._extended, engines.present())

    @property
    def _writers(self) -> dict[tuple[str, str], Conversion]:
        return _writers(self._extended, engines.present())

    @property
    def imports(self) -> dict[str, list[str]]:
        """For each media type that can be read here, the native types that it can become."""
        found: dict[str, list[str]] = {}
        for media_type, native in self._readers:
            found.setdefault(media_type, []).append(native)
        return found

    @property
    def exports(self) -> dict[str, list[str]]:
        """For each native type, the media types that it can become here."""
        found: dict[str, list[str]] = {}
        for native, media_type in self._writers:
            found.setdefault(native, []).append(media_type)
        return found

    def can_read(self, media_type: str, native: str) -> bool:
        """Whether a source of this type can become that native document."""
        return (media_type, native) in self._readers

    def can_write(self, native: str, media_type: str) -> bool:
        """Whether a native document can become this type."""
        return (native, media_type) in self._writers

    def why_not(self, native: str, media_type: str, *, reads: bool) -> str | None:
        """What is missing here for that conversion, as the end of a sentence; None where nothing would help."""
        engine = lacking(native, media_type, reads=reads, extended=self._extended)
        return engine.missing if engine else None

    def read(self, source: bytes, media_type: str, native: str, client: Client = NOBODY, **options: Any) -> Converted:
        """The canonical body of what a source says; `options` are fields of Job.

        Raises:
            ConversionError: it cannot be read; TooLarge: it would need too much.
            Abandoned: the client has gone; TooManyWait: the user has too many conversions waiting.
        """
        return self._run(self._readers[media_type, native], source, client, reads=True, options=options)

    def write(
        self, body: bytes | None, native: str, media_type: str, client: Client = NOBODY, **options: Any
    ) -> Converted:
        """A native document as a file of another format; None is an empty document.

        Raises:
            TooLarge: it would need too much; ConversionError: it cannot be written.
            Abandoned: the client has gone; TooManyWait: the user has too many conversions waiting.
        """
        return self._run(self._writers[native, media_type], body, client, reads=False, options=options)

    def _run(
        self, arrow: Conversion, source: bytes | None, client: Client, *, reads: bool, options: Mapping[str, Any]
    ) -> Converted:
        with temporary_folder("convert-") as folder:
            given, target, work = folder / "source", folder / "target", folder / "work"
            work.mkdir()
            if source is not None:
                given.write_bytes(source)
            job = Job(arrow.media_type, work, office=self._office, limits=self._limits, **options)
            errand = {
                "function": f".{arrow.function}",
                "model": f".{MODELS[arrow.native]}",
                "reads": reads,
                "source": None if source is None else str(given),
                "target": str(target),
                "job": _as_json(job),
            }
            answer = self._hands.run(errand, user=client.user, is_gone=client.is_gone)
            if "error" in answer:
                raise _failure(arrow, answer)
            return Converted(target.read_bytes(), tuple(answer["notes"]))

    def close(self) -> None:
        """End the processes that wait for work; the next conversion begins new ones."""
        self._workers.close()


@cache
def _readers(extended: bool, _present: frozenset[str]) -> dict[tuple[str, str], Conversion]:
    """What can be read while these engines are there."""
    return {(arrow.media_type, arrow.native): arrow for arrow in importers(extended=extended)}


@cache
def _writers(extended: bool, _present: frozenset[str]) -> dict[tuple[str, str], Conversion]:
    return {(arrow.native, arrow.media_type): arrow for arrow in exporters(extended=extended)}


def _as_json(job: Job) -> dict[str, Any]:
    return dataclasses.asdict(job) | {"folder": str(job.folder), "now": job.now.isoformat()}


def _failure(arrow: Conversion, answer: Mapping[str, Any]) -> ConversionError:
    if answer["kind"] == "large":
        return TooLarge(answer["error"])
    if answer["kind"] == "refused":
        return ConversionError(answer["error"])
    _log.warning("%s failed: %s", arrow.function, answer["error"])
    return ConversionError("the content is damaged, or not of the type that it is said to be.")


@cache
def shared(limits: JobLimits, *, extended: bool, office: bool, most_waiting: int) -> Converter:
    """One converter for all who ask for the same: its processes stay warm until this one ends."""
    converter = Converter(limits, extended=extended, office=office, most_waiting=most_waiting)
    atexit.register(converter.close)
    return converter
