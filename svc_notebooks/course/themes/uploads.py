"""Exercises about uploading a file with a name, with metadata in the same request, and after a lost response."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING

from ..check_result import require
from ..definition import ExerciseDefinition
from .shared_checks import list_text, quantity, require_same_content, require_single_file

if TYPE_CHECKING:
    from ..definition import Value
    from ..evidence import Evidence, RecordedRequest
    from ..exercise_service import ExerciseService

_BIRDS = ("coot", "mallard", "heron", "grebe", "moorhen", "wigeon")
_PONDS = ("north", "mill", "abbey", "south")
_ID = re.compile(rb'"id"\s*:\s*"([^"]+)"')


def survey(rng: Random, rows: int = 120) -> bytes:
    """Return a CSV table of random bird counts as bytes."""
    lines = ["pond,species,count"]
    lines += [f"{rng.choice(_PONDS)},{rng.choice(_BIRDS)},{rng.randrange(100)}" for _ in range(rows)]
    return "\n".join(lines).encode()


def _set_up_name(_: ExerciseService, rng: Random) -> dict[str, Value]:
    return {"name": f"ponds-{rng.randrange(100, 1000)}.csv", "content": survey(rng)}


def _check_name(evidence: Evidence) -> str:
    created = evidence.requests_of("files.create")
    require(created, f"The service saw {quantity(len(evidence.requests), 'request')}, and none of them creates a file.")
    file = require_single_file(evidence, evidence.values["name"])
    require_same_content(evidence, file, evidence.values["content"], "given.content")
    _require_single_request(evidence, created)
    return "The service saw one upload, and the name came with it."


def _require_single_request(evidence: Evidence, created: list[RecordedRequest]) -> None:
    updates = evidence.requests_of("files.update")
    require(
        not updates,
        f"The file was changed after it was there ({quantity(len(updates), 'update')}): ask for it at once.",
    )
    succeeded = [request for request in created if request.succeeded]
    require(len(succeeded) == 1, f"The service was asked to create {len(succeeded)} files, and one was wanted.")


NAMED = ExerciseDefinition(
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
    set_up=_set_up_name,
    check=_check_name,
)


def _set_up_metadata(_: ExerciseService, rng: Random) -> dict[str, Value]:
    winter = rng.randrange(2019, 2026)
    return {
        "name": f"winter-{winter}.csv",
        "description": f"Counted by {rng.choice(('Ida', 'Jan', 'Mia', 'Noor'))}, winter of {winter}",
        "content": survey(rng, 60),
    }


def _check_metadata(evidence: Evidence) -> str:
    values = evidence.values
    created = evidence.requests_of("files.create")
    require(created, f"The service saw {quantity(len(evidence.requests), 'request')}, and none of them creates a file.")
    file = require_single_file(evidence, values["name"])
    require_same_content(evidence, file, values["content"], "given.content")
    description = file.get("description")
    require(
        description == values["description"],
        f"The file's description is {description!r}, not that of given.description.",
    )
    require(file.get("starred"), "The file has no star.")
    _require_single_request(evidence, created)
    upload_type = created[-1].upload_type
    require(
        upload_type == "multipart",
        f"The upload was of the type {upload_type!r}: metadata and content were not in one request.",
    )
    return "The service saw a single multipart request that had everything in it."


METADATA = ExerciseDefinition(
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
    set_up=_set_up_metadata,
    check=_check_metadata,
)


def _set_up_receipt(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    exercise.service.add_faults({"steps": [{"match": {"operation": "files.create"}, "action": {"reset": "after"}}]})
    number = rng.randrange(1000, 10_000)
    return {"name": f"order-{number}.txt", "content": f"Order {number}: {rng.randrange(2, 99)} nest boxes".encode()}


def _check_receipt(evidence: Evidence) -> str:
    created = evidence.requests_of("files.create")
    require(created, f"The service saw {quantity(len(evidence.requests), 'request')}, and none of them creates a file.")
    generated_ids = {
        name for request in evidence.requests_of("files.generateIds") for name in request.response_json.get("ids", [])
    }
    matches = [_ID.search(request.request_body) for request in created]
    ids = [match[1].decode("utf-8", "replace") if match else None for match in matches]
    require(
        generated_ids,
        "The file was asked for before an id had been drawn from the service: a repetition makes a second file.",
    )
    require(None not in ids, f"{quantity(ids.count(None), 'request')} to create the file had no id in it.")
    require(len(set(ids)) == 1, f"The repetitions had {len(set(ids))} different ids, so each of them may make a file.")
    require(generated_ids.issuperset(set(ids)), f"The id {list_text(set(ids))} is not one that the service has drawn.")
    file = require_single_file(evidence, evidence.values["name"])
    require_same_content(evidence, file, evidence.values["content"], "given.content")
    later = [
        request
        for request in evidence.requests
        if request.n > created[0].n and request.operation in ("files.create", "files.get")
    ]
    require(
        later, "The answer to the only request was lost, and nobody has asked since: so nobody knows that it worked."
    )
    return "The service saw the same id twice, said that it was taken, and there is one file."


RECEIPT = ExerciseDefinition(
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
    set_up=_set_up_receipt,
    check=_check_receipt,
)

ALL = (NAMED, METADATA, RECEIPT)
