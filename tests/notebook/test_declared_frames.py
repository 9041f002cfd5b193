from inspect import signature

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.notebook import frames as schemas
from svc_notebooks.notebook.batch.batch import batch_schema

DAY = {"start": "2026-11-02", "end": "2026-11-03"}
DAILY = {**DAY, "recurrence": "daily"}
ROLES = "CALENDAR_PERMISSIONS"
NO_EVENTS = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//other//EN\nEND:VCALENDAR\n"
ONE_EVENT = NO_EVENTS.replace("END:", "BEGIN:VEVENT\nUID:a@b.example\nDTSTART;VALUE=DATE:20261102\nEND:VEVENT\nEND:")
NO_DAYS, DAYS = pd.DataFrame({"summary": []}), pd.DataFrame([DAY] * 2)
TEXT = b"pond,birds\n"
BOB = "bob@svc.example"
LONG_AGO = "1999-01-01T00:00:00Z"


@pytest.fixture
def world(lab, tmp_path, monkeypatch):
    """A file, a document, an event, a channel; what a row of the table needs."""
    monkeypatch.chdir(tmp_path)
    world = {"lab": lab, "rx": svc.receiver(direct=True)}
    world["file"] = svc.upload(TEXT, name="a.csv")
    world["document"] = svc.upload(TEXT, name="b.csv", convert_to="spreadsheet")
    world["event"] = svc.create_event("Tea", **DAY, recurrence="daily, 3 times", attendees="ada@svc.example")
    world["channel"] = svc.watch_file(world["file"], world["rx"])
    lab.deliver()
    return world


def begun(world):
    upload = svc.start_upload(bytes(600_000), chunk_size=262_144)
    upload.send_chunk()
    return upload


def limited(world):
    world["lab"].limit("ada@svc.example", 100)
    return world["lab"].limits()


# The schema of each function's frame, a call that gives no row where there is one, and a call that gives rows.
TABLE = {
    "fault_presets": ("FAULT_PRESETS", None, lambda w: svc.fault_presets()),
    "upload": ("UPLOADS", lambda w: svc.upload([]), lambda w: svc.upload([b"1", b"2"])),
    "update": ("FILES", lambda w: svc.update([], starred=True), lambda w: svc.update(w["file"], starred=True)),
    "create_file": ("FILES", None, lambda w: svc.create_file(name="c")),
    "create_folder": ("FILES", None, lambda w: svc.create_folder("d")),
    "move": ("FILES", lambda w: svc.move([], None), lambda w: svc.move(w["file"], svc.create_folder("e"))),
    "generate_ids": ("IDS", None, lambda w: svc.generate_ids(2)),
    "file": ("FILES", lambda w: svc.file([]), lambda w: svc.file(w["file"])),
    "files": ("FILES", lambda w: svc.files("name = 'z'"), lambda w: svc.files()),
    "trash": ("FILES", lambda w: svc.trash([]), lambda w: svc.trash(w["file"])),
    "untrash": ("FILES", lambda w: svc.untrash([]), lambda w: svc.untrash(w["file"])),
    "delete": ("DELETED", lambda w: svc.delete([]), lambda w: svc.delete(w["file"])),
    "copy": ("FILES", lambda w: svc.copy([]), lambda w: svc.copy(w["file"])),
    "token_info": ("TOKEN_INFO", None, lambda w: svc.token_info()),
    "share": ("PERMISSIONS", lambda w: svc.share([], BOB), lambda w: svc.share(w["file"], BOB)),
    "unshare": ("PERMISSIONS", lambda w: svc.unshare([], BOB), None),
    "permissions": ("PERMISSIONS", lambda w: svc.permissions([]), lambda w: svc.permissions(w["file"])),
    "download": ("DOWNLOADS", lambda w: svc.download([]), lambda w: svc.download(w["file"])),
    "export": ("EXPORTED", lambda w: svc.export([], "csv"), lambda w: svc.export(w["document"], "csv")),
    "about": ("ABOUT", None, lambda w: svc.about()),
    "import_formats": ("IMPORT_FORMATS", None, lambda w: svc.import_formats()),
    "export_formats": ("EXPORT_FORMATS", lambda w: svc.export_formats(w["file"]), lambda w: svc.export_formats()),
    "pending_uploads": ("PENDING", lambda w: svc.pending_uploads(), lambda w: [begun(w), svc.pending_uploads()][1]),
    "watch_file": ("CHANNELS", lambda w: svc.watch_file([], w["rx"]), lambda w: svc.watch_file(w["file"], w["rx"])),
    "watch_changes": ("CHANNELS", None, lambda w: svc.watch_changes(w["rx"])),
    "stop_channel": ("STOPPED", lambda w: svc.stop_channel([]), lambda w: svc.stop_channel(w["channel"])),
    "renew_channel": ("CHANNELS", lambda w: svc.renew_channel([]), lambda w: svc.renew_channel(w["channel"])),
    "channels": ("CHANNELS", None, lambda w: svc.channels()),
    "notifications": ("NOTIFICATIONS", None, lambda w: svc.notifications()),
    "changes": ("CHANGES", lambda w: svc.changes(), lambda w: svc.changes("1")),
    "create_event": ("EVENT", None, lambda w: svc.create_event("Tea", **DAY)),
    "event": ("EVENT", lambda w: svc.event([]), lambda w: svc.event(w["event"])),
    "update_event": ("EVENT", lambda w: svc.update_event([], color=1), lambda w: svc.update_event(w["event"], color=1)),
    "delete_event": ("DELETED", lambda w: svc.delete_event([]), lambda w: svc.delete_event(w["event"])),
    "respond": ("EVENT", lambda w: svc.respond([], "accepted"), lambda w: svc.respond(w["event"], "accepted")),
    "create_events": ("CREATED", lambda w: svc.create_events(NO_DAYS), lambda w: svc.create_events(DAYS)),
    "events": ("EVENTS", lambda w: svc.events("nothing like it"), lambda w: svc.events()),
    "instances": ("INSTANCES", lambda w: svc.instances(w["event"], limit=0), lambda w: svc.instances(w["event"])),
    "preview_recurrence": (
        "PREVIEW", lambda w: svc.preview_recurrence(**DAILY, count=0), lambda w: svc.preview_recurrence(**DAILY)
    ),
    "calendars": ("CALENDARS", None, lambda w: svc.calendars()),
    "free_busy": ("FREE_BUSY", None, lambda w: svc.free_busy(time_min="2026-11-01", time_max="2026-11-04")),
    "free_times": (
        "FREE_TIMES", lambda w: svc.free_times("primary", duration="9h"), lambda w: svc.free_times("primary")
    ),
    "share_calendar": (ROLES, lambda w: svc.share_calendar([], BOB), lambda w: svc.share_calendar("primary", BOB)),
    "unshare_calendar": (ROLES, lambda w: svc.unshare_calendar([], BOB), None),
    "calendar_permissions": (ROLES, lambda w: svc.calendar_permissions([]), lambda w: svc.calendar_permissions()),
    "create_calendar": ("CALENDARS", None, lambda w: svc.create_calendar("Term")),
    "empty_trash": (
        "FILES", lambda w: svc.empty_trash(), lambda w: [svc.trash(svc.upload(b"1")), svc.empty_trash()][1]
    ),
    "event_colors": ("COLORS", None, lambda w: svc.event_colors()),
    "export_events": ("CALENDAR_FILE", None, lambda w: svc.export_events()),
    "import_events": ("IMPORTED", lambda w: svc.import_events(NO_EVENTS), lambda w: svc.import_events(ONE_EVENT)),
    "exchanges": ("EXCHANGES", None, lambda w: svc.exchanges()),
    "compare_exchanges": (
        "COMPARED",
        lambda w: svc.compare_exchanges(svc.current_session(), svc.current_session()),
        lambda w: svc.compare_exchanges(svc.current_session(), w["lab"].sign_in(BOB)),
    ),
    "save_har": ("HAR_FILE", None, lambda w: svc.save_har()),
    "doctor": ("DOCTOR", None, lambda w: svc.doctor()),
}  # fmt: skip
OF_OBJECTS = {
    "Sandbox.journal": ("JOURNAL", None, lambda w: w["lab"].journal()),
    "Sandbox.deliveries": ("DELIVERIES", None, lambda w: w["lab"].deliveries()),
    "Sandbox.outbox": ("OUTBOX", lambda w: w["lab"].outbox(), None),
    "Sandbox.fault_plans": ("FAULT_PLANS", lambda w: w["lab"].fault_plans(), None),
    "Sandbox.limits": ("LIMITS", lambda w: w["lab"].limits(), limited),
    "Sandbox.agenda": ("AGENDA", lambda w: w["lab"].agenda(until=LONG_AGO), lambda w: w["lab"].agenda()),
    "Receiver.messages": ("MESSAGES", lambda w: svc.receiver(direct=True).messages(), lambda w: w["rx"].messages()),
    "Receiver.explain": ("EXPLAINED", None, lambda w: w["rx"].explain()),
    "Upload.history": ("HISTORY", None, lambda w: begun(w).history),
}  # fmt: skip
EVERY = TABLE | OF_OBJECTS
# The functions whose frame also has the columns of a batch.
BATCHES = {name for name in TABLE if "errors" in signature(getattr(svc, name)).parameters}
SCHEMAS = {name: schema for name, schema in vars(schemas).items() if isinstance(schema, schemas.Schema)}


@pytest.mark.spec("D-01")
def test_the_table_has_every_public_function_that_gives_a_frame():
    public = {name: getattr(svc, name) for name in svc.__all__}
    frames = {
        name for name, member in public.items() if callable(member) and not isinstance(member, type)
        and str(signature(member).return_annotation).startswith("DataFrame")
    }  # fmt: skip

    assert TABLE.keys() == frames - {"read_frame"}  # its columns are those of the file


@pytest.mark.spec("D-01")
@pytest.mark.parametrize("name", EVERY)
def test_a_function_gives_its_declared_columns_for_no_row_and_for_rows(world, name):
    schema, no_row, rows = EVERY[name]
    expected = (batch_schema(SCHEMAS[schema]) if name in BATCHES else SCHEMAS[schema]).dtypes

    for call, minimum in ((no_row, 0), (rows, 1)):
        if call is not None:
            frame = call(world)
            assert (len(frame) > 0) == bool(minimum)
            assert frame.dtypes.astype(str).to_dict() == expected
