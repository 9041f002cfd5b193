"""Exercises about downloading a part of a file, searching for files, and converting a file to another format."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from ...client.files import create_file, update_file
from ...core.http.messages import Request
from ..check_result import require
from ..definition import ExerciseDefinition
from .shared_checks import list_text, quantity, require_same_content, require_single_file
from .uploads import survey

if TYPE_CHECKING:
    from ...client.session import Session
    from ..definition import Value
    from ..evidence import Evidence
    from ..exercise_service import ExerciseService

_RECORD_SIZE = 64


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
    require(downloads, "The service saw no download.")
    sent = sum(request.sent for request in downloads)
    ranged = all("Range" in request.headers for request in downloads)
    require(ranged, f"A download named no range, so the whole file went over the wire; {sent:,} bytes in all.")
    require(sent == _RECORD_SIZE, f"The service sent {sent:,} bytes of the file, and the record has {_RECORD_SIZE}.")
    file = require_single_file(evidence, "record.txt")
    require_same_content(evidence, file, evidence.check_data["record"], f"record {evidence.values['record']}")
    return f"The service sent {_RECORD_SIZE} bytes of the file, and they are the right ones."


PART = ExerciseDefinition(
    name="a-part-of-a-file",
    theme="content",
    title="A part of a file",
    text=(
        "The file `given.file_id` is a log: records of exactly 64 bytes, one after the other, counted from 0. Download"
        " record number `given.record`, no byte more, and upload it as `record.txt`."
    ),
    hints=(
        "Where does record 0 end, and where does record 1 begin?",
        "`svc.read(file, byte_range=(first, last))` takes a part. Is `last` in it, or behind it?",
        "Record n has the bytes 64 n to 64 n + 63. Both ends belong to the range.",
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
    require(lists, "The service was not asked for a list of files.")
    searched = [request for request in lists if request.query.get("q")]
    require(
        len(searched) == len(lists),
        "A list was asked for without a query: the service answered every file that it has.",
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
        f"The service answered {len(listed_ids)} of the {len(matching_ids)} files that were meant.",
    )
    fields = sorted({key for file in listed_files for key in file})
    require(
        set(fields) <= {"id", "name"}, f"Of each file the service told {', '.join(fields)}; id and name were wanted."
    )
    starred = {file["id"] for file in evidence.files() if file.get("starred")}
    require(starred == matching_ids, f"{quantity(len(starred & matching_ids), 'file')} of {len(matching_ids)} have a star, and"
         f" {quantity(len(starred - matching_ids), 'other')}.")  # fmt: skip
    return f"The service searched, told two fields of {len(matching_ids)} files, and these have their star."


SEARCH = ExerciseDefinition(
    name="let-the-service-search",
    theme="content",
    title="Let the service search",
    text=(
        "Give a star to every file of the type `text/csv` whose name contains the word `given.word` and that is not in"
        " the trash. The search is the service's work: it shall answer these files and no other, and of each of them"
        " only the id and the name."
    ),
    hints=(
        "A query joins conditions: `\"name contains 'duck' and starred = false\"`.",
        "The other two fields to ask about are `mimeType` and `trashed`.",
        "`svc.files(query, fields=[...])` says which columns the service shall tell, and `svc.update` takes the frame.",
    ),
    set_up=_set_up_search,
    check=_check_search,
)


def _set_up_format(_: ExerciseService, rng: Random) -> dict[str, Value]:
    return {"name": f"counts {rng.randrange(100, 1000)}", "content": survey(rng, 30)}


_TSV = "text/tab-separated-values"


def _check_format(evidence: Evidence) -> str:
    created = evidence.requests_of("files.create")
    require(created, f"The service saw {quantity(len(evidence.requests), 'request')}, and none of them creates a file.")
    file = require_single_file(evidence, evidence.values["name"])
    media_type = str(file["mimeType"])
    require(
        media_type.endswith(".spreadsheet"),
        f"The file {file['name']!r} is {media_type}, and no spreadsheet of the service.",
    )
    exports = [request for request in evidence.requests_of("files.export") if f"/{file['id']}/" in request.path]
    require(exports, "The spreadsheet was never exported: nobody has asked the service for another format.")
    formats = [str(request.query.get("mimeType")) for request in exports if request.succeeded]
    require(_TSV in formats, f"The spreadsheet was exported as {list_text(formats)}, not as tab-separated values.")
    content = next(
        request.response_body for request in exports if request.succeeded and request.query.get("mimeType") == _TSV
    )
    rows = [line.split("\t") for line in content.decode("utf-8-sig", "replace").splitlines()]
    expected_rows = [line.split(",") for line in evidence.values["content"].decode().splitlines()]
    require(
        rows == expected_rows, f"The export has {quantity(len(rows), 'row')}, and they are not those of given.content."
    )
    return "The service read the table once and wrote it in another format."


FORMAT = ExerciseDefinition(
    name="another-format",
    theme="content",
    title="The same table in another format",
    text=(
        "`given.content` is CSV. Make a *spreadsheet of the service* of it, called `given.name`, and let the service"
        " write that as tab-separated values (TSV)."
    ),
    hints=(
        "A file stays what it is; `03-convert` says how it becomes a document of the service.",
        '`svc.upload(..., convert_to=...)`. The bytes need a type: `mime_type="text/csv"`.',
        "A spreadsheet has no bytes to download. `svc.export` writes it in any format of `svc.export_formats`.",
    ),
    set_up=_set_up_format,
    check=_check_format,
)

ALL = (PART, SEARCH, FORMAT)
