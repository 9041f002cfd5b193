"""Exercises about what comes down: a part of a file, a search, another format."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from ...client.files import create_file, update_file
from ...core.http.messages import Request
from ..definition import Definition
from ..verdict import need
from .uploads import survey
from .words import counted, listed, same_content, the_one_file

if TYPE_CHECKING:
    from ...client.session import Session
    from ..definition import Value
    from ..evidence import Evidence
    from ..exercise_service import ExerciseService

_RECORD = 64


def put_file(session: Session, name: str, content: bytes, media_type: str = "text/plain") -> str:
    """A file that is there before the exercise begins: its id."""
    made = create_file(session, {"name": name, "mimeType": media_type})
    url = session.url(session.names.upload_path("files", str(made["id"])), {"uploadType": "media"})
    headers = session.headers(("Content-Type", media_type), ("Content-Length", str(len(content))))
    session.send(Request("PATCH", url, headers, content))
    return str(made["id"])


# -- a-part-of-a-file


def _lay_out_part(world: ExerciseService, dice: Random) -> dict[str, Value]:
    count = dice.randrange(3000, 4000)
    records = [f"{number:06} {dice.getrandbits(200):055x}\n"[:_RECORD] for number in range(count)]
    lines = [f"{one[:63]:<63}\n" for one in records]
    file_id = put_file(world.session(), "sensor.log", "".join(lines).encode())
    wanted = dice.randrange(100, count - 100)
    world.kept["record"] = lines[wanted].encode()
    return {"file_id": file_id, "record": wanted}


def _check_part(saw: Evidence) -> str:
    loads = [one for one in saw.of("files.get") if one.query.get("alt") == "media"]
    need(loads, "The service saw no download.")
    sent = sum(one.sent for one in loads)
    ranged = all("Range" in one.headers for one in loads)
    need(ranged, f"A download named no range, so the whole file went over the wire; {sent:,} bytes in all.")
    need(sent == _RECORD, f"The service sent {sent:,} bytes of the file, and the record has {_RECORD}.")
    file = the_one_file(saw, "record.txt")
    same_content(saw, file, saw.kept["record"], f"record {saw.given['record']}")
    return f"The service sent {_RECORD} bytes of the file, and they are the right ones."


PART = Definition(
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
    lay_out=_lay_out_part,
    check=_check_part,
)

# -- let-the-service-search

_CSV = "text/csv"


def _lay_out_search(world: ExerciseService, dice: Random) -> dict[str, Value]:
    session = world.session()
    word, other = dice.sample(("heron", "grebe", "wigeon", "coot"), 2)
    wanted = dice.randrange(3, 7)
    rows = [(f"{word} {n}.csv", _CSV) for n in range(wanted)]
    rows += [(f"{word} notes {n}.txt", "text/plain") for n in range(2)]
    rows += [(f"{other} {n}.csv", _CSV) for n in range(dice.randrange(4, 9))]
    dice.shuffle(rows)
    made = {name: str(create_file(session, {"name": name, "mimeType": kind})["id"]) for name, kind in rows}
    thrown = str(create_file(session, {"name": f"{word} old.csv", "mimeType": _CSV})["id"])
    update_file(session, thrown, {"trashed": True})
    world.kept["wanted"] = {made[f"{word} {n}.csv"] for n in range(wanted)}
    world.kept["thrown"] = thrown
    return {"word": word}


def _check_search(saw: Evidence) -> str:
    wanted, lists = saw.kept["wanted"], [one for one in saw.of("files.list") if one.worked]
    need(lists, "The service was not asked for a list of files.")
    searched = [one for one in lists if one.query.get("q")]
    need(
        len(searched) == len(lists),
        "A list was asked for without a query: the service answered every file that it has.",
    )
    answered = [item for one in lists for item in one.result.get("files", [])]
    more = [item for item in answered if item.get("id") not in wanted]
    need(
        not more,
        f"The service answered {counted(len(more), 'file')} that nobody wants{_called(more)}: ask more exactly.",
    )
    found = {item.get("id") for item in answered}
    need(found == wanted, f"The service answered {len(found)} of the {len(wanted)} files that were meant.")
    fields = sorted({key for item in answered for key in item})
    need(set(fields) <= {"id", "name"}, f"Of each file the service told {', '.join(fields)}; id and name were wanted.")
    starred = {one["id"] for one in saw.files() if one.get("starred")}
    need(starred == wanted, f"{counted(len(starred & wanted), 'file')} of {len(wanted)} have a star, and"
         f" {counted(len(starred - wanted), 'other')}.")  # fmt: skip
    return f"The service searched, told two fields of {len(wanted)} files, and these have their star."


def _called(items: list[dict[str, Any]]) -> str:
    names = [item["name"] for item in items if "name" in item]
    return f" (called {listed(names, 2)})" if names else ""


SEARCH = Definition(
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
    lay_out=_lay_out_search,
    check=_check_search,
)

# -- another-format


def _lay_out_format(_: ExerciseService, dice: Random) -> dict[str, Value]:
    return {"name": f"counts {dice.randrange(100, 1000)}", "content": survey(dice, 30)}


_TSV = "text/tab-separated-values"


def _check_format(saw: Evidence) -> str:
    created = saw.of("files.create")
    need(created, f"The service saw {counted(len(saw.requests), 'request')}, and none of them creates a file.")
    file = the_one_file(saw, saw.given["name"])
    kind = str(file["mimeType"])
    need(kind.endswith(".spreadsheet"), f"The file {file['name']!r} is {kind}, and no spreadsheet of the service.")
    exports = [one for one in saw.of("files.export") if f"/{file['id']}/" in one.path]
    need(exports, "The spreadsheet was never exported: nobody has asked the service for another format.")
    formats = [str(one.query.get("mimeType")) for one in exports if one.worked]
    need(_TSV in formats, f"The spreadsheet was exported as {listed(formats)}, not as tab-separated values.")
    _same_cells(saw, next(one.answer for one in exports if one.worked and one.query.get("mimeType") == _TSV))
    return "The service read the table once and wrote it in another format."


def _same_cells(saw: Evidence, answer: bytes) -> None:
    wrote = [line.split("\t") for line in answer.decode("utf-8-sig", "replace").splitlines()]
    meant = [line.split(",") for line in saw.given["content"].decode().splitlines()]
    need(wrote == meant, f"The export has {counted(len(wrote), 'row')}, and they are not those of given.content.")


FORMAT = Definition(
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
    lay_out=_lay_out_format,
    check=_check_format,
)

ALL = (PART, SEARCH, FORMAT)
