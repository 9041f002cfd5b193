"""Resumable uploads step by step, one request at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ...client.files import get_file
from ...client.session import SessionLike, session_or_current
from ...client.uploads import uploads
from ...core.errors.errors import SvcError
from ...core.errors.public_calls import public_methods
from ...core.suggestions import missing_attribute
from ..arguments import is_frame, names_for, one_file_at, row_ids, single_source
from ..batch.progress import Progress, check_progress, reporting
from ..exchanges.charts import Picture, state_chart, state_path, upload_picture
from ..frames import HISTORY, PENDING, frame
from .metadata import files_schema_with, metadata_body, with_parent
from .upload_requests import content_of, new_contents, stored_text

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ...client.uploads.resumable_upload import ClientUpload
    from ...core.resources.files import File as FileResource
    from ..arguments import File, Source


@public_methods
class Upload:
    """A resumable upload that you can run step by step.

    `send_chunk`, `status` and `cancel` return the row of their request in `history`. `run` and `resume` complete the
    upload and return the file. After an error, `resume` sends the bytes that the service does not have. The stored file
    of an upload that was resumed is compared with the source: other content raises SourceChanged, and an
    UnverifiedUploadWarning says that they could not be compared.

    >>> lab = svc.sandbox()
    >>> up = svc.start_upload(bytes(300_000), name="zeros.bin", chunk_size=262_144)
    >>> up.send_chunk()[["status", "stored"]].values.tolist()
    [[308, 262144]]
    >>> up.run()["size"].tolist()
    [300000]
    """

    def __init__(self, upload: ClientUpload, session: Session) -> None:
        self._upload = upload
        self._session = session

    def __getstate__(self) -> NoReturn:
        """Raise TypeError, because an upload cannot be pickled. Two processes must not send to one upload session."""
        raise TypeError(
            "an Upload cannot be pickled: pass session_uri to the other process, and call resume_upload() there"
        )

    if not TYPE_CHECKING:  # otherwise every attribute would exist for mypy

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute("an upload", self, name)

    @property
    def session_uri(self) -> str | None:
        """The URL of the upload session for `resume_upload`. None before the session is opened."""
        return self._upload.session_uri

    @property
    def state(self) -> str:
        """The state of the upload session, which is "open", "complete", "cancelled" or "none".

        "none" means that the session was not opened yet or has expired. The next step then opens a new session and
        starts at the first byte. In `history`, the row in which the session expired has the state "expired".
        """
        return self._upload.state.value

    @property
    def history(self) -> DataFrame:
        """The completed steps of the upload as a DataFrame.

        One row for each step: n (Int64, its number), action (str: begin, send, ask, wait, cancel), first, last (Int64,
        the first and the last byte sent, counted from 0), total (Int64, bytes of the content), status (Int64, of the
        response), stored (Int64, bytes on the service), waited (Float64, seconds), state, error (str).
        """
        return frame(HISTORY, self._upload.history)

    def picture(self) -> Picture:
        """Draw a chart with a row for each request of this upload.

        A row shows the bytes that the request sent, the bytes among them that an earlier request had sent, and the
        bytes that the service had stored afterwards. A request without a response counts the bytes that were sent.

        See tests/rules.csv (A3-12, A3-20, A3-21).

        >>> lab = svc.sandbox()
        >>> up = svc.start_upload(bytes(300_000), name="zeros.bin", chunk_size=262_144)
        >>> row = up.run()
        >>> up.picture()
        zeros.bin: 300,000 bytes sent, 300,000 stored, none sent twice
          request  sent     sent again  stored   response
          1 begin  0        0           0        200
          2 send   262,144  0           262,144  308
          3 send   37,856   0           300,000  200
        """
        return upload_picture(self._upload.request.name, self._upload.total, self._upload.history)

    def states(self) -> Picture:
        """Draw the possible states of an upload session, and mark the steps of this upload by their numbers.

        See docs/reference.md#states-of-a-resumable-upload.

        >>> lab = svc.sandbox()
        >>> up = svc.start_upload(bytes(300_000), name="zeros.bin", chunk_size=262_144)
        >>> row = up.run()
        >>> up.states()
        zeros.bin: 1 begun (200); 2 bytes (308); 3 all bytes (200); now complete
        """
        history = self._upload.history
        elsewhere = bool(history) and history[0]["action"] != "begin"
        return state_chart(self._upload.request.name, state_path(history, begun_elsewhere=elsewhere))

    def send_chunk(self) -> DataFrame:
        """Send the next chunk and return the row of its request in `history`.

        A necessary step, such as a status query after an error, comes first. Raises ValueError for a complete upload.
        """
        return frame(HISTORY, [self._upload.send_chunk()])

    def status(self) -> DataFrame:
        """Query how many bytes the service has stored, and return the row of the query in `history`.

        Raises ValueError if the session was not opened yet.
        """
        return frame(HISTORY, [self._upload.status()])

    def cancel(self) -> DataFrame:
        """Cancel the upload session on the service, and return the row of the request in `history`.

        Raises ValueError if the session was not opened yet.
        """
        return frame(HISTORY, [self._upload.cancel()])

    def run(self, *, progress: Progress = None) -> DataFrame:
        """Send all remaining bytes and return the uploaded file, with the columns of `files()`."""
        with self._reporting(progress):
            return self._file_frame(self._upload.run())

    def resume(self, *, progress: Progress = None) -> DataFrame:
        """Query how many bytes the service has, send the rest and return the file, with the columns of `files()`."""
        with self._reporting(progress):
            return self._file_frame(self._upload.resume())

    @contextmanager
    def _reporting(self, progress: Progress) -> Iterator[None]:
        check_progress(progress)
        with reporting(progress, f"Upload {self._upload.request.name}", self._upload.total) as report:
            self._upload.progress = report
            try:
                yield
            except KeyboardInterrupt as interrupt:
                interrupt.args = (f"{stored_text(self._upload)}; resume() goes on",)
                raise
            finally:
                self._upload.progress = None

    def _file_frame(self, file: FileResource) -> DataFrame:
        """Return the file as a frame of one row. Metadata are requested if another process opened the session."""
        schema = files_schema_with(self._upload.request.metadata)
        if not self._upload.request.restartable:
            with suppress(SvcError):
                file = get_file(self._session, str(file["id"]), fields=schema.query["fields"])
        return frame(schema, [file])

    def __repr__(self) -> str:
        return repr(self._upload)


def start_upload(
    source: Source,
    *,
    name: str | None = None,
    mime_type: str | None = None,
    convert_to: str | None = None,
    ocr_language: str | None = None,
    file_id: str | None = None,
    file: File | None = None,
    parent: File | None = None,
    folder: File | None = None,
    chunk_size: int | str | None = None,
    metadata: Mapping[str, Any] | None = None,
    session: SessionLike = None,
) -> Upload:
    """Open a resumable upload session, and return an Upload that sends the content step by step.

    Args:
        source: A path, bytes, a file opened with mode "rb", or a DataFrame, as for `upload` and `update`.
        file: An existing file whose content is replaced, as an id, a row or a frame of one row. None creates a file.
        folder, parent: The folder of the new file, as for `upload`.
        name, metadata: The same as for `upload`. With `file`, the fields of the existing file are changed.

    The other arguments are the same as for `upload`.

    Raises:
        TypeError, ValueError: An argument is not valid, or `file` is given together with `file_id` or `convert_to`,
            which are for new files. Nothing was sent.
        NotFound: `file` does not exist, or this user may not see it.

    See tests/rules.csv (A3).

    >>> lab = svc.sandbox()
    >>> svc.start_upload(bytes(300_000), name="zeros.bin")
    <Upload zeros.bin: 0 of 300000 bytes, open>
    >>> old = svc.upload(b"old", name="zeros.bin")
    >>> bool(svc.start_upload(bytes(9), file=old).run()["id"][0] == old["id"][0]), svc.read(old) == bytes(9)
    (True, True)
    """

    (title,) = names_for(1, name)
    session = session_or_current(session)
    existing = None if file is None else one_file_at(session, file)
    if existing is not None and any(argument is not None for argument in (file_id, convert_to, parent, folder)):
        raise ValueError("file_id, convert_to and folder are for new files; leave these arguments out if you give file")
    further = with_parent(session, metadata, parent, folder) or {}
    if file_id:
        further = {**further, "id": file_id}
    body = metadata_body(further, creating=existing is None, names=session.names)
    only, file_name = single_source(source), title or body.get("name")
    if existing is None:
        converted = bool(convert_to) or session.names.is_native(str(body.get("mimeType")))
        content, media_type = content_of(only, file_name, mime_type, converted=converted)
    else:
        ((_, content, media_type),) = new_contents(session, [existing], only, file_name, mime_type)
    upload = uploads.start_upload(
        session,
        content,
        name=title,
        mime_type=media_type,
        metadata=body,
        file_id=existing,
        chunk_size=chunk_size,
        query=files_schema_with(body).query,
        convert_to=convert_to,
        ocr_language=ocr_language,
    )
    return Upload(upload, session)


def resume_upload(
    session_uri: File, source: Source, *, chunk_size: int | str | None = None, session: SessionLike = None
) -> Upload:
    """Return an Upload that continues an upload session of this or another process. Call `.run()` to send the rest.

    Args:
        session_uri: The URL of the upload session, from `Upload.session_uri`, or a row of `pending_uploads()`.
        source: The same content as in the interrupted upload, from the first byte on.
        chunk_size: The number of bytes in each request, as for `upload`.

    Raises:
        SourceChanged: The journal of unfinished uploads has this session with another content. `run` and `resume` raise
            it if the stored file does not have the content of the source.
        TypeError, ValueError: An argument is not valid.

    >>> lab = svc.sandbox()
    >>> begun = svc.start_upload(bytes(300_000), name="zeros.bin", chunk_size=262_144)
    >>> row = begun.send_chunk()
    >>> svc.resume_upload(begun.session_uri, bytes(300_000)).run()["name"].tolist()
    ['zeros.bin']
    """

    session = session_or_current(session)
    if is_frame(session_uri) or hasattr(session_uri, "keys"):
        uris = row_ids(session_uri, "session_uri", ("session_uri",))
        if len(uris) != 1:
            raise ValueError(f"session_uri has {len(uris)} rows; give the row of one upload")
        session_uri = uris[0]
    entry = session.pending.by_uri(session_uri) if isinstance(session_uri, str) else None
    name, media_type = (entry.name, entry.media_type) if entry else (None, None)
    content, _ = content_of(single_source(source), name, media_type)
    return Upload(uploads.resume_upload(session, cast(str, session_uri), content, chunk_size=chunk_size), session)


def pending_uploads(*, session: SessionLike = None) -> DataFrame:
    """List this user's unfinished resumable uploads to the service of the session, oldest first.

    An upload from an open file object is not listed, because another call cannot read it again: give its path or bytes.

    Returns:
        One row for each upload: name (str), total, chunk_size (Int64, bytes), media_type (str), started
        (datetime64[ms, UTC]), session_uri (str), source (str, the path of the file; missing for other sources).

    >>> lab = svc.sandbox()
    >>> begun = svc.start_upload(bytes(300_000), name="zeros.bin")
    >>> svc.pending_uploads()[["name", "total"]].values.tolist()
    [['zeros.bin', 300000]]
    """
    session = session_or_current(session)
    return frame(PENDING, [{**asdict(entry), "name": entry.name} for entry in session.pending.all(session.base_url)])
