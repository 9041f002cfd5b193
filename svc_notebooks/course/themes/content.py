"""Exercises about downloading a part of a file, searching for files, and converting a file to another format."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING

from ...client.files import create_file, update_file
from ...core.http.messages import Request
from ..definition import ExerciseDefinition, require
from .shared_checks import (
    list_text,
    quantity,
    require_creations,
    require_only_stars,
    require_same_content,
    require_single_file,
)
from .uploads import survey

if TYPE_CHECKING:
    from ...client.session import Session
    from ..definition import Value
    from ..evidence import Evidence, RecordedRequest
    from ..exercise_service import ExerciseService

_RECORD_SIZE = 64
_RANGE = re.compile(r"bytes=(\d{1,9})-(\d{1,9})")


def put_file(session: Session, name: str, content: bytes, media_type: str = "text/plain") -> str:
    """Create a file for the set-up of an exercise, and return the file id."""
    file = create_file(session, {"name": name, "mimeType": media_type})
    url = session.url(session.names.upload_path("files", str(file["id"])), {"uploadType": "media"})
    headers = session.headers(("Content-Type", media_type), ("Content-Length", str(len(content))))
    session.send(Request("PATCH", url, headers, content))
    return str(file["id"])


def _set_up_part(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    count = rng.randrange(3000, 4000)
    records = [f"{number:06} {rng.getrandbits(200):055x}\n"[:_RECORD_SIZE] for number in range(count)]
    lines = [f"{record[:63]:<63}\n" for record in records]
    file_id = put_file(exercise.session(), "sensor.log", "".join(lines).encode())
    record_number = rng.randrange(100, count - 100)
    exercise.check_data["record"] = lines[record_number].encode()
    return {"file_id": file_id, "record": record_number}


def _check_part(evidence: Evidence) -> str:
    downloads = [request for request in evidence.requests_of("files.get") if request.query.get("alt") == "media"]
    require(downloads, "The service received no download. Use svc.read or svc.download with the file given.file_id.")
    sent = sum(request.sent for request in downloads)
    ranged = all("Range" in request.headers for request in downloads)
    require(
        ranged,
        f"A download had no range, so the service sent the whole file ({sent:,} bytes). Ask only for the bytes of the"
        " record, with byte_range.",
    )
    require(
        sent == _RECORD_SIZE,
        f"The service sent {sent:,} bytes of the file, but the record has {_RECORD_SIZE}. The last byte of a range"
        " belongs to it.",
    )
    file = require_single_file(evidence, "record.txt")
    require_same_content(evidence, file, evidence.check_data["record"], f"record {evidence.values['record']}")
    _require_range_of_record(evidence, downloads)
    return f"The service sent {_RECORD_SIZE} bytes of the file, which are the requested record."


def _require_range_of_record(evidence: Evidence, downloads: list[RecordedRequest]) -> None:
    """Raise CheckFailedError if a request asked for other bytes than those of the record."""
    others = evidence.requests_of("files.content", "files.export")
    require(
        not others,
        f"{quantity(len(others), 'request')} asked for content in another way than a download with a range. Use byte_range.",
    )
    first = _RECORD_SIZE * evidence.values["record"]
    last = first + _RECORD_SIZE - 1
    for request in downloads:
        match = _RANGE.fullmatch(request.headers["Range"].replace(" ", ""))
        require(
            match and first <= int(match[1]) <= int(match[2]) <= last,
            f"A download had the range {request.headers['Range']!r}, but the record has the bytes {first} to {last}.",
        )


PART = ExerciseDefinition(
    name="a-part-of-a-file",
    theme="content",
    title="Download a part of a file",
    text=(
        "The file `given.file_id` is a log with records of exactly 64 bytes, numbered from 0. Download only the bytes of"
        " record number `given.record`, and upload them as `record.txt`."
    ),
    hints=(
        "What is the last byte of record 0, and the first byte of record 1?",
        "`svc.read(file, byte_range=(first, last))` downloads a part. Does the part include `last`?",
        "Record n has the bytes 64 n to 64 n + 63. The range includes both.",
    ),
    set_up=_set_up_part,
    check=_check_part,
)


_CSV = "text/csv"


def _set_up_search(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    session = exercise.session()
    word, other = rng.sample(("heron", "grebe", "wigeon", "coot"), 2)
    match_count = rng.randrange(3, 7)
    rows = [(f"{word} {n}.csv", _CSV) for n in range(match_count)]
    rows += [(f"{word} notes {n}.txt", "text/plain") for n in range(2)]
    rows += [(f"{other} {n}.csv", _CSV) for n in range(rng.randrange(4, 9))]
    rng.shuffle(rows)
    ids = {name: str(create_file(session, {"name": name, "mimeType": media_type})["id"]) for name, media_type in rows}
    trashed_id = str(create_file(session, {"name": f"{word} old.csv", "mimeType": _CSV})["id"])
    update_file(session, trashed_id, {"trashed": True})
    exercise.check_data["matching_ids"] = {ids[f"{word} {n}.csv"] for n in range(match_count)}
    return {"word": word}


def _check_search(evidence: Evidence) -> str:
    matching_ids, lists = (
        evidence.check_data["matching_ids"],
        [request for request in evidence.requests_of("files.list") if request.succeeded],
    )
    require(lists, "No request listed files. Use svc.files with a query.")
    searched = [request for request in lists if request.query.get("q")]
    require(
        len(searched) == len(lists),
        "A request listed files without a query, so the service returned all files. svc.files takes a query as its first"
        " argument.",
    )
    listed_files = [file for request in lists for file in request.response_json.get("files", [])]
    other_files = [file for file in listed_files if file.get("id") not in matching_ids]
    names = [file["name"] for file in other_files if "name" in file]
    called = f" (called {list_text(names, 2)})" if names else ""
    require(
        not other_files,
        f"The service returned {quantity(len(other_files), 'other file')}{called}: make the query more precise.",
    )
    listed_ids = {file.get("id") for file in listed_files}
    require(
        listed_ids == matching_ids,
        f"The service returned {len(listed_ids)} of the {len(matching_ids)} matching files. Look at the conditions"
        " of your query, and at given.word.",
    )
    fields = sorted({key for file in listed_files for key in file})
    require(
        set(fields) <= {"id", "name"},
        f"The service returned the fields {', '.join(fields)} instead of id and name. Use the argument fields.",
    )
    require_only_stars(evidence)
    updated_ids = {request.path.rpartition("/")[2] for request in evidence.requests_of("files.update")}
    require(
        updated_ids <= matching_ids,
        f"{quantity(len(updated_ids - matching_ids), 'file')} that your search did not return had an update. Change only the"
        " files that it returned.",
    )
    starred = {file["id"] for file in evidence.files() if file.get("starred")}
    require(
        starred == matching_ids,
        f"Of the {len(matching_ids)} matching files, {len(starred & matching_ids)} have a star, and of the other files,"
        f" {len(starred - matching_ids)} have one. Give a star to each file that your search returned, and to no other file.",
    )
    return f"The service returned two fields of {len(matching_ids)} files, and these files have a star."


SEARCH = ExerciseDefinition(
    name="let-the-service-search",
    theme="content",
    title="Search on the service",
    text=(
        "Give a star to every file of the type `text/csv` whose name contains the word `given.word` and that is not in"
        " the trash. Let the service search: its response must contain these files and no others, with only the id and the"
        " name of each."
    ),
    hints=(
        "A query can have several conditions: `\"name contains 'duck' and starred = false\"`.",
        "The query also needs the fields `mimeType` and `trashed`.",
        "`svc.files(query, fields=[...])` requests only these columns, and `svc.update` accepts the frame.",
    ),
    set_up=_set_up_search,
    check=_check_search,
    changes=("files.update",),
)


def _set_up_format(_: ExerciseService, rng: Random) -> dict[str, Value]:
    return {"name": f"counts {rng.randrange(100, 1000)}", "content": survey(rng, 30)}


_TSV = "text/tab-separated-values"


def _check_format(evidence: Evidence) -> str:
    require_creations(evidence)
    file = require_single_file(evidence, evidence.values["name"])
    media_type = str(file["mimeType"])
    require(
        media_type.endswith(".spreadsheet"),
        f"The file {file['name']!r} has the type {media_type}, which is not a spreadsheet of the service. Use"
        " convert_to in the upload.",
    )
    exports = [request for request in evidence.requests_of("files.export") if f"/{file['id']}/" in request.path]
    require(exports, "The spreadsheet was never exported. Use svc.export.")
    formats = [str(request.query.get("mimeType")) for request in exports if request.succeeded]
    require(
        _TSV in formats,
        f"The spreadsheet was exported as {list_text(formats)}, not as tab-separated values. The"
        " extension of this format is tsv.",
    )
    content = next(
        request.response_body for request in exports if request.succeeded and request.query.get("mimeType") == _TSV
    )
    rows = [line.split("\t") for line in content.decode("utf-8-sig", "replace").splitlines()]
    expected_rows = [line.split(",") for line in evidence.values["content"].decode().splitlines()]
    require(rows == expected_rows, f"The export ({quantity(len(rows), 'row')}) differs from given.content.")
    heading = evidence.values["content"].splitlines()[0]
    updates = [request for request in evidence.requests_of("files.update") if f"/{file['id']}" in request.path]
    uploads = evidence.creations_of(file["id"]) + updates
    require(
        any(heading in request.request_body for request in uploads),
        "No upload contains the CSV of given.content, so the table was converted before the upload. Upload given.content"
        " unchanged: the service converts it.",
    )
    return "The service imported the table and exported it to another format."


FORMAT = ExerciseDefinition(
    name="another-format",
    theme="content",
    title="Export a table to another format",
    text=(
        "`given.content` is CSV. Convert it to a *spreadsheet of the service* with the name `given.name`, and export the"
        " spreadsheet as tab-separated values (TSV)."
    ),
    hints=(
        "`03-convert` shows how to convert a file to a document of the service.",
        'Use `svc.upload(..., convert_to=...)`. The bytes need a type: `mime_type="text/csv"`.',
        "You cannot download a spreadsheet. `svc.export` exports it to any format of `svc.export_formats`.",
    ),
    set_up=_set_up_format,
    check=_check_format,
)

ALL = (PART, SEARCH, FORMAT)
