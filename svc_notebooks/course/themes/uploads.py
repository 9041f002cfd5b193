"""Exercises about uploading a file with a name, with metadata in the same request, and after a lost response."""

import json
import re
from random import Random

from ...core.http.messages import JSON, JSONObject
from ...core.resources.files import File
from ..definition import ExerciseDefinition, Part, Value, list_text, quantity, require
from ..evidence import CONTENT, NAME, Evidence, RecordedRequest, named_file, require_no_updates
from ..exercise_service import ExerciseService

_BIRDS = ("coot", "mallard", "heron", "grebe", "moorhen", "wigeon")
_PONDS = ("north", "mill", "abbey", "south")
_FIND = ("files.get", "files.list", "changes.list")
_ID = re.compile(rb'"id"\s*:\s*"([^"]+)"')


def survey(rng: Random, rows: int = 120) -> bytes:
    """Return a CSV table of random bird counts as bytes."""
    lines = ["pond,species,count"]
    lines += [f"{rng.choice(_PONDS)},{rng.choice(_BIRDS)},{rng.randrange(100)}" for _ in range(rows)]
    return "\n".join(lines).encode()


def _require_single_request(evidence: Evidence) -> str:
    require_no_updates(evidence, named_file(evidence), "send everything in one request")
    return "The service received one upload, which contained the name."


NAMED = ExerciseDefinition(
    name="upload-with-a-name",
    set_up=lambda _, rng: {"name": f"ponds-{rng.randrange(100, 1000)}.csv", "content": survey(rng)},
    parts=(NAME, CONTENT, Part("the name is sent with the content", _require_single_request, 2)),
    creates=1,
)


def _set_up_metadata(_: ExerciseService, rng: Random) -> dict[str, Value]:
    winter = rng.randrange(2019, 2026)
    return {
        "name": f"winter-{winter}.csv",
        "description": f"Counted by {rng.choice(('Ida', 'Jan', 'Mia', 'Noor'))}, winter of {winter}",
        "content": survey(rng, 60),
    }


def _require_description(evidence: Evidence) -> None:
    description = named_file(evidence).get("description")
    seen = f"The file's description is {description!r}, not given.description."
    require(description == evidence.values["description"], f"{seen} It belongs to the metadata of the upload.")


def _require_star(evidence: Evidence) -> None:
    message = "The file has no star. A file with a star has the field `starred` with the value true in its metadata."
    require(named_file(evidence).get("starred"), message)


def _require_multipart(evidence: Evidence) -> None:
    file = named_file(evidence)
    require_no_updates(evidence, file, "send everything in one request")
    upload_type = evidence.creations_of(file["id"])[-1].upload_type
    message = f"The upload type was {upload_type!r}, so metadata and content were not in one request. Only a multipart upload contains both. Look at the column `query` of svc.exchanges()."
    require(upload_type == "multipart", message)


def _require_no_other_request(evidence: Evidence) -> str:
    message = f"The service received {quantity(len(evidence.requests), 'request')}, and the task asks for a single one. Look at svc.exchanges(), which sends no request."
    require(len(evidence.requests) == 1, message)
    named_file(evidence)
    return "The service received one multipart request with the metadata and the content."


METADATA = ExerciseDefinition(
    name="metadata-in-one-request",
    set_up=_set_up_metadata,
    parts=(
        NAME,
        CONTENT,
        Part("the description", _require_description),
        Part("the star", _require_star),
        Part("metadata and content in one request", _require_multipart, 2),
        Part("no other request", _require_no_other_request),
    ),
    creates=1,
    sets=("description", "starred"),
)


def _set_up_receipt(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    lost: JSONObject = {"reset": "after"}
    steps: list[JSON] = [{"match": {"operation": name}, "action": lost} for name in ("files.create", "upload.session")]
    exercise.service.add_faults({"steps": steps})
    number = rng.randrange(1000, 10_000)
    return {"name": f"order-{number}.txt", "content": f"Order {number}: {rng.randrange(2, 99)} nest boxes".encode()}


def _require_safe_requests(evidence: Evidence) -> None:
    created = evidence.requests_of("files.create")
    require(created, "No request creates a file. An upload is a POST request.")
    responses = [request.response_json for request in evidence.requests_of("files.generateIds")]
    generated_ids = {name for response in responses for name in response.get("ids", [])}
    finished = {each.session_id for each in evidence.requests_of("upload.session") if each.status in (200, 201)}
    orders = len(finished) + sum(request.upload_type != "resumable" for request in created)
    if generated_ids or orders > 1:
        _require_same_id(created, generated_ids)


def _require_proof(evidence: Evidence) -> str:
    file = named_file(evidence)
    copies = len(evidence.succeeded("files.copy"))
    message = f"The service made {quantity(copies, 'copy', 'copies')} of a file, and a copy is a second order."
    require(not copies, message)
    first = evidence.creations_of(file["id"])[0]
    message = "The response to the only request was lost, and no later request asked whether the file exists and got a response that shows its id or its name. Look for the file, with its id or its name in `fields`, or repeat the request with the same generated id."
    require(any(request.n > first.n and _shows(request, file) for request in evidence.requests), message)
    return "The service has one order, and a later response has shown that it exists."


def _require_same_id(created: list[RecordedRequest], generated_ids: set[str]) -> None:
    """Raise CheckFailedError unless all requests that create a file have the same id, which the service generated."""
    matches = [_ID.search(request.request_body) for request in created]
    ids = [match[1].decode("utf-8", "replace") if match else None for match in matches]
    message = "The file was created without a generated id, so the repeated request creates a second file. Generate an id before the first request (svc.generate_ids(1)), or look for the file by its name and do not repeat the request."
    require(generated_ids, message)
    message = f"{quantity(ids.count(None), 'request')} to create the file had no id. Send the same generated id in each of them."
    require(None not in ids, message)
    message = f"The requests had {len(set(ids))} different ids, so each of them can create a file. Use the same id."
    require(len(set(ids)) == 1, message)
    message = f"The service did not generate the id {list_text(set(ids))}. Use an id of svc.generate_ids()."
    require(generated_ids.issuperset(set(ids)), message)


def _shows(request: RecordedRequest, file: File) -> bool:
    """Return whether the student got a response which shows that the file exists."""
    if request.operation == "files.create" and request.status == 409:
        return file["id"].encode() in request.request_body
    looks = request.operation in {*_FIND, "files.create", "files.update", "upload.session"}
    texts = (file["id"], file["name"])
    return request.succeeded and looks and any(json.dumps(text).encode() in request.response_body for text in texts)


RECEIPT = ExerciseDefinition(
    name="the-lost-receipt",
    set_up=_set_up_receipt,
    parts=(
        Part("no request can create a second order", _require_safe_requests, 2),
        NAME,
        CONTENT,
        Part("checked that the order exists", _require_proof, 2, _FIND),
    ),
    creates=1,
)

ALL = (NAMED, METADATA, RECEIPT)
