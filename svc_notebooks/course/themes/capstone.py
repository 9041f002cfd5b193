"""The exercise about the sync of a local folder with a folder of the service, which uses six rules of the course."""

import itertools
from random import Random
from typing import Any

from ...client.files import create_file, update_file
from ...client.notifications.channels import start_page_token, watch
from ...core.http.messages import JSON, JSONObject
from ...core.resources.files import File
from ..definition import ExerciseDefinition, Part, Value, list_text, quantity, require
from ..evidence import Evidence, ExerciseExchange, RecordedRequest, length, read_object
from ..exercise_service import ExerciseService, ReceiverCase
from .change_log import require_known_tokens
from .content import put_content, put_file
from .events import edited_event, event_lines, require_conditions, require_no_lost_line
from .messages import forge_messages, require_genuine, require_rejections
from .resumable import QUANTUM, require_end, require_no_overlap, require_query_after_failure

_PONDS = ("abbey", "cove", "dell", "fen", "heath", "lake", "mill", "moor", "park")
_RECORDING, _LOCAL = "night.raw", "folder.json"
_REFUSALS = 3
_TOLERANCE = 0.002  # times are recorded in milliseconds
_FOLDER_TYPE = "application/vnd.svc-apps.folder"


def _set_up(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    session, address = exercise.session(), exercise.receiver("ponds")

    numbers = iter(rng.sample(range(100, 1000), 20))

    def text(name: str) -> bytes:
        return f"{name}: {next(numbers)} birds".encode()

    names = [f"{pond}.txt" for pond in rng.sample(_PONDS, 8)]
    replaced, edited, trashed, conflict, same, new_there, new_here, new_later = names
    folder = str(create_file(session, {"name": "ponds", "mimeType": _FOLDER_TYPE})["id"])
    known = {name: text(name) for name in (replaced, edited, trashed, conflict, same)}
    ids = {name: put_file(session, name, content, folder=folder) for name, content in known.items()}
    here = {edited: text(edited), conflict: b"(here) " + text(conflict), new_here: text(new_here)}
    local = known | here | {_RECORDING: rng.randbytes(5 * QUANTUM + rng.randrange(1000, 90_000))}
    values, change_event = edited_event(exercise, rng)
    page_token, channel = start_page_token(session), f"ponds-{rng.getrandbits(32):08x}"
    token, other_token = (f"{rng.getrandbits(64):016x}Ab" for _ in range(2))
    watch(session, None, {"id": channel, "address": address, "token": token})

    there = {replaced: text(replaced), conflict: b"(there) " + text(conflict)}
    for name, content in there.items():
        put_content(session, ids[name], content)
    there[new_there] = text(new_there)
    update_file(session, ids[trashed], {"trashed": True})
    put_file(session, new_there, there[new_there], folder=folder)
    put_file(session, same, b"of another folder")
    exercise.service.deliver()
    exercise.receiver_cases += _receiver_cases(exercise, {channel: token, "another": other_token}, rng)

    expected = local | there | {conflict.replace(".", " (conflict)."): local[conflict]}
    del expected[trashed]

    def change_after_a_report(exchange: ExerciseExchange) -> None:
        """Change the event after each read of it, and two files after its first update."""
        change_event(exchange)
        is_update = exchange.method != "GET" and exchange.status == 200 and "/events/" in exchange.path
        if is_update and new_later not in expected:
            expected[new_later], expected[replaced] = text(new_later), text(replaced)
            put_content(session, ids[replaced], expected[replaced])
            put_file(session, new_later, expected[new_later], folder=folder)

    exercise.react(change_after_a_report)
    chunk: JSONObject = {"operation": "upload.session"}
    cut: JSONObject = {"cut_request_after": 3 * QUANTUM + rng.randrange(1000, 90_000)}
    busy: JSONObject = {"operation": "files.get", "path": f"*{ids[replaced]}*"}
    steps: list[JSON] = [
        {"match": busy, "times": _REFUSALS, "action": {"status": 503}},
        {"match": chunk, "action": cut},
        {"match": {**chunk, "nth": 2}, "action": {"reset": "after"}},
    ]
    exercise.service.add_faults({"steps": steps})
    exercise.check_data.update(expected=expected, busy=ids[replaced], conflict=conflict)
    states: dict[str, Value] = {
        "folder_id": folder,
        "local": local,
        "known": known,
        "ids": ids,
        "page_token": page_token,
    }
    return {**states, "channel": channel, "token": token, **values}


def _receiver_cases(exercise: ExerciseService, tokens: dict[str, str], rng: Random) -> list[ReceiverCase]:
    """Return `sync`, two messages about changes, one of them twice, and forged messages, of which one is the first."""
    sync, first, *_, last = (dict(request.headers.pairs) for request in exercise.received)
    genuine = [ReceiverCase(message, True, "a genuine message") for message in (sync, first, last)]
    again = ReceiverCase(first, True, "a genuine message that arrived a second time")
    forged, *others = forge_messages(first, tokens)
    cases = [*genuine, again, *others, *forge_messages(sync, tokens)]
    rng.shuffle(cases)
    return [forged, *cases]


def _require_messages(evidence: Evidence) -> None:
    require_genuine(evidence)
    require_rejections(evidence)


def _require_runs(evidence: Evidence) -> None:
    lines, line = event_lines(evidence), evidence.values["line"]
    message = f"There are two new messages about a change, and the report has given.line {quantity(lines.count(line), 'time')}. Run your program once for each: not for `sync`, a forged message, or one that arrives again."
    require(lines.count(line) == 2, message)
    require(lines[-2:] == [line, line], "given.line is not the last line of the report. Append it to the description.")


def _require_change_log(evidence: Evidence) -> None:
    first = evidence.values["page_token"]
    begun = sum(page.query.get("pageToken") == first for page in require_known_tokens(evidence))
    require(begun == 1, f"{begun} runs began at given.page_token. A run begins where the last one has ended.")
    lists = evidence.requests_of("files.list")
    require(not lists, "A request listed files. The change log has only the files that have changed.")


def _require_report(evidence: Evidence) -> None:
    require_conditions(evidence)
    require_no_lost_line(evidence)


def _session_requests(evidence: Evidence) -> list[RecordedRequest]:
    """Return the requests to the session of the recording. Raises CheckFailedError unless there is one session."""
    uploads = [request for request in evidence.succeeded("files.create") if request.upload_type == "resumable"]
    sessions = {request.session_id for request in uploads if request.request_json.get("name") == _RECORDING}
    opened = quantity(len(sessions), "session")
    message = f'The service opened {opened} for {_RECORDING} instead of one. It is large: send it in one resumable upload, such as svc.upload(..., upload_type="resumable").'
    require(len(sessions) == 1, message)
    return [request for request in evidence.requests if request.query.get("upload_id") in sessions]


def _require_upload(evidence: Evidence) -> None:
    requests = _session_requests(evidence)
    require_query_after_failure(requests)
    require_no_overlap(requests)
    require_end(requests, len(evidence.values["local"][_RECORDING]))


def _require_growing_delays(evidence: Evidence) -> None:
    busy = evidence.check_data["busy"]
    reads = [request for request in evidence.requests_of("files.get") if request.path.endswith(f"/{busy}")]
    require(reads, "No request reads a file that has changed on the service.")
    refused = sum(request.status == 503 for request in reads)
    repeated = refused == _REFUSALS and len(reads) > _REFUSALS
    require(repeated, "A request that got a 503 was not repeated until it succeeded. This error is temporary.")
    times = [request.time for request in reads[: _REFUSALS + 1]]
    delays = [(later - earlier).total_seconds() for earlier, later in itertools.pairwise(times)]
    message = f"A request got a 503 {_REFUSALS} times, and was repeated after {', '.join(length(each, 'second') for each in delays)}. Wait before each repetition, and longer each time."
    require(all(after > before + _TOLERANCE for before, after in itertools.pairwise([0.0, *delays])), message)


def _files(evidence: Evidence) -> dict[str, File]:
    """Return the files in the folder by name. Raises CheckFailedError if the program sent nothing, or two have a name."""
    require(evidence.requests, "The service received no request.")
    folder = evidence.values["folder_id"]
    files = [file for file in evidence.live_files if folder in file.get("parents", [])]
    names = [file["name"] for file in files]
    twice = sorted({name for name in names if names.count(name) > 1})
    seen = f"The folder has two files called {list_text(twice, 3)}."
    require(not twice, f"{seen} A file that both sides know is updated by its id.")
    return {file["name"]: file for file in files}


def _require_conflict(evidence: Evidence) -> None:
    name, files = evidence.check_data["conflict"], _files(evidence)
    contents = {evidence.content(file["id"]) for file in files.values()}
    expected = evidence.check_data["expected"]
    for version, content in (("its version", expected[name]), ("your version", evidence.values["local"][name])):
        message = f"{name!r} was changed on both sides, and the folder of the service does not have {version}."
        require(content in contents, message)


def _require_needed_writes(evidence: Evidence) -> None:
    """Raise CheckFailedError if a file was written that has not changed here, or two requests sent its last content."""
    values = evidence.values
    unchanged = [name for name, content in values["known"].items() if values["local"][name] == content]
    written = [name for name in unchanged if evidence.updates_of(values["ids"][name])]
    for name, file in _files(evidence).items():
        content, writes = evidence.content(file["id"]), evidence.creations_of(file["id"])
        writes += evidence.updates_of(file["id"])
        written += [name] * (sum(content in request.request_body for request in writes) > 1)
    message = f"Your program wrote {list_text(sorted({*written}))} to the service without a change here, and each write is a change for every other program. Upload only what has changed here."
    require(not written, message)


def _require_folder(evidence: Evidence) -> str:
    expected = evidence.check_data["expected"]
    stored = {name: evidence.content(file["id"]) for name, file in _files(evidence).items()}
    _require_same(stored, expected, "The folder of the service")
    _require_needed_writes(evidence)
    return f"Both folders have the same {quantity(len(expected), 'file')}, and nothing was lost."


def _require_local(evidence: Evidence) -> None:
    local = read_object(evidence, _LOCAL, "of names and texts")
    expected = {name: content for name, content in evidence.check_data["expected"].items() if name != _RECORDING}
    _require_same(local, {name: content.decode() for name, content in expected.items()}, f"Your folder in {_LOCAL}")


def _require_same(found: dict[str, Any], expected: dict[str, Any], owner: str) -> None:
    missing, others = sorted(expected.keys() - found.keys()), sorted(found.keys() - expected.keys())
    require(not missing, f"{owner} lacks {list_text(missing)}.")
    require(not others, f"{owner} has {list_text(others)}, which the task does not ask for.")
    different = [name for name in expected if found[name] != expected[name]]
    require(not different, f"{owner} has another content of {list_text(different)} than it must have.")


_UPLOADS = ("files.create", "files.update", "upload.session")
CAPSTONE = ExerciseDefinition(
    name="two-way-sync",
    set_up=_set_up,
    parts=(
        Part("genuine messages are accepted, forged ones rejected", _require_messages, 2),
        Part("the change log from the stored token", _require_change_log, 2, ("changes.list",)),
        Part("growing delays after a 503", _require_growing_delays, 2),
        Part("both versions after a conflict", _require_conflict, 2),
        Part("If-Match, and no line lost", _require_report, 2, ("events.patch", "events.update")),
        Part("one run for each new message", _require_runs, 2),
        Part("one resumable upload, no byte twice", _require_upload, 2, ("upload.session",)),
        Part("the folder of the service", _require_folder, 2, _UPLOADS),
        Part("the local folder", _require_local, 2, _UPLOADS),
    ),
    changes=("md5Checksum", "description"),
    creates=4,
)

ALL = (CAPSTONE,)
