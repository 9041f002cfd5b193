"""Exercises about resumable uploads: going on, beginning again, and a loop of one's own."""

from __future__ import annotations

import itertools
import re
from random import Random
from typing import TYPE_CHECKING

from ...client.session import Session
from ...core.http.messages import Request
from ..definition import Definition
from ..verdict import need
from .words import counted, same_content, the_one_file

if TYPE_CHECKING:
    from ..definition import Value
    from ..evidence import Evidence, Seen
    from ..exercise_service import ExerciseService

_KIB = 1024
QUANTUM = 256 * _KIB
_RANGE = re.compile(r"bytes\s+(\d+)-(\d+)/")


def noise(dice: Random, size: int) -> bytes:
    """Bytes that no other seed has, and of which no part is like another."""
    return dice.randbytes(size)


def begun(session: Session, name: str, content: bytes, stored: int) -> str:
    """An upload that somebody has begun: its address, with so many bytes stored."""
    body = f'{{"name": "{name}"}}'.encode()
    typed = session.headers(("Content-Type", "application/json"), ("Content-Length", str(len(body))))
    url = session.url(session.names.upload_path("files"), {"uploadType": "resumable"})
    uri = session.send(Request("POST", url, typed, body)).headers["Location"]
    where = ("Content-Range", f"bytes 0-{stored - 1}/{len(content)}")
    part = session.headers(where, ("Content-Length", str(stored)))
    session.send(Request("PUT", uri, part, content[:stored]))
    return str(uri)


def _first(one: Seen) -> int | None:
    """Where a part of an upload says that it begins; None: it has no bytes."""
    found = _RANGE.match(one.content_range)
    return int(found[1]) if found else None if one.asks_where else 0


def _parts(requests: list[Seen]) -> list[Seen]:
    """The requests with bytes of an upload."""
    return [one for one in requests if one.operation == "upload.session" and not one.asks_where and one.method == "PUT"]


def nothing_twice(requests: list[Seen]) -> None:
    """No part began before what was stored, and none left a gap. Raises NotYet."""
    for one in _parts(requests):
        if one.before is None:  # it never reached the session
            continue
        first, stored = _first(one) or 0, one.before
        again = f"A request sent bytes from {first:,} on, and {stored:,} were stored already: the rest was sent again."
        need(first >= stored, again)
        need(first == stored, f"A request sent bytes from {first:,} on, and the service waited for byte {stored:,}.")


# -- go-on-where-it-stopped


def _lay_out_go_on(world: ExerciseService, dice: Random) -> dict[str, Value]:
    content = noise(dice, 4 * QUANTUM + dice.randrange(1000, 90_000))
    uri = begun(world.session(), "film.mp4", content, dice.randrange(1, 4) * QUANTUM)
    return {"session_uri": uri, "content": content}


def _check_go_on(saw: Evidence) -> str:
    fresh = saw.of("files.create")
    need(
        not fresh, f"The service was asked for {counted(len(fresh), 'new upload')}: the one that was begun still waits."
    )
    asked = saw.of("upload.session")
    need(asked, "Nothing was sent to given.session_uri.")
    need(
        asked[0].asks_where, "The first request to the session brought bytes, before anybody had asked what is stored."
    )
    nothing_twice(asked)
    found = saw.named("film.mp4")
    need(found, f"The session has {asked[-1].after or 0:,} of {len(saw.given['content']):,} bytes, and no file yet.")
    same_content(saw, found[0], saw.given["content"], "given.content")
    return "The service was asked where it stands, and got the rest and nothing twice."


GO_ON = Definition(
    name="go-on-where-it-stopped",
    theme="resumable",
    title="Go on where it stopped",
    text=(
        "Somebody began to upload `given.content`, and the line broke. The session is at `given.session_uri`; how far it"
        " came, nobody wrote down. Finish this upload: nothing that is stored shall be sent again, and no other upload"
        " begun."
    ),
    hints=(
        "Only the service knows what it has. `02-resumable-by-hand` asks it.",
        "An empty PUT with `Content-Range: bytes */TOTAL` is the question; `Range` in its answer names the last byte.",
        "`svc.resume_upload` does both, and its `run()` goes on to the end.",
    ),
    lay_out=_lay_out_go_on,
    check=_check_go_on,
)

# -- expired-session


def _lay_out_expired(world: ExerciseService, dice: Random) -> dict[str, Value]:
    name = f"night-{dice.randrange(10, 100)}.raw"
    content = noise(dice, 3 * QUANTUM + dice.randrange(1000, 90_000))
    uri = begun(world.session(), name, content, QUANTUM)
    world.clock.advance("8d")
    world.kept["key"] = uri.rpartition("upload_id=")[2]
    return {"session_uri": uri, "name": name, "content": content}


def _check_expired(saw: Evidence) -> str:
    old = [one for one in saw.of("upload.session") if saw.kept["key"] in str(one.query)]
    need(old, "Nobody asked the old session whether it is still there.")
    need(
        old[0].asks_where, "The first request to the old session brought bytes, before anybody had asked for its state."
    )
    need(len(old) <= 2, f"The old session was asked {len(old)} times. It said 404 each time, and always will.")
    fresh = [one for one in saw.of("files.create") if one.worked]
    need(fresh, "The session is gone, and the service was asked for no other upload.")
    kinds = sorted({str(one.upload_type) for one in fresh})
    need(
        kinds == ["resumable"], f"The content went up as {' and '.join(kinds)}; another resumable upload was asked for."
    )
    need(len(fresh) == 1, f"The service was asked for {len(fresh)} new sessions, and one is enough.")
    file = the_one_file(saw, saw.given["name"])
    same_content(saw, file, saw.given["content"], "given.content")
    return "The old session was asked once and was gone; a new one got everything from the first byte."


EXPIRED = Definition(
    name="expired-session",
    theme="resumable",
    title="The session that is gone",
    text=(
        "The upload of `given.content` at `given.session_uri` broke more than a week ago. Ask the session whether it is"
        " still there. If it is not, begin another *resumable* upload under `given.name`, and finish it."
    ),
    hints=(
        "Status 404 for a session means that it is gone for good, with everything that it had stored.",
        "`svc.resume_upload(...).status()` asks. What does its row say of the state?",
        'A new session is `svc.upload(..., upload_type="resumable")`; short content would go up in one piece otherwise.',
    ),
    lay_out=_lay_out_expired,
    check=_check_expired,
)

# -- resumable-loop


def _lay_out_loop(world: ExerciseService, dice: Random) -> dict[str, Value]:
    session = {"operation": "upload.session"}
    faults: list[dict[str, object]] = [
        {"status": 503},
        {"reset": "after"},
        {"cut_request_after": dice.randrange(50_000, 200_000)},
        {"reset": "before"},
    ]
    dice.shuffle(faults)
    steps = [{"match": {**session, "nth": dice.choice((1, 2))}, "action": action} for action in faults]
    world.service.add_faults({"steps": steps, "in_order": True})  # type: ignore[dict-item]
    return {
        "name": f"tape-{dice.randrange(100, 1000)}.wav",
        "content": noise(dice, 6 * QUANTUM + dice.randrange(1000, 200_000)),
        "chunk_size": QUANTUM,
    }


_FAULTS = 4


def _check_loop(saw: Evidence) -> str:
    opened = [one for one in saw.of("files.create") if one.worked]
    need(opened, "The service was not asked for an upload: a session begins with a POST.")
    kinds = {one.upload_type for one in opened}
    need(kinds == {"resumable"}, "The content was not sent in a resumable upload.")
    need(len(opened) == 1, f"The service was asked for {len(opened)} sessions: after a break the old one still waits.")
    asked = saw.of("upload.session")
    need(asked, "A session was opened, and nothing was sent to it.")
    _asks_after_a_break(asked)
    nothing_twice(asked)
    size = saw.given["chunk_size"]
    longest = max((one.received for one in _parts(asked)), default=0)
    need(longest <= size, f"A request brought {longest:,} bytes; a chunk shall have {size:,} at most.")
    done, total = asked[-1].after or 0, len(saw.given["content"])
    need(
        saw.named(saw.given["name"]),
        f"There is no file called {saw.given['name']!r}; {done:,} of {total:,} bytes are stored.",
    )
    same_content(saw, the_one_file(saw, saw.given["name"]), saw.given["content"], "given.content")
    most = -(-total // size) + 3 * _FAULTS + 4
    need(len(saw.requests) <= most, f"It took {len(saw.requests)} requests; {most} are enough.")
    return f"The line broke {_broken(asked)} times, and no stored byte was sent again."


def _asks_after_a_break(asked: list[Seen]) -> None:
    for broken, following in itertools.pairwise(asked):
        failed = not broken.answered or (broken.status or 0) >= 500
        how = f"was answered {broken.status}" if broken.answered else "got no answer"
        need(
            not failed or following.asks_where,
            f"A request of the upload {how}, and the next one brought bytes: nobody had asked what is stored.",
        )


def _broken(asked: list[Seen]) -> int:
    return sum(1 for one in asked if one.fault)


LOOP = Definition(
    name="resumable-loop",
    theme="resumable",
    title="A loop of your own",
    text=(
        "Write a resumable upload yourself, with `given.send` and nothing else: it sends one request as you wrote it and"
        " returns `status`, `headers` and `body`, or raises `ConnectionError`. `given.content` shall become the file"
        " `given.name`, in chunks of `given.chunk_size` bytes. The line breaks four times, in different ways: before"
        " the request arrives, in the middle of it, after it was done, and with a 503. One session, a question after"
        " each break, and no stored byte sent again."
    ),
    hints=(
        "Open with `POST /upload/storage/v3/files?uploadType=resumable` and the JSON body"
        ' `{"name": ...}`; the answer\'s `Location` is where chunks go.',
        "Write a function that asks: an empty PUT with `Content-Range: bytes */TOTAL`. It can break as well. 308 with"
        " `Range: bytes=0-262143` means 262,144 bytes; without `Range` there are none; 200 means that all is there.",
        "The loop: send the chunk at `offset`; on `ConnectionError` or a status of 500 and more, ask, and take the"
        " offset from the answer; on 308, take it from `Range` as well; on 200, stop.",
    ),
    lay_out=_lay_out_loop,
    check=_check_loop,
    by_hand=True,
)

ALL = (GO_ON, EXPIRED, LOOP)
