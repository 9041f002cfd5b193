"""Exercises about uploads: a name, metadata in the same request, and a receipt that is lost."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING

from ..definition import Definition
from ..verdict import need
from .words import counted, listed, same_content, the_one_file

if TYPE_CHECKING:
    from ..definition import Value
    from ..evidence import Evidence, Seen
    from ..exercise_service import ExerciseService

_BIRDS = ("coot", "mallard", "heron", "grebe", "moorhen", "wigeon")
_PONDS = ("north", "mill", "abbey", "south")
_ID = re.compile(rb'"id"\s*:\s*"([^"]+)"')


def survey(dice: Random, rows: int = 120) -> bytes:
    """Bird counts as CSV, other ones for every seed."""
    lines = ["pond,species,count"]
    lines += [f"{dice.choice(_PONDS)},{dice.choice(_BIRDS)},{dice.randrange(100)}" for _ in range(rows)]
    return "\n".join(lines).encode()


# -- upload-with-a-name


def _lay_out_name(_: ExerciseService, dice: Random) -> dict[str, Value]:
    return {"name": f"ponds-{dice.randrange(100, 1000)}.csv", "content": survey(dice)}


def _check_name(saw: Evidence) -> str:
    created = saw.of("files.create")
    need(created, f"The service saw {counted(len(saw.requests), 'request')}, and none of them creates a file.")
    file = the_one_file(saw, saw.given["name"])
    same_content(saw, file, saw.given["content"], "given.content")
    _in_one(saw, created)
    return "The service saw one upload, and the name came with it."


def _in_one(saw: Evidence, created: list[Seen]) -> None:
    changed = saw.of("files.update")
    need(
        not changed, f"The file was changed after it was there ({counted(len(changed), 'update')}): ask for it at once."
    )
    worked = [one for one in created if one.worked]
    need(len(worked) == 1, f"The service was asked to create {len(worked)} files, and one was wanted.")


NAMED = Definition(
    name="upload-with-a-name",
    theme="uploads",
    title="Upload with a name",
    text=(
        "`given.content` is a table of bird counts. Upload it so that the service has exactly one file, called"
        " `given.name`, and ask for it in one go: the name shall be there from the beginning."
    ),
    hints=(
        "Which upload types of `01-uploads` have a place for a name?",
        "`svc.upload` takes bytes. Look at what else it takes: `help(svc.upload)`.",
        "Without a name a file is called *Untitled*, and naming it afterwards is a second request.",
    ),
    lay_out=_lay_out_name,
    check=_check_name,
)

# -- metadata-in-one-request


def _lay_out_metadata(_: ExerciseService, dice: Random) -> dict[str, Value]:
    winter = dice.randrange(2019, 2026)
    return {
        "name": f"winter-{winter}.csv",
        "description": f"Counted by {dice.choice(('Ida', 'Jan', 'Mia', 'Noor'))}, winter of {winter}",
        "content": survey(dice, 60),
    }


def _check_metadata(saw: Evidence) -> str:
    given = saw.given
    created = saw.of("files.create")
    need(created, f"The service saw {counted(len(saw.requests), 'request')}, and none of them creates a file.")
    file = the_one_file(saw, given["name"])
    same_content(saw, file, given["content"], "given.content")
    said = file.get("description")
    need(said == given["description"], f"The file's description is {said!r}, not that of given.description.")
    need(file.get("starred"), "The file has no star.")
    _in_one(saw, created)
    kind = created[-1].upload_type
    need(kind == "multipart", f"The upload was of the type {kind!r}: metadata and content were not in one request.")
    return "The service saw a single multipart request that had everything in it."


METADATA = Definition(
    name="metadata-in-one-request",
    theme="uploads",
    title="Everything in one request",
    text=(
        "Upload `given.content` as `given.name`, with `given.description` as its description and with a star. The"
        " service shall see one request, with the metadata and the content in it, and no other."
    ),
    hints=(
        "A `media` upload has no metadata, a `resumable` one sends it ahead. Which type is left?",
        "`svc.upload(..., upload_type=...)`, and `metadata=` takes a dict of further fields.",
        'The fields are called `"description"` and `"starred"`, as on the wire.',
    ),
    lay_out=_lay_out_metadata,
    check=_check_metadata,
)

# -- the-lost-receipt


def _lay_out_receipt(world: ExerciseService, dice: Random) -> dict[str, Value]:
    world.service.add_faults({"steps": [{"match": {"operation": "files.create"}, "action": {"reset": "after"}}]})
    number = dice.randrange(1000, 10_000)
    return {"name": f"order-{number}.txt", "content": f"Order {number}: {dice.randrange(2, 99)} nest boxes".encode()}


def _check_receipt(saw: Evidence) -> str:
    created = saw.of("files.create")
    need(created, f"The service saw {counted(len(saw.requests), 'request')}, and none of them creates a file.")
    drawn = {name for one in saw.of("files.generateIds") for name in one.result.get("ids", [])}
    used = [_id_in(one) for one in created]
    need(
        drawn, "The file was asked for before an id had been drawn from the service: a repetition makes a second file."
    )
    need(None not in used, f"{counted(used.count(None), 'request')} to create the file had no id in it.")
    need(len(set(used)) == 1, f"The repetitions had {len(set(used))} different ids, so each of them may make a file.")
    need(drawn.issuperset(set(used)), f"The id {listed(set(used))} is not one that the service has drawn.")
    file = the_one_file(saw, saw.given["name"])
    same_content(saw, file, saw.given["content"], "given.content")
    later = [one for one in saw.requests if one.n > created[0].n and one.operation in ("files.create", "files.get")]
    need(later, "The answer to the only request was lost, and nobody has asked since: so nobody knows that it worked.")
    return "The service saw the same id twice, said that it was taken, and there is one file."


def _id_in(one: Seen) -> str | None:
    found = _ID.search(one.asked)
    return found[1].decode("utf-8", "replace") if found else None


RECEIPT = Definition(
    name="the-lost-receipt",
    theme="uploads",
    title="The lost receipt",
    text=(
        "An order goes up: `given.content` as `given.name`. On this line the answer to the first request that creates"
        " something is lost: the work is done, and nobody is told. In the end there shall be exactly one order, and"
        " you shall know that it is there, without ever having made a second one."
    ),
    hints=(
        "Uploading again after the error makes a second file. What would make the repetition harmless?",
        "`01-uploads` has a section called *An id that you choose first*.",
        "`svc.generate_ids(1)` draws an id, and `svc.upload` takes it as `file_id`.",
    ),
    lay_out=_lay_out_receipt,
    check=_check_receipt,
)

ALL = (NAMED, METADATA, RECEIPT)
