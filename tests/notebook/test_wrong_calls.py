"""Errors about unknown arguments name the nearest one, and wrapped functions keep their name and signature."""

import inspect
import io
import pickle
import re

import pytest

import svc_notebooks as svc
from svc_notebooks.pytest_plugin import ServedSandbox


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: svc.upload(b"", mimeType="a/b"), "upload() has no argument 'mimeType'; did you mean 'mime_type'?"),
        (lambda: svc.files(orderBy="name"), "files() has no argument 'orderBy'; did you mean 'order_by'?"),
        (lambda: svc.events(timezone="UTC"), "events() has no argument 'timezone'; did you mean 'time_zone'?"),
        (
            lambda: svc.trash("a", zzz=1),
            "trash() has no argument 'zzz'; it takes file, workers, executor, errors, resume, progress, session",
        ),
        (
            lambda: svc.sandbox().session.call("GET", "/", params={}),
            "call() has no argument 'params'; it takes method, path, query, body, headers, repeatable",
        ),
        (lambda: svc.sandbox().clock.set(time=3), "set() has no argument 'time'; it takes instant"),
        (lambda: svc.create_event(timezone=1), "create_event() has no argument 'timezone'; did you mean 'time_zone'?"),
        (
            lambda: svc.files(min_size=3),
            "files() has no argument 'min_size'; larger_than='5 MB' and smaller_than=... compare sizes",
        ),
        (
            lambda: svc.ClassControl.faults(None, "rate limit", user="bob"),
            "faults() has no argument 'user'; these faults hold for all users; lab.faults(..., user=...) selects one",
        ),
        (
            lambda: svc.upload(b"", "a.csv"),
            "upload() takes only source without a name, not 2 arguments; name the others, like name=...",
        ),
        (lambda: svc.sandbox().deliver(1), "deliver() takes no argument without a name, not 1 argument"),
        (lambda: svc.share("a", public=True), "share() has no argument 'public'; did you mean with_='anyone'?"),
        (
            lambda: svc.sandbox().limit(requests_per_minute=5),
            "limit() has no argument 'requests_per_minute'; did you mean requests=5, per='60s'?",
        ),
        (
            lambda: svc.create_file("a", to="b", session=svc.sandbox().session),
            "to is not a field that can be set here; did you mean folder?",
        ),
        (lambda: svc.share("a", "b@c.d", expiration="1d"), "unshare(file, address) ends the access to a shared file"),
        (lambda: svc.start_upload(b"", labels=["a"]), "did you mean metadata={'properties': {...}}?"),
        (lambda: svc.sandbox().snapshot("before"), "name = lab.snapshot(), and then lab.restore(name)"),
        (lambda: svc.upload(b"", if_exists=1), "overwrite=True replaces the content of the file of the same name"),
        (lambda: svc.sandbox().sign_in(retry=False), "patience=0) ends the retries of a session"),
        (lambda: svc.free_times("a", "today", "1d"), "name the others, like within=(start, end)"),
        (lambda: svc.upload(Body=b""), "did you mean 'source'?"),
        (lambda: svc.upload(b"", index=False), "df.reset_index(drop=True) has no index to write"),
        (lambda: svc.trash("a", recursive=True), "a folder is moved with all that is in it"),
        (lambda: svc.sandbox(port=80), "lab.serve(port=...) starts a server, lab.sign_in(user) signs in another user"),
        (lambda: svc.upload(), "upload() needs source; write upload(source)"),
        (
            lambda: svc.upload(b"", source=b""),
            "upload() has the argument source twice, once without its name; give it once",
        ),
    ],
)
def test_the_error_about_a_wrong_argument_names_the_right_one(call, message):
    with pytest.raises(TypeError, match=re.escape(message) + "$"):
        call()


@pytest.mark.parametrize(
    "read, hint",
    [
        (lambda lab: lab.files, "; call svc.files(), which uses its session"),
        (lambda lab: lab.restor, "; did you mean restore?"),
        (lambda lab: lab.token, "; did you mean lab.access_token?"),
        (lambda lab: lab.load, "; did you mean svc.open_sandbox(path)?"),
        (lambda lab: lab._repr_svg_, ""),
        (lambda lab: lab.session.patch, "; did you mean call(method, path) or lab.send(method, path)?"),
        (lambda lab: lab.send("GET", "/").json, "; did you mean json.loads(response.body)?"),
        (lambda lab: lab.send("GET", "/").status_code, "; did you mean status?"),
        (lambda lab: ServedSandbox("", "", None, lab).faults, "; did you mean svc_service.lab.faults?"),
        (lambda _: svc.export_ics, "; did you mean export_events(to='calendar.ics')?"),
    ],
)
def test_a_missing_attribute_names_what_to_use_instead(lab, read, hint):
    with pytest.raises(AttributeError) as raised:
        read(lab)

    assert re.search(r"has no attribute '\w+'(.*)", str(raised.value))[1].startswith(hint)
    assert bool(hint) == (";" in str(raised.value))


@pytest.mark.parametrize(
    "read, message",
    [
        (lambda lab: lab.session.files, "call svc.files(..., session=session)"),
        (lambda _: svc.listdir, "did you mean files()?"),
        (lambda _: svc.receiver(direct=True).requests, "did you mean messages()?"),
        (lambda _: svc.use, "or use `with session:`, in which it is the current session"),
    ],
)
def test_the_error_about_a_missing_attribute_says_what_to_use(lab, read, message):
    with pytest.raises(AttributeError, match=re.escape(message) + "$"):
        read(lab)


def test_a_session_is_current_in_its_block(lab):
    bob, eve = lab.sign_in("bob@svc.example"), lab.sign_in("eve@svc.example")

    with bob:
        svc.upload(b"x", name="x")
        with eve, bob, eve:
            assert svc.current_session() is eve
            assert len(svc.files()) == 0
        assert svc.files()["name"].tolist() == ["x"]
    assert svc.current_session() is lab.session


def test_the_row_of_a_pending_upload_and_the_frame_of_changes_are_arguments(lab):
    before = svc.changes()
    svc.start_upload(bytes(300_000), name="x", chunk_size=262_144).send_chunk()
    upload = svc.resume_upload(svc.pending_uploads(), bytes(300_000))

    assert repr(upload) == "<Upload x: status() asks how many of 300000 bytes are stored>"
    upload.status()
    assert repr(upload) == "<Upload x: 262144 of 300000 bytes, open>"
    upload.run()
    assert [svc.changes(before)["name"].tolist() for _ in range(2)] == [["x"], ["x"]]
    with pytest.raises(ValueError, match="session_uri has 0 rows; give the row of one upload"):
        svc.resume_upload(svc.pending_uploads(), b"")
    with pytest.raises(ValueError, match="page_token is a DataFrame without"):
        svc.changes(svc.files())


@pytest.mark.parametrize(
    "call, hint",
    [
        (lambda: svc.export_events("out.ics"), "not the id of an event; write to='out.ics'"),
        (lambda: svc.export_events("primary"), "not the id of an event; write calendar='primary'"),
        (lambda: svc.respond("id", "yes"), "did you mean 'accepted'?"),
        (lambda: svc.event("nope"), "for an event of another calendar give calendar=..., which calendars() lists"),
        (lambda: svc.upload(b"#", name="a.md", convert_to="document"), "Policy(extended_formats=True) has this format"),
        (lambda: svc.export(svc.upload(b"a", name="a", convert_to="document"), "md"), "Policy(extended_formats=True)"),
    ],
)
def test_a_wrong_value_names_what_to_give_instead(lab, call, hint):
    with pytest.raises((ValueError, svc.SvcError)) as raised:
        call()

    assert hint in str(raised.value)


def test_errors_from_inside_keep_their_message_and_say_once_to_try_again(lab):
    class Source(io.BytesIO):
        def read(self, size=-1):
            raise TypeError("mine")

    with pytest.raises(TypeError, match=r"^mine$"):
        svc.upload(Source(b"x"))
    with lab.faults(status=503, times=1000), pytest.raises(svc.ServiceFailed) as raised:
        svc.files()
    assert str(raised.value).lower().count("try again") == 1
    assert repr(lab.clock).startswith(f"<VirtualClock at {lab.clock.now():%Y-%m-%d %H:%M}")


def test_every_public_function_shows_its_parameters_and_is_pickled_by_its_public_name():
    for name in svc.__all__:
        value = getattr(svc, name)
        if inspect.isfunction(value):
            assert value.__qualname__ == name
            assert value.__doc__ == value.__wrapped__.__doc__
            assert inspect.signature(value) == inspect.signature(value.__wrapped__)
            assert "kwargs" not in inspect.signature(value).parameters
            assert pickle.loads(pickle.dumps(value)) is value


@pytest.mark.parametrize("owner", [svc.Sandbox, svc.Upload, svc.Receiver, svc.Policy], ids=repr)
def test_the_methods_of_public_classes_are_public_too(owner):
    methods = [value for name, value in inspect.getmembers(owner, inspect.isfunction) if not name.startswith("_")]

    assert [method.__qualname__ for method in methods if not hasattr(method, "__wrapped__")] == []
    assert hasattr(owner.__init__, "__wrapped__")
