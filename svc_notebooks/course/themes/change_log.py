"""The exercise about reading the change log page by page."""

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any

from ...client.files import create_file, delete_file, file_permissions, share_file, unshare_file, update_file
from ...client.notifications.channels import start_page_token
from ...client.session import Session
from ..definition import ExerciseDefinition, Part, Value, list_text, quantity, require
from ..evidence import Evidence, ExerciseExchange, RecordedRequest, read_object, require_any
from ..exercise_service import ExerciseService

_COPY = "copy.json"
_LOOK = "Look at `svc.exchanges()`."


def _create(session: Session, *names: str) -> list[str]:
    return [str(create_file(session, {"name": name})["id"]) for name in names]


def _set_up(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    ada, bob, first = exercise.session(), exercise.session("bob@svc.example"), rng.randrange(100, 900)
    names = [f"count {first + n}.csv" for n in range(8)]
    own, shared = _create(ada, *names[:6]), _create(bob, *names[6:])
    for file_id in shared:
        share_file(bob, file_id, {"type": "user", "role": "reader", "emailAddress": exercise.service.policy.first_user})
    page_token, known = start_page_token(ada), [*own, *shared]
    renamed = _change_files(ada, own, rng)
    guest = next(permission for permission in file_permissions(bob, shared[0]) if permission.get("role") == "reader")
    unshare_file(bob, shared[0], str(guest["id"]))

    last: list[tuple[str, str | None]] = [(own[4], "last check.csv"), (own[5], None), (renamed[1], None)]
    rounds: Iterator[list[tuple[str, str | None]]] = iter(
        [[*last, (renamed[0], "checked twice.csv")], [(own[4], "very last check.csv")]]
    )

    def change_after_the_last_page(exchange: ExerciseExchange) -> None:
        """Change files after each of the first two responses that say that there are no more pages."""
        if exchange.status == 200 and b"newStartPageToken" in exchange.response_body:
            for file_id, name in next(rounds, []):
                update_file(ada, file_id, {"name": name}) if name else delete_file(ada, file_id)

    exercise.react(change_after_the_last_page)
    return {"file_ids": known, "names": names, "page_token": page_token, "page_size": rng.randrange(2, 5)}


def _change_files(session: Session, own: list[str], rng: Random) -> list[str]:
    """Create, rename and delete files, and create a file that is deleted again. Return the ids of two renamed files."""
    _create(session, *(f"sketch {n}.csv" for n in range(5)))  # so only the last page has nothing but removed files
    renamed = rng.sample(own[:3], 2)
    for file_id in renamed:
        update_file(session, file_id, {"name": f"checked {rng.randrange(100, 999)}.csv"})
    for file_id in (*_create(session, "draft.csv"), own[3]):
        delete_file(session, file_id)
    return renamed


def _pages(evidence: Evidence) -> list[RecordedRequest]:
    does = "reads the change log. Send GET requests to /storage/v3/changes."
    return require_any(evidence, evidence.succeeded("changes.list"), does)


def _require_no_list(evidence: Evidence) -> None:
    _pages(evidence)
    message = "A request listed all files. The change log has only the files that changed, which are fewer in a large account."
    require(not evidence.requests_of("files.list"), message)
    uploads = evidence.requests_of("files.create", "files.update", "upload.session")
    last = max((each.n for each in uploads), default=0)
    copies = [file["id"] for file in evidence.files if file["name"] == _COPY]
    early = [read for read in evidence.requests_of("files.get") if read.n < last]
    reads = [read for read in early if read.path.rpartition("/")[2] not in copies]
    message = "A request read a single file before the upload of copy.json. `file` in a change has the name already."
    require(not reads, message)


def _require_page_size(evidence: Evidence) -> None:
    for page in _pages(evidence):
        size = page.query.get("pageSize")
        message = f"A request for changes had the page size {size or 100}{'' if size else ', which is the default'}, instead of given.page_size ({evidence.values['page_size']}). {_LOOK}"
        require(size == str(evidence.values["page_size"]), message)


def _require_copy(evidence: Evidence) -> None:
    copy = _read_copy(evidence)
    changes = [change for page in _pages(evidence) for change in page.response_json.get("changes", [])]
    named = all("fileId" in change for change in changes)
    require(named, "A response has changes without `fileId`, because `fields` does not name it.")
    own = [file_id for file_id, name in copy["files"].items() if name == _COPY]  # the copy may contain itself
    files = {each["id"]: each["name"] for each in evidence.files if each["name"] != _COPY or each["id"] in own}
    _require_same_files(copy["files"], files)


def _require_token(evidence: Evidence) -> None:
    page_token = str(_read_copy(evidence)["page_token"])
    ends = [str(page.response_json["newStartPageToken"]) for page in _pages(evidence) if _END in page.response_json]
    end = ends[-1] if ends else "missing"
    message = f"`page_token` in {_COPY} is {page_token}, but the last newStartPageToken was {end}. A program that continues from another token reads changes twice, or misses some."
    require(page_token == end, message)


def require_known_tokens(evidence: Evidence) -> list[RecordedRequest]:
    """Return the requests for changes. Raise CheckFailedError unless each one continues after an earlier response."""
    page_token, pages = evidence.values["page_token"], _pages(evidence)
    first = pages[0].query.get("pageToken")
    message = f"The first request began at the token {first}, and what you know is from the token {page_token}, which is given.page_token. The changes between them are missing."
    require(first == page_token, message)
    known = {page_token}
    for page, following in itertools.pairwise(pages):
        known.update(str(page.response_json[key]) for key in _TOKENS if key in page.response_json)
        token, end = following.query.get("pageToken"), page.response_json.get("newStartPageToken")
        message = f"After the end of the change log, the next request had the token {token} again, so it read changes a second time. Read on from newStartPageToken."
        require(end is None or token not in known or token in (str(end), page.query.get("pageToken")), message)
        message = f"A request had the page token {token}, which no response contained. Use `nextPageToken` of the page before, because a page token is not a number to calculate with."
        require(token in known, message)
    return pages


def _require_all_pages(evidence: Evidence) -> str:
    """Raise CheckFailedError unless the requests read the change log to its end, and the last response has no changes."""
    pages = require_known_tokens(evidence)
    last = pages[-1].response_json
    message = "The last page that you read has a nextPageToken, so there are more pages. Read until a page has newStartPageToken."
    require("nextPageToken" not in last, message)
    require(_END in last, "The last response has no newStartPageToken, because `fields` does not name it.")
    rounds = sum(_END in page.response_json for page in pages)
    message = f"You read the change log up to its end {'once' if rounds == 1 else f'{rounds} times'}, and the last response has changes. Files change again while you read: read on from newStartPageToken, until a response has no changes."
    require(not last.get("changes"), message)
    return f"You read {quantity(len(pages), 'page')}, the copy has every change, and the next program can continue from its token."


_END = "newStartPageToken"
_TOKENS = ("nextPageToken", _END)


def _read_copy(evidence: Evidence) -> dict[str, Any]:
    members = "with `files`, an object of ids and names, and `page_token`"
    copy = read_object(evidence, _COPY, members)
    require(isinstance(copy.get("files"), dict) and "page_token" in copy, f"{_COPY} is not a JSON object {members}.")
    return copy


def _require_same_files(copy: dict[str, Any], files: dict[str, str]) -> None:
    gone = [str(copy[file_id]) for file_id in copy if file_id not in files]
    message = f"The copy still has {quantity(len(gone), 'file')} that you can no longer see: {list_text(gone, 3)}. A change with `removed: true` has only the id of its file: take this id out of the copy."
    require(not gone, message)
    missing = [files[file_id] for file_id in files if file_id not in copy]
    require(not missing, f"The copy lacks {quantity(len(missing), 'file')} of the account: {list_text(missing, 3)}.")
    for file_id, name in files.items():
        message = f"The copy has the name {copy[file_id]!r} for a file that is now called {name!r}. Look at `file` in its change."
        require(copy[file_id] == name, message)


CHANGE_LOG = ExerciseDefinition(
    name="page-by-page",
    set_up=_set_up,
    parts=(
        Part("only the change log is read", _require_no_list, operations=("changes.list",)),
        Part("given.page_size changes at a time", _require_page_size, operations=("changes.list",)),
        Part("every page, until there are no changes", _require_all_pages, 2, ("changes.list",)),
        Part("the names in copy.json", _require_copy, 2, ("files.create", "upload.session")),
        Part("the page token in copy.json", _require_token),
    ),
    creates=1,
)

ALL = (CHANGE_LOG,)
