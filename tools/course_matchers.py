"""Matchers that test whether a cell of the course shows a rule, each with a description for the table of rules.

Most rules for services need no matcher, because the journal has the rule that decided a response. A rule for clients,
or about the content of a response, has a matcher, which reads the cell's saved output and the recorded exchanges.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tools.course_run import Seen

UNIT = 262_144
UPLOADS = ("up", "resumed", "third")
ADDRESS = "/upload/storage/v3/files"


@dataclass(frozen=True, slots=True)
class Matcher:
    """A test of a cell, with a description of the place where the cell shows the rule."""

    words: str
    shows: Callable[[Seen], bool]


NOT_SEEN = {
    "A1-03b": "the client always says how long a body is",
    "A1-06": "the client sends more than 5 MB by resumable upload",
    "A2-02a": "the client writes one spelling of the boundary; a test sends the others",
    "A2-04b": "no notebook sends a multipart update that is refused",
    "A2-05": "what memory the client takes cannot be told from what the service takes in the same kernel",
    "A3-02b": "the client always names the media type",
    "A3-04b": "the client always sends metadata as JSON",
    "A3-11b": "the client sends no stored byte again",
    "A3-13b": "a request that starts the week again has the same answer as any other",
    "A3-14b": "a malformed id has the same answer as an unknown one",
    "A3-17": "it takes two requests at one moment, from two threads: which comes first is not the same at every run",
    "A3-19b": "the kernel of the notebook is the service: a kill -9 ends both",
    "A3-22a": "the rate limits of the notebooks name a `Retry-After`",
    "A3-26": "a gibibyte takes longer than a reader waits, and client and service share the kernel's memory",
    "A3-27": "the client writes the unit of a Content-Range",
    "A3-28": "the client knows the length of its metadata, and sends it",
    "A5-03b": "no notebook names a language that does not exist",
    "A6-02b": "no notebook asks for bytes beyond the end of a file",
    "A6-04a": "a saved notebook has no person to answer the question",
    "A6-04c": "the output of a warning names a temporary file, which is another at every run",
    "A6-05b": "the notebook shows what readers may do, not who may set the restriction",
    "A6-06a": "what memory the client takes cannot be told from what the service takes in the same kernel",
    "A6-06b": "the notebooks download without a progress bar; an upload shows one (D-03)",
    "A6-08b": "the notebook opens the page of a file; a test opens the content",
    "A6-08c": "a saved notebook is no browser: `make browser` opens the link",
    "A6-08d": "a saved notebook is no browser: `make browser` opens the link",
    "A6-09": "a saved notebook opens no link",
    "A8-01b": "functions draw the token of a channel and mask it where they show it",
    "A8-02a": "no cell sends it: `watch_file` gives every channel an id",
    "A8-02b": "no cell sends it: `watch_file` draws an id of 36 characters",
    "A8-04b": "the sandbox trusts its receiver; tests deliver to receivers with bad certificates",
    "A8-07a": "frames show times; tests look at the milliseconds in the answer",
    "A8-09b": "the service has one version of the API",
    "A9-01b": "the lesson shows the rules on a file; a test sends the same mistakes for the change log",
    "A10-01b": "`stop_channel` always sends both",
    "A11-02b": "a receiver that waits would make the reader wait",
    "N-01b": "that no message comes cannot be told from one that is late; a test waits for the service to be idle",
    "N-09a": "the service answers in the same kernel, too fast for a reader to compare",
    "E-03a": "the lesson shows a wrong dateTime; tests send wrong dates as well",
    "E-03c": "the lesson shows a wrong dateTime; tests leave out the offset and the zone",
    "E-04b": "all series of the lessons have a zone; tests leave it out",
    "E-05a": "the lesson shows an end before the start; a test lists the events at the very end of one",
    "E-06a": "the service leaves defaults out of its answers; tests look at what guests may do",
    "E-07a": "the lesson shows a wrong address; tests leave it out",
    "E-08a": "the lesson shows the change that is ignored; a test adds a room",
    "E-09b": "the lesson asks for a new conference; tests send one that exists",
    "E-09d": "`create_event` refuses other versions before it sends; tests send them",
    "E-10b": "the lesson shows a gadget without a size; tests send links that are not https",
    "E-13a": "the lesson shows minutes out of range; a test sends six reminders",
    "E-13b": "the lesson shows minutes out of range; tests leave out method and minutes",
    "E-13d": "the lesson shows minutes out of range; a test sends overrides beside useDefault",
    "E-16b": "it is deprecated, and the lesson uses sendUpdates",
    "T-01b": "the lesson shows a request without a token and one whose token has expired; tests send invalid ones",
    "T-05b": "a notebook shows no log; tests read all logs for tokens that they planted",
    "T-05c": "no cell fails in a way that could show a token; tests read the tracebacks",
    "X-02a": "the lesson uploads twice; tests create twice by metadata",
    "X-03a": "the lesson asks for a conversion; tests create native documents by metadata",
    "D-02b": "the lessons give frames of events; tests give ids and rows as well",
    "D-02c": "the lessons give frames of channels; tests give ids and rows as well",
    "D-03b": "a saved notebook is not a terminal",
    "D-03c": "nobody presses Stop in a saved notebook; lesson 02 resumes an upload that was cut",
    "W-05a": "a saved notebook has no keyboard: chromium works every form with keys alone, under `make browser`",
    "W-05b": "labels are for people who use the form; a test looks at every control",
    "W-05c": "a saved notebook has no browser: chromium opens every form, under `make browser`",
}
"""The rules and clauses that no notebook shows, with the reasons. Tests prove them, like all others."""


def shows_rule(rule: str, seen: Seen) -> bool:
    """Return whether a cell shows a rule or clause, by the journal, by its output or by a matcher."""
    matcher = MATCHERS.get(rule)
    return seen.decided_by(rule) or f"<td>{rule}</td>" in seen.shown or bool(matcher and matcher.shows(seen))


def how(rule: str) -> str:
    """Return a description of the place where a cell shows the rule."""
    return MATCHERS[rule].words if rule in MATCHERS else "the journal names the rule in `decided_by`"


def text(*patterns: str) -> Callable[[Seen], bool]:
    """Return a test for cells whose saved output has all of these patterns."""
    return lambda seen: all(re.search(pattern, seen.shown, re.DOTALL) for pattern in patterns)


def decides(rule: str, *statuses: int, method: str = "") -> Callable[[Seen], bool]:
    """Return a test for cells in which this rule decided a response with one of these statuses."""
    return lambda seen: any(
        rule in str(row["decided_by"]).split("; ") and row["status"] in statuses and method in row["method"]
        for row in seen.journal
    )


def source(*words: str) -> Callable[[Seen], bool]:
    """Return a test for cells whose code contains all of these texts."""
    return lambda seen: all(word in seen.cell.source for word in words)


def wrong_row(name: str, location: str) -> Callable[[Seen], bool]:
    """Return a test for cells whose table of invalid events has this event with the field of the error."""
    return text(rf"<td>{re.escape(name)}</td>\s*<td>40\d</td>\s*<td>{re.escape(location)}</td>")


def of_somebody_else(seen: Seen) -> bool:
    """Return whether two users opened a channel in the cell, of whom at most one owns the file."""
    users = {row["user"] for row in seen.journal if row["decided_by"] == "A8-01" and row["status"] == 200}
    return len(users) > 1


def either(*questions: Callable[[Seen], bool]) -> Callable[[Seen], bool]:
    """Return a test for cells that pass at least one of the tests."""
    return lambda seen: any(question(seen) for question in questions)


def exchange(
    method: str = "", path: str = "", status: int | None = 200, **headers: str | None
) -> Callable[[Seen], bool]:
    """Return a test for cells with a matching exchange. A header value is a pattern, or None for a missing header."""
    return lambda seen: any(
        method in candidate.method and path in candidate.url and candidate.status == status and _has(candidate, headers)
        for candidate in seen.exchanges
    )


def _has(exchange: Any, headers: dict[str, str | None]) -> bool:
    present = {**dict(exchange.request_headers), **{f"answer {key}": value for key, value in exchange.response_headers}}
    patterns = {name.replace("_", "-").replace("answer-", "answer "): pattern for name, pattern in headers.items()}
    lower = {key.lower(): value for key, value in present.items()}
    return all(
        (name not in lower) if pattern is None else re.search(pattern, lower.get(name, "")) is not None
        for name, pattern in patterns.items()
    )


def every(*questions: Callable[[Seen], bool]) -> Callable[[Seen], bool]:
    """Return a test for cells that pass all of the tests."""
    return lambda seen: all(question(seen) for question in questions)


# -- uploads by hand, by their history


def history(question: Callable[[list[dict[str, Any]]], bool]) -> Callable[[Seen], bool]:
    """Return a test for cells that use an upload whose history satisfies a condition."""

    def holds(seen: Seen) -> bool:
        ours = [
            seen.names[name] for name in UPLOADS if name in seen.names and re.search(rf"\b{name}\b", seen.cell.source)
        ]
        return any(question(up.history.to_dict("records")) for up in ours if hasattr(up, "history"))

    return holds


def _steps(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["action"] != "wait"]


def _pairs(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    steps = _steps(rows)
    return list(pairwise(steps))


def _status(row: dict[str, Any]) -> int | None:
    return row["status"] if row["status"] == row["status"] and isinstance(row["status"], int) else None


def asks_after(status: int | None) -> Callable[[list[dict[str, Any]]], bool]:
    """Return a condition for histories in which each response with this status (None: lost) precedes a status query."""

    def holds(rows: list[dict[str, Any]]) -> bool:
        following = [after["action"] for before, after in _pairs(rows) if _status(before) == status]
        return bool(following) and set(following) == {"ask"}

    return holds


def goes_on_behind_the_range(rows: list[dict[str, Any]]) -> bool:
    pairs = [(before, after) for before, after in _pairs(rows) if after["action"] == "send" and _status(before) == 308]
    return bool(pairs) and all(after["first"] == before["stored"] for before, after in pairs)


def keeps_whole_units(rows: list[dict[str, Any]]) -> bool:
    kept = [after["stored"] - before["stored"] for before, after in _pairs(rows) if _status(before) is None]
    return bool(kept) and all(size > 0 and size % UNIT == 0 for size in kept)


def waits_grow(rows: list[dict[str, Any]]) -> bool:
    waits = [row["waited"] for row in rows if row["action"] == "wait"]
    return len(waits) > 1 and waits == sorted(waits)


def waits_as_told(seen: Seen) -> bool:
    pairs = list(pairwise(seen.exchanges))
    return any(refused.status == 403 and (two.time - refused.time).total_seconds() == 60 for refused, two in pairs)


def begins_anew(rows: list[dict[str, Any]]) -> bool:
    return any(_status(before) == 404 and two["action"] == "begin" for before, two in _pairs(rows))


def goes_on_elsewhere(rows: list[dict[str, Any]]) -> bool:
    steps = _steps(rows)
    return steps[0]["action"] == "ask" and steps[-1]["state"] == "complete"


# -- messages


def states(*names: str) -> Callable[[Seen], bool]:
    """Return a test for cells that print these states, all of which the notebook's receivers have received."""
    return lambda seen: (
        all(re.search(rf"\b{name}\b", seen.shown) for name in names) and set(names) <= _notification_states(seen)
    )


def _notification_states(seen: Seen) -> set[str]:
    frames = [seen.names[name].messages() for name in ("rx", "log") if name in seen.names]
    return {state for frame in frames for state in frame["state"]}


def _outcomes(seen: Seen) -> dict[tuple[str, int], list[tuple[int | None, str]]]:
    outcomes: dict[tuple[str, int], list[tuple[int | None, str]]] = {}
    for row in seen.deliveries:
        outcomes.setdefault((row["channel_id"], row["message_number"]), []).append((row["status"], row["outcome"]))
    return outcomes


def retried_and_given_up(seen: Seen) -> bool:
    tries = list(_outcomes(seen).values())
    retried = [(503, "retry")] * 3 + [(200, "delivered")]
    return retried in tries and [(404, "failed")] in tries


def one_waits_for_none(seen: Seen) -> bool:
    outcomes = {(channel, outcome) for (channel, _), tries in _outcomes(seen).items() for _, outcome in tries}
    waiting = {channel for channel, outcome in outcomes if outcome == "retry"}
    return any(outcome == "delivered" and channel not in waiting for channel, outcome in outcomes) and bool(waiting)


def several_channels(seen: Seen) -> bool:
    return len({channel for channel, _ in _outcomes(seen)}) > 1


def messages(question: Callable[[Any], bool]) -> Callable[[Seen], bool]:
    """Return a test for cells that show a DataFrame of messages which satisfies a condition."""
    return lambda seen: "rx.messages()" in seen.cell.source and question(seen.names["rx"].messages())


def numbers_have_gaps(rows: Any) -> bool:
    numbers = rows["number"].tolist()
    return numbers == sorted(set(numbers)) and numbers[-1] > len(numbers) > 1


def changed_of_updates(rows: Any) -> bool:
    updates, syncs = rows["changed"][rows["state"] == "update"], rows["changed"][rows["state"] == "sync"]
    return bool(len(updates) and updates.notna().all() and len(syncs) and syncs.isna().all())


_FRAME = r"<th>id</th>\s*<th>name</th>\s*<th>mime_type</th>\s*<th>size</th>\s*<th>created_time</th>"
_NO_BYTES = r"\s*<th>0</th>(\s*<td>[^<]*</td>){2}\s*<td>0</td>"
_NO_TOKEN = r"^(?!.*Bearer (?!\[redacted\]|\$SVC_TOKEN|\"))"
_ADVICE = r"[a-z][.] [A-Z][^.]+[.] \(\d{3} \w+\)"

MATCHERS = {
    "U-01a": Matcher("the address with `/upload` in the frame", exchange("POST", f"example{ADDRESS}?", None)),
    "U-01b": Matcher("the address without `/upload` in the frame", exchange("POST", "example/storage/v3/files?")),
    "U-02a": Matcher("three values of `uploadType` in `query`",
                     text("uploadType=media", "uploadType=multipart", "uploadType=resumable")),
    "U-02b": Matcher("*uploadType=wild*, and 400", decides("U-02", 400)),
    "U-03": Matcher("no `Content-Type` went out, and `application/octet-stream` came back", every(
        exchange("POST", ADDRESS, content_type=None), text('"mimeType": "application/octet-stream"'))),
    "U-04": Matcher("the name *Untitled*", text(r"<td>Untitled</td>")),
    "U-05a": Matcher("`POST` beside *files.create*, and `PUT` beside *files.update*", text(
        r"<td>files.create</td>\s*<td>POST</td>", r"<td>files.update</td>\s*<td>PUT</td>")),
    "U-05b": Matcher("`PUT` and `PATCH` at the upload address of a file, both answered 200", every(
        exchange("PUT", f"{ADDRESS}/"), exchange("PATCH", f"{ADDRESS}/"), text("<td>PATCH</td>"))),
    "U-05c": Matcher("one file of this id after three uploads, which the client sent with `PUT`", every(
        exchange("PUT", f"{ADDRESS}/"), source("svc.update("), text("large files: 1"))),
    "A1-02": Matcher("`Content-Type` of the request is `mimeType` of the answer",
                     text(r'Content-Type: (\S+)\n.*"mimeType": "\1"')),
    "A1-03a": Matcher("a request with `Transfer-Encoding: chunked` and no length, answered 200",
                     exchange("PATCH", ADDRESS, transfer_encoding="chunked", content_length=None)),
    "A1-05": Matcher("three values of `uploadType` in `query`, and none was asked for",
                     text("uploadType=media", "uploadType=multipart", "uploadType=resumable")),
    "A2-03": Matcher("*unharmed: True*, of a content full of boundaries", text("unharmed: True")),
    "A2-02b": Matcher("*uploadType=multipart*, and 400", decides("A2-02", 400)),
    "A2-04a": Matcher("the id stays, and the file has new content", decides("A2-04", 200)),
    "A3-01a": Matcher("an answer without a body, and in its `Location` the session", either(
        decides("A3-01", 200, method="POST"),
        text(r"200 OK\nContent-Length: 0\nLocation: \S+uploadType=resumable&upload_id=\w"))),
    "A3-01b": Matcher("the session that replaces the content of a file", exchange(
        "PUT", "?uploadType=resumable&fields", 200, answer_location="uploadType=resumable.*upload_id=")),
    "A3-02a": Matcher("`X-Upload-Content-Type` in the first request",
                     text("X-Upload-Content-Type: application/octet-stream\n")),
    "A3-03a": Matcher("a session that began without `X-Upload-Content-Length`", exchange(
        "POST", "uploadType=resumable", 200, x_upload_content_length=None)),
    "A3-03b": Matcher("400 for *in o*, where nine bytes were announced", decides("A3-03", 400)),
    "A3-04a": Matcher("the first request's `Content-Type` and its JSON",
                     text('Content-Type: application/json; charset=UTF-8\n.*\n{"name": ')),
    "A3-07": Matcher("*Range in the first answer: False*", every(
        text("Range in the first answer: False"), exchange("PUT", ADDRESS, 308, answer_range=None))),
    "A3-04c": Matcher("the session of *resumable* began without a body", exchange(
        "POST", "?uploadType=resumable&fields", 200, content_type=None, content_length="^0$")),
    "A3-09a": Matcher("308 to a request without content, and the journal names A3-09", either(
        decides("A3-09", 308), text("<td>A3-09</td>"))),
    "A3-09b": Matcher("*asked: 200*", text("asked: 200")),
    "A3-10a": Matcher("a chunk of 300,000 bytes, of which `offset_after` keeps 262,144",
                      lambda seen: any(row["decided_by"] == "chunk_rule" for row in seen.journal)),
    "A3-10b": Matcher("400 to a chunk of 100,000 bytes", decides("A3-10", 400)),
    "A3-10c": Matcher("`offset_after` of the uneven chunk is what its 308 says", every(
        text("<td>524288</td>"), exchange("PUT", ADDRESS, 308, answer_range="^bytes=0-524287$",
                                          content_range="^bytes 262144-562143/"))),
    "A3-11a": Matcher("503 to a chunk behind a gap", decides("A3-11", 503)),
    "A3-12": Matcher("what is stored after the break: whole multiples of 256 KiB", history(keeps_whole_units)),
    "A3-13a": Matcher("404 after more than a week", decides("A3-13", 404)),
    "A3-14a": Matcher("404 to an id that no session has", decides("A3-14", 404)),
    "A3-16a": Matcher("the row of *media*, of size 0", text(f"<th>media</th>{_NO_BYTES}")),
    "A3-16b": Matcher("the row of *multipart*, of size 0", text(f"<th>multipart</th>{_NO_BYTES}")),
    "A3-16c": Matcher("the row of *resumable*, of size 0", every(
        decides("A3-16", 200), text(f"<th>resumable</th>{_NO_BYTES}"))),
    "A3-19a": Matcher("`pending_uploads()` of another service on the same folder, before it goes on there",
                     every(text("by-hand.bin"), lambda seen: "svc.sandbox(folder)" in seen.cell.source)),
    "A3-20": Matcher("`first` of a chunk is where `stored` of the answer before it ends",
                     history(goes_on_behind_the_range)),
    "A3-21a": Matcher("*ask* after each answer that did not come",
                      either(history(asks_after(None)), text(r"<td>NaN</td>.*bytes \*/700000"))),
    "A3-21b": Matcher("*ask* after each 503", history(asks_after(503))),
    "A3-22b": Matcher("`waited` grows with each 503", history(waits_grow)),
    "A3-22c": Matcher("the client waited as `Retry-After` says", every(text("Retry-After: 60"), waits_as_told)),
    "A3-23a": Matcher("404, and then *begin*", history(begins_anew)),
    "A3-23b": Matcher(
        "`SessionExpired`, for the source cannot be read again", text("the upload session no longer exists")),
    "A3-24": Matcher("the error, and no request", every(
        text("not a multiple of 262144"), lambda seen: not seen.exchanges)),
    "A3-25": Matcher("the history begins with *ask* and has no *begin*", history(goes_on_elsewhere)),
    "A5-05": Matcher("what the service says that it takes", text("<td>spreadsheet</td>", "<td>drawing</td>")),
    "A4-01a": Matcher("200 to a JSON body without content", decides("A4-01", 200)),
    "A4-01b": Matcher("`create_file` with a generated id, answered 200", every(
        decides("A4-01", 200), source("svc.create_file(", "id=second"))),
    "A4-02a": Matcher("400 to `[1, 2]`", every(decides("A4-02", 400), source('b"[1, 2]"'))),
    "A4-02b": Matcher("400 to `starred` as a text", every(decides("A4-02", 400), source('{"starred": "very"}'))),
    "A5-03a": Matcher("the words of the picture, and the picture on the page", text("Mill pond\nPlease do not feed")),
    "A5-03c": Matcher("`ocrLanguage=en` went with the picture", exchange("POST", "ocrLanguage=en")),
    "A5-06a": Matcher("the ö", text("Köln,1087353")),
    "A5-06b": Matcher("the columns, which a semicolon parted", text(r",1087353,405\s")),
    "A6-02a": Matcher("206, and `content_range`", every(decides("A6-02", 206), text("206</td>", "bytes [0-9]+-"))),
    "A6-04b": Matcher("*silent* and *knowing*: only who writes the argument is given it",
                     text(r"403 cannotDownloadAbusiveFile</td>\s*<td>yes</td>")),
    "A6-05a": Matcher("*cannotDownloadFile* and *cannotCopyFile* for Bob",
                      text("403 cannotDownloadFile", "403 cannotCopyFile")),
    "A6-08a": Matcher("200 for Bob, with whom the file is shared, and 404 for Eve",
                      every(decides("A6-08", 200), decides("T-04", 404))),
    "A6-06c": Matcher("a 206 that begins where the file on disk ended", every(
        text("the same film: True"), exchange("GET", "/files/", 206, answer_content_range="bytes 10000-"))),
    "A6-06d": Matcher("the last request asks for the checksum", exchange("GET", "md5Checksum")),
    "A7-01a": Matcher("200 to an export", decides("A7-01", 200)),
    "A7-01b": Matcher("another library reads the exported file", every(decides("A7-01", 200), either(
        source("pypdfium2.PdfDocument", "top_of(folder / \"Birds.pdf\")"), source("pd.read_excel(")))),
    "A7-02a": Matcher("400, and the journal names A7-02", decides("A7-02", 400)),
    "A7-02b": Matcher("403, and the journal names A7-02", decides("A7-02", 403)),
    "A7-03": Matcher("the CSV has one of the two sheets", text("species,count\ncoot", "pages of the PDF: 2")),
    "A7-04": Matcher("the list of this document's formats",
                     text(*(f"<td>{end}</td>" for end in ("html", "zip", "txt", "rtf", "odt", "pdf", "docx", "epub")))),
    "A7-06": Matcher("`alt=media` in the address of an export", exchange("GET", "/export?mimeType=text/csv&alt=media")),
    "A7-05a": Matcher("by extension, by title, by media type", lambda seen: all(
        option in seen.cell.source for option in ('formats["extension"]', '"Plain text"', '"application/rtf"'))
        and len(seen.exchanges) >= 10),
    "A7-05b": Matcher("the formats of this document, and no others",
                      every(source("svc.export_formats(report)"), text("<td>epub</td>"))),
    "A10-03": Matcher("*told after the end: 0*, by a channel that has expired",
                      text("told after the end: 0", "<td>expired</td>")),
    "N-02": Matcher("the column `number`", messages(numbers_have_gaps)),
    "N-03": Matcher("the five headers", text(*(f"X-Svc-{header}</td>" for header in (
        "Channel-ID", "Message-Number", "Resource-ID", "Resource-State", "Resource-URI")))),
    "N-11": Matcher("*sync*, told after the service was opened again", text(r"\['sync'\]", "<td>2</td>")),
    "N-12": Matcher("*add*, and *update* with *children*, on the channel of the folder",
                    text("<td>add</td>.*<td>children</td>")),
    "E-15": Matcher("*bob* alone, of two", text(r"^\['bob@svc.example'\]|\n\['bob@svc.example'\]")),
    "E-17": Matcher("*attachments without supportsAttachments: None*, and a row with it", text(
        "without supportsAttachments: None", "<td>winter birds.txt</td>")),
    "E-21": Matcher("the instances, and the offset from UTC of each", either(
        text("utc_offset</th>", r"[+]0[12]:00</td>"), text("in_new_york</th>", "-05:00</td>"), text("<caption>"))),
    "E-23": Matcher("`original_start_time`, a time as `start` is one",
                    text("original_start_time</th>", "2027-03-17 10:00:00[+]01:00</td>")),
    "E-25": Matcher("*None*, of an instance and of one that was moved",
                    text("recurrence of an instance: None and of the moved one: None")),
    "E-26": Matcher("*useDefault* is off, and nothing stands beside it", text(
        r"reminders: {'useDefault': False} source")),
    "E-27": Matcher("*invalid conference data with version 0: None*",
                    text("invalid conference data with version 0: None")),
    "E-28": Matcher("the name of one guest and the comment of the other", text("<td>Eve</td>", "<td>with cake</td>")),
    "E-29": Matcher("a source of a title and nothing else", text(r"source: {'title': '[^']+'}")),
    "E-30": Matcher("*created by robot*", text("created by robot")),
    "X-01": Matcher("the JSON of a refusal", text(
        r'"errors": \[\s*{\s*"domain": .*"reason": .*"message": .*}\s*\],\s*"code": 403,\s*"message": ')),
    "X-07": Matcher("no answer, 409, 200; and one file", every(
        exchange("POST", ADDRESS, None), exchange("POST", ADDRESS, 409), text(r"files called \w+[.]txt: 1\n"))),
    "L-01a": Matcher("three ids for `generate_ids(3)`", every(decides("L-01", 200), source("generate_ids(3)"))),
    "L-01b": Matcher("an upload and `create_file` take an id each; the second try of the upload is answered 409", every(
        decides("A4-01", 200), exchange("POST", ADDRESS, 409))),
    "V-01a": Matcher("`v3` in each path of the frame",
                     text("<td>/upload/storage/v3/files</td>", "<td>/storage/v3/files")),
    "V-01b": Matcher("`v3` in `resource_uri`", text("resource_uri</th>\\s*<td>https://[^<]*/storage/v3/files")),
    "D-01": Matcher("the columns of a file, with one row and with none", text(_FRAME)),
    "A8-01a": Matcher("the journal names A8-01, with 200", decides("A8-01", 200)),
    "A8-01c": Matcher("`expiration`", text("<th>expiration</th>\\s*<td>2026-01-05 10:00:00")),
    "A8-02c": Matcher("*channelIdNotUnique*", text("^channelIdNotUnique")),
    "A8-04a": Matcher("*push.webhookUrlNotHttps*", text("push.webhookUrlNotHttps")),
    "A8-07b": Matcher("`expiration`, an hour on", text("09:00:00[+]00:00", "10:00:00[+]00:00")),
    "A8-08a": Matcher("a channel of an account that the file is shared with", of_somebody_else),
    "A8-08b": Matcher("the journal names A8-08, with 404", decides("A8-08", 404)),
    "A8-09a": Matcher("*the same resource: True*", text("the same resource: True")),
    "A9-01a": Matcher("the journal names A9-01, with 200", decides("A9-01", 200)),
    "A10-01a": Matcher("the journal names A10-01, with 204", decides("A10-01", 204)),
    "A10-01c": Matcher("the error of the second stop", text("Channel '.*' not found for this project")),
    "A10-02a": Matcher("two refusals: another client, and another user", text(
        "hers, by her, from another program +404", "hers, by Bob +404")),
    "A10-02b": Matcher("*yes*: another user of the client", text("the robot's, by Bob +yes")),
    "A11-01a": Matcher("the receiver, and the frame of its messages below", every(
        text("Receiver: no messages"), lambda seen: "svc.receiver()" in seen.cell.source)),
    "A11-01b": Matcher("the frame of messages", every(
        text("<th>verified</th>"), messages(lambda rows: len(rows) > 1))),
    "A11-02a": Matcher("the answers that it gave", text("503, 503, 503, 200")),
    "N-01a": Matcher("*sync* and number 1", text("X-Svc-Message-Number</td>\\s*<td>1</td>", "<td>sync</td>")),
    "N-04a": Matcher("the column `changed`: for updates", every(
        text("content,properties"), messages(changed_of_updates))),
    "N-04b": Matcher("the column `changed`: never for a sync", every(
        text("<td>sync</td>\\s*<td>NaN</td>"), messages(changed_of_updates))),
    "N-05a": Matcher("the header of the expiration",
                     text("X-Svc-Channel-Expiration</td>\\s*<td>\\w+, \\d+ \\w+ \\d{4}")),
    "N-05b": Matcher("the header of the token", text("X-Svc-Channel-Token</td>")),
    "N-06a": Matcher("the first row of the column `state`", text(r"<td>1</td>\s*<td>sync</td>")),
    "N-06b": Matcher("the column `state`", states("sync", "update", "add", "trash", "untrash")),
    "N-06c": Matcher("the column `state`", states("change")),
    "N-07a": Matcher("0 in `content_length`, for messages about a file",
                     text(r"<td>add</td>\s*<td>NaN</td>\s*<td>0</td>")),
    "N-07b": Matcher("`kind`, of the body of a message of the change log", text("svc#changes")),
    "N-07c": Matcher("`content_type`", text("<th>content_type</th>.*<td>application/json")),
    "N-08a": Matcher("the full marks", every(text(r"\b200\b"), retried_and_given_up)),
    "N-08b": Matcher("three hollow marks and a full one, ever farther apart", every(
        text("503, 503, 503, 200"), retried_and_given_up)),
    "N-08c": Matcher("a cross", every(text("404 [(]failed for good[)]"), retried_and_given_up)),
    "N-09b": Matcher("*delivered* on one channel, while the other is at *retry*", one_waits_for_none),
    "N-10a": Matcher("one change, and a message on each channel", several_channels),
    "N-10b": Matcher("*told after the end: 0*", text("told after the end: 0", "<td>expired</td>")),
    "E-01a": Matcher("the event, and its `POST` to the events of a calendar", every(
        text("birds in winter"), exchange("POST", "/calendars/primary/events"))),
    "E-01b": Matcher("`primary` in the path", text("POST /calendar/v3/calendars/primary/events")),
    "E-01c": Matcher("the row of nobody's calendar", wrong_row("nobody's calendar", "calendarId")),
    "E-02a": Matcher("the row *no end*", wrong_row("no end", "end")),
    "E-02b": Matcher("the row *day and time*", wrong_row("day and time", "start")),
    "E-02c": Matcher("the row *a day and a time*", wrong_row("a day and a time", "end")),
    "E-03b": Matcher("the row *no such time*", wrong_row("no such time", "start.dateTime")),
    "E-04a": Matcher("the row *no such zone*", wrong_row("no such zone", "start.timeZone")),
    "E-05b": Matcher("the row *the end first*, or the row with `field` end", either(
        wrong_row("the end first", "timeMax"), text("<td>end</td>", "time range is empty"))),
    "E-06b": Matcher("the values that nobody gave", text(
        r"guests_can_invite_others</th>\s*<td>True", r"guests_can_modify</th>\s*<td>False",
        r"visibility</th>\s*<td>default", r"transparency</th>\s*<td>opaque")),
    "E-07b": Matcher("the row *no address*", wrong_row("no address", "attendees[0].email")),
    "E-08b": Matcher("*a resource now: False*", text("a resource now: False")),
    "E-09a": Matcher("*conference data with version 0: None*", text("conference data with version 0: None")),
    "E-09c": Matcher("the link of the conference that was asked for", text("https://meet[.]")),
    "E-10a": Matcher("the row *a gadget of no size*", wrong_row("a gadget of no size", "gadget.height")),
    "E-11a": Matcher("the event *Right*, whose id the lesson chooses", lambda seen: any(
        exchange.method == "POST" and exchange.status == 200 and '"id": "right"' in (exchange.request_body or "")
        for exchange in seen.exchanges)),
    "E-11b": Matcher("the row *an id that is taken*", text(
        r"<td>an id that is taken</td>\s*<td>409</td>\s*<td>id</td>")),
    "E-11c": Matcher("the id of the series, which the service made", text(r"<td>[0-9a-v]{26}_20\d{6}T")),
    "E-12a": Matcher("the lines, or the days that they mean", text(r"\['RRULE:FREQ=|4 instances from")),
    "E-12b": Matcher("DTSTART, with the number of its line", either(
        wrong_row("DTSTART in it", "recurrence[0]"), text(r"recurrence\[1\]: .*DTSTART is not allowed"))),
    "E-12c": Matcher("the line that is wrong, by its number", either(
        wrong_row("a line that is no rule", "recurrence[0]"), text(r"recurrence\[0\]: .*FORTNIGHTLY"))),
    "E-13c": Matcher("the row *six weeks before*", wrong_row("six weeks before", "reminders.overrides[0].minutes")),
    "E-16a": Matcher("`lab.outbox()`", text("[Ii]nvitation: Launch party")),
    "E-16c": Matcher("`lab.outbox()`", text("[Ii]nvitation: Launch party")),
    "E-18a": Matcher("the answer has what was sent", text(
        r"birds in winter</td>|birds in winter.*Room 4|UNTIL=20270414T215959Z', 'EXDATE")),
    "E-18b": Matcher("`htmlLink` in the answer", text("htmlLink")),
    "E-18c": Matcher("`iCalUID` and more in the answer", text("iCalUID", "creator")),
    "E-19a": Matcher("Bob has no private note", text(r"^{'shared': {'bring': 'cake'}}")),
    "E-19b": Matcher("Bob has the shared note", text(r"'shared': {'bring': 'cake'}")),
    "E-20a": Matcher("a text and a Timestamp became times", either(
        text("2026-11-02 10:00:00[+]01:00"), text("2026-11-05 13:00:00[+]01:00"))),
    "E-20b": Matcher("the field that is wrong, and nothing was sent", every(
        text(r"overrides\[1\].minutes: expected|recurrence\[1\]: "), lambda seen: not seen.exchanges)),
    "T-01a": Matcher("401, and the challenge of `WWW-Authenticate`", text("^401, Bearer, realm=")),
    "T-01c": Matcher("401, two hours later",
                     exchange("GET", "/storage/v3/files", 401, answer_www_authenticate="Bearer")),
    "T-03a": Matcher("*see*: yes", text(r"<th>see</th>\s*<td>yes</td>\s*<td>yes</td>\s*<td>403")),
    "T-03b": Matcher("the journal names T-03, with 403", decides("T-03", 403)),
    "T-04a": Matcher("three people and what each of them may do", text(
        r"<th>ada</th>\s*<th>bob</th>\s*<th>eve</th>")),
    "T-04b": Matcher("the journal names T-04, with 404; or one list for each who asks", either(
        decides("T-04", 404), text(r"\['duck.jpg'\]\n\['duck.jpg', 'plan.txt'\]"))),
    "T-05a": Matcher("*redacted*, or the name of a variable, where the token was", every(text(_NO_TOKEN), either(
        text(r"\[redacted\]"), text(r"\$SVC_TOKEN")))),
    "T-05d": Matcher("as many tokens taken out of the file as there were", text(r"taken out: (\d+) of \1\n")),
    "X-02b": Matcher("409 for the second upload", exchange("POST", ADDRESS, 409)),
    "X-02c": Matcher("one file of this name", text(r"files called \w+[.]txt: 1\n")),
    "X-03b": Matcher("the refusal of the conversion", text("Generated IDs are not supported")),
    "X-04a": Matcher("*userRateLimitExceeded*", text("HTTP/1.1 403", "userRateLimitExceeded")),
    "X-04b": Matcher("the limit of Ada: 3 requests in 60 seconds", text("3 requests in 60 seconds")),
    "X-05a": Matcher("503, and what came of it", lambda seen: any(
        row["fault"] and row["status"] == 503 for row in seen.journal)),
    "X-05b": Matcher("broken connections", every(text("broken connections: [1-9]"), lambda seen: any(
        row["fault"] and row["status"] is None for row in seen.journal))),
    "X-05c": Matcher("the fault, and what came of it", either(
        lambda seen: any(row["fault"] for row in seen.journal), text("this fault never happened: step 0"))),
    "X-06a": Matcher("a sentence and an advice", text(_ADVICE)),
    "X-06b": Matcher("the reason of the service, in brackets", text(_ADVICE)),
    "D-02a": Matcher("an id, a row and a frame, each taken for its files", text(r"^True False\n")),
    "D-03a": Matcher("the bar", text("ProgressBar: Upload night.raw")),
    "D-04a": Matcher("rows", text("<th>method</th>", "<th>status</th>")),
    "D-04b": Matcher("HTTP text", either(text(" HTTP/1[.]1\n"), text("<details open"))),
    "D-04c": Matcher("a command", text("curl -X")),
    "D-04d": Matcher("a drawing", text("^sequenceDiagram|'sequenceDiagram")),
    **{f"W-01{clause}": Matcher("the form", text("<UploadForm: ")) for clause in "abcdefgh"},
    **{f"W-02{clause}": Matcher("the form", text("<ExportForm: ")) for clause in "abc"},
    **{f"W-03{clause}": Matcher("the form", text("<EventForm: ")) for clause in "abcdefghi"},
    **{f"W-04{clause}": Matcher("the panel", text("<WatchPanel: ")) for clause in "ab"},
}  # fmt: skip
