"""Exercises about downloading a part of a file, searching for files, and converting a file to another format."""

import math
import re
from random import Random

from ...client.files import create_file, delete_file, list_files, share_file, update_file
from ...client.session import Session
from ...core.http.messages import JSONObject, Request
from ...core.resources.files import File, Permission
from ..definition import ExerciseDefinition, Part, Value, list_text, quantity, require
from ..evidence import Evidence, require_file, require_same_content
from ..exercise_service import ExerciseService
from .uploads import survey

_RECORD_SIZE = 64
_RANGE = re.compile(r"bytes=(\d{1,9})-(\d{1,9})", re.IGNORECASE)


def put_file(
    session: Session, name: str, content: bytes, media_type: str = "text/plain", *, folder: str = "root"
) -> str:
    """Create a file for the set-up of an exercise, and return the file id."""
    file_id = str(create_file(session, {"name": name, "mimeType": media_type, "parents": [folder]})["id"])
    put_content(session, file_id, content, media_type)
    return file_id


def put_content(session: Session, file_id: str, content: bytes, media_type: str = "text/plain") -> None:
    """Replace the content of a file for the set-up of an exercise."""
    url = session.url(session.names.upload_path("files", file_id), {"uploadType": "media"})
    headers = session.headers(("Content-Type", media_type), ("Content-Length", str(len(content))))
    session.send(Request("PATCH", url, headers, content))


def _set_up_part(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    count = rng.randrange(3000, 4000)
    records = [f"{number:06} {rng.getrandbits(200):055x}\n"[:_RECORD_SIZE] for number in range(count)]
    lines = [f"{record[:63]:<63}\n" for record in records]
    file_id = put_file(exercise.session(), "sensor.log", "".join(lines).encode())
    record_number = rng.randrange(100, count - 100)
    exercise.check_data["record"] = lines[record_number].encode()
    return {"file_id": file_id, "record": record_number}


def _require_only_record(evidence: Evidence) -> str:
    others = evidence.requests_of("files.content", "files.export")
    others += [request for request in evidence.requests_of("revisions.get") if request.is_download]
    message = f"{quantity(len(others), 'request')} asked for content in another way than a download with a range. Use byte_range."
    require(not others, message)
    downloads = [request for request in evidence.succeeded("files.get") if request.is_download]
    require(downloads, "The service received no download. Use svc.read or svc.download with the file given.file_id.")
    first = _RECORD_SIZE * evidence.values["record"]
    last = first + _RECORD_SIZE - 1
    received: set[int] = set()
    for request in downloads:
        sent = f"the service sent {request.sent:,} bytes"
        message = f"A download had no range, so {sent}, which are the whole file. Ask only for the bytes of the record, with byte_range."
        require(request.status == 206, message)
        match = _RANGE.fullmatch(request.headers["Range"].replace(" ", ""))
        message = f"A download had the range {request.headers['Range']!r}, and {sent}. The record has the bytes {first} to {last}: {_RECORD_SIZE} bytes, because the last byte of a range belongs to it."
        require(match and first <= int(match[1]) <= int(match[2]) <= last, message)
        received.update(range(int(match[1]), int(match[2]) + 1) if match else ())
    message = f"The service sent {len(received)} bytes, but the record has {_RECORD_SIZE}."
    require(len(received) == _RECORD_SIZE, message)
    return f"The service sent only the {_RECORD_SIZE} bytes of the requested record."


_RECORD = "record.txt"


def _record_file(evidence: Evidence) -> File:
    return require_file(evidence, _RECORD)


def _require_record(evidence: Evidence) -> None:
    owner = f"record {evidence.values['record']}"
    require_same_content(evidence, _record_file(evidence), evidence.check_data["record"], owner)


PART = ExerciseDefinition(
    name="a-part-of-a-file",
    set_up=_set_up_part,
    parts=(
        Part("no other byte is downloaded", _require_only_record, 2, ("files.get",)),
        Part("a file called record.txt", _record_file, operations=("files.create", "upload.session")),
        Part("the bytes of the record", _require_record),
    ),
    creates=1,
)


_CSV = "text/csv"
_LIKE_CSV = (
    "text/plain", "text/comma-separated-values", "text/tab-separated-values", "text/csv-schema", "application/csv",
)  # fmt: skip


# The words of the searches, each with another word that begins with all its letters but the last one.
_WORDS = {"crane": "crank", "egret": "egress", "heron": "heroes", "stork": "storm"}


def _set_up_search(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    """Create matching files, and for each condition files that match all but this one. Some of the files are Bob's."""
    ada, bob = exercise.session(), exercise.session("bob@svc.example")
    word, other = rng.sample(sorted(_WORDS), 2)
    rows: list[JSONObject] = [{"name": f"{word} {n}.csv", "mimeType": _CSV} for n in range(rng.randrange(3, 6))]
    rows += [{"name": f"pond {n} {word}", "mimeType": _CSV} for n in range(2)]
    matches = len(rows)
    for year, row in enumerate(rng.sample(rows, 2), start=2021):
        row["createdTime"] = row["modifiedTime"] = f"{year}-03-01T12:00:00Z"
    rows += [{"name": f"{word} notes {n}.txt", "mimeType": "text/plain"} for n in range(2)]
    rows += [{"name": f"{word} list.csv", "mimeType": media_type} for media_type in _LIKE_CSV]
    rows += [{"name": f"{_WORDS[word]} {n}.csv", "mimeType": _CSV} for n in range(2)]
    rows += [{"name": f"{other} {n}.csv", "mimeType": _CSV} for n in range(rng.randrange(3, 6))]
    rows += [{"name": f"{other} table.csv", "mimeType": _CSV, "description": f"like the {word}"}]
    rows += [{"name": f"{word} old {n}.csv", "mimeType": _CSV, "trashed": True} for n in range(2)]
    order = list(range(len(rows)))
    rng.shuffle(order)
    own, ids = {0, matches, *rng.sample(order, len(order) // 2)} - {1}, dict[int, str]()
    for n in order:
        trashed = rows[n].pop("trashed", False)
        session = ada if n in own or trashed else bob
        ids[n] = str(create_file(session, rows[n])["id"])  # type: ignore[arg-type]
        if session is bob:
            grant: Permission = {"type": "user", "role": "writer", "emailAddress": exercise.service.policy.first_user}
            share_file(bob, ids[n], grant)
        if trashed:
            update_file(ada, ids[n], {"trashed": True})
    exercise.check_data["matching_ids"] = {ids[n] for n in range(matches)}
    return {"word": word}


def _last_search(evidence: Evidence) -> tuple[str, list[JSONObject]]:
    """Return the query of the last search before the stars, and the files of its responses, which may be several pages.

    Raises CheckFailedError if this search had no query, or its responses no ids.
    """
    lists = evidence.succeeded("files.list")
    require(lists, "No request listed files. Use svc.files with a query.")
    before = [request for request in lists if request.n < _first_star(evidence)] or lists
    q = before[-1].query.get("q") or ""
    message = "A request listed files without a query, so the service returned all files. svc.files takes a query as its first argument."
    require(q, message)
    pages = [request.response_json.get("files", [{}]) for request in before if request.query.get("q") == q]
    files = [file for page in pages for file in page]
    message = "A response has no ids, because `fields` does not name them. Without its id you cannot change a file."
    require(all("id" in file for file in files), message)
    return q, files


def _first_star(evidence: Evidence) -> float:
    return min((request.n for request in evidence.succeeded("files.update")), default=math.inf)


def _require_search(evidence: Evidence) -> str:
    matching_ids, (q, listed_files) = evidence.check_data["matching_ids"], _last_search(evidence)
    other_files = [file for file in listed_files if file["id"] not in matching_ids]
    names = [file["name"] for file in other_files if "name" in file]
    called = f" (called {list_text(names, 2)})" if names else ""
    message = f"The service returned {quantity(len(other_files), 'other file')}{called}: make the query more precise."
    require(not other_files, message)
    listed_ids = {file["id"] for file in listed_files}
    message = f"The service returned {len(listed_ids)} of the {len(matching_ids)} matching files. Look at the conditions of your query, and at given.word."
    require(listed_ids == matching_ids, message)
    reads = [read for read in evidence.requests_of("files.get", "changes.list") if read.n < _first_star(evidence)]
    asked = f"{quantity(len(reads), 'request')} asked for single files or changes before the stars"
    message = f"{asked}, so the search did not decide alone which files match. Run begin() again, and use only the response of the search."
    require(not reads, message)
    new = create_file(evidence.state, {"name": f"a new {evidence.values['word']}", "mimeType": _CSV})["id"]
    found = any(file["id"] == new for file in list_files(evidence.state, q=q, fields="id"))
    delete_file(evidence.state, new)
    require(found, "The query does not find a new file that matches the task. Use conditions, and not a list of files.")
    return f"The service returned {len(matching_ids)} files, and these files have a star."


def _require_fields(evidence: Evidence) -> None:
    _, files = _last_search(evidence)
    fields = sorted({key for file in files for key in file})
    message = f"The service returned the fields {', '.join(fields)} instead of id and name. Use the argument fields."
    require(files and set(fields) <= {"id", "name"}, message)


def _require_stars(evidence: Evidence) -> None:
    matching_ids = evidence.check_data["matching_ids"]
    updated_ids = {request.path.rpartition("/")[2] for request in evidence.succeeded("files.update")}
    message = f"{quantity(len(updated_ids - matching_ids), 'file')} that your search did not return had an update. Change only the files that it returned."
    require(updated_ids <= matching_ids, message)
    starred = {file["id"] for file in evidence.files if file.get("starred")}
    message = f"Of the {len(matching_ids)} matching files, {len(starred & matching_ids)} have a star, and of the other files, {len(starred - matching_ids)} have one. Give a star to each file that your search returned, and to no other file."
    require(starred == matching_ids, message)


SEARCH = ExerciseDefinition(
    name="let-the-service-search",
    set_up=_set_up_search,
    parts=(
        Part("the service finds these files and no others", _require_search, 2, ("files.list",)),
        Part("only id and name in the response", _require_fields),
        Part("a star for each of them", _require_stars, 2, ("files.update",)),
    ),
    changes=("starred",),
)


_TSV = "text/tab-separated-values"
_IMPORT = ("files.create", "files.copy", "upload.session")


def _require_spreadsheet(evidence: Evidence) -> File:
    return require_file(evidence, evidence.values["name"], native="spreadsheet")


def _require_import(evidence: Evidence) -> None:
    file_id = _require_spreadsheet(evidence)["id"]
    copies = [request for request in evidence.creations_of(file_id) if request.operation == "files.copy"]
    made_of = {file_id, *(request.path.split("/")[-2] for request in copies)}
    uploads = [request for each in made_of for request in (*evidence.creations_of(each), *evidence.updates_of(each))]
    message = "No upload contains the CSV of given.content, so the table was converted before the upload. Upload given.content unchanged: the service converts it."
    require(any(evidence.values["content"] in request.request_body for request in uploads), message)


def _require_export(evidence: Evidence) -> str:
    file = _require_spreadsheet(evidence)
    exports = [request for request in evidence.requests_of("files.export") if f"/{file['id']}/" in request.path]
    require(exports, "The spreadsheet was never exported. Use svc.export.")
    succeeded = [request for request in exports if request.status == 200]
    formats = sorted({str(request.query.get("mimeType")) for request in succeeded})
    right = [request for request in succeeded if request.query.get("mimeType") == _TSV]
    require(succeeded, "No export succeeded.")
    message = f"The spreadsheet was exported as {list_text(formats)}, not as tab-separated values. The extension of this format is tsv."
    require(right, message)
    expected = [line.split(",") for line in evidence.values["content"].decode().splitlines()]
    texts = (request.response_body.decode("utf-8-sig", "replace") for request in right)
    tables = [[line.split("\t") for line in text.splitlines()] for text in texts]
    require(expected in tables, f"The export ({quantity(len(tables[-1]), 'row')}) differs from given.content.")
    changed = any(update.n > right[tables.index(expected)].n for update in evidence.updates_of(file["id"]))
    require(not changed, "The spreadsheet was changed after the export. Export it again.")
    return "The service imported the table and exported it to another format."


FORMAT = ExerciseDefinition(
    name="another-format",
    set_up=lambda _, rng: {"name": f"counts {rng.randrange(100, 1000)}", "content": survey(rng, 30)},
    parts=(
        Part("a spreadsheet called given.name", _require_spreadsheet, 2, _IMPORT),
        Part("the service has converted given.content", _require_import),
        Part("exported as TSV", _require_export, 2, ("files.export",)),
    ),
    creates=1,
)

ALL = (PART, SEARCH, FORMAT)
