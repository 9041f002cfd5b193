import numpy as np
import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.notebook.arguments import people

ANN, BOB = "ann@x.example", "bob@x.example"
DAY = {"start": "2026-11-02", "end": "2026-11-03"}

FORMS = {
    "commas": f"{ANN}, {BOB}",
    "semicolons": f" {ANN}; {BOB};",
    "lines": f"{ANN}\r\n{BOB}\n",
    "list": [ANN, BOB],
    "tuple": (f" {ANN} ", BOB),
    "names": [f"Lee, Ann <{ANN}>", f'"B; Ob" <{BOB}>'],
    "text with names": f"Ann Lee <{ANN}>; Bob <{BOB}>",
    "texts in a list": [f"{ANN}; Bob <{BOB}>"],
    "Series": pd.Series([ANN, BOB], index=["x", "email"], dtype=object),
    "column": pd.DataFrame({"guest": [f"Ann <{ANN}>", BOB]})["guest"],
    "Index": pd.Index([ANN, BOB]),
    "array": np.array([ANN, BOB]),
    "dicts": [{"email": ANN, "display_name": "Ann"}, {"email": f"Bob <{BOB}>"}],
    "DataFrame": pd.DataFrame({"email": [ANN, BOB], "display_name": ["Ann", None]}),
    "generator": None,
}


@pytest.fixture(params=FORMS)
def guests(request):
    """A function that returns the same two people in one of the forms."""
    return lambda: (text for text in (ANN, BOB)) if request.param == "generator" else FORMS[request.param]


def test_events_and_permissions_read_people_in_the_same_forms(lab, guests):
    file = svc.upload(b"x")
    made = svc.create_event("Tea", **DAY, attendees=guests())
    changed = svc.update_event(svc.create_event("Tea", **DAY), attendees=guests())
    shared = svc.share(file, guests())

    for event in (made, changed):
        assert [guest["email"] for guest in event["attendees"].item()] == [ANN, BOB]
    assert shared["email_address"].tolist() == [ANN, BOB]
    assert svc.unshare(file, guests())["email_address"].tolist() == [ANN, BOB]


@pytest.mark.parametrize(
    "value, expected",
    [
        (f"Ann <{ANN}>", [{"email": ANN, "displayName": "Ann"}]),
        ({"email": f"Ann <{ANN}>", "optional": True}, [{"email": ANN, "displayName": "Ann", "optional": True}]),
        ({"email": f"Ann <{ANN}>", "displayName": "Lee"}, [{"email": ANN, "displayName": "Lee"}]),
        ([f"{ANN}, Bob <{BOB}>"], [{"email": ANN}, {"email": BOB, "displayName": "Bob"}]),
        ("bob", [{"email": "bob"}]),
        ("", [{"email": ""}]),
        ({"email": 7, "comment": None}, [{"email": 7}]),
        ({"display_name": "Ann"}, [{"displayName": "Ann"}]),
        (f"mailto:{ANN}, Bob <mailto:{BOB}>", [{"email": ANN}, {"email": BOB, "displayName": "Bob"}]),
        ([], []),
    ],
)
def test_people_are_dicts_and_other_entries_stay_as_they_are(value, expected):
    assert people("attendees", value) == expected


@pytest.mark.parametrize(
    "value, kind, words",
    [
        (7, TypeError, "attendees must be e-mail addresses: .*, not int"),
        (b"a@b", TypeError, "not bytes"),
        ([ANN, 7], TypeError, "it has 7"),
        (pd.DataFrame({"E-mail": [ANN]}), ValueError, "no address in row 0; give the addresses in a column email"),
        (pd.DataFrame({"email": [ANN, None]}), ValueError, "no address in row 1"),
        (pd.Series([ANN, None]), ValueError, "no address in entry 1, but .*; leave out missing addresses"),
    ],
)
def test_a_value_without_people_is_refused(value, kind, words):
    with pytest.raises(kind, match=words):
        people("attendees", value)


def test_booleans_and_numbers_of_numpy_are_those_of_python(lab, tmp_path):
    guests = [{"email": ANN, "optional": np.True_, "additional_guests": np.int64(2)}]
    made = svc.create_event("Tea", **DAY, attendees=guests, guests_can_modify=np.True_, reminders=[np.int64(5)])
    changed = svc.update_event(made, sequence=np.int64(3), guests_can_invite_others=np.False_)
    file = svc.update(svc.create_folder("x", starred=np.True_), starred=np.False_)

    assert made["guests_can_modify"].item()
    assert [made["attendees"].item()[0][key] for key in ("optional", "additionalGuests")] == [True, 2]
    assert changed[["sequence", "guests_can_invite_others"]].values.tolist() == [[3, False]]
    assert not file["starred"].item()
    svc.download(svc.upload(b"22", name="a.txt"), tmp_path, overwrite=np.True_)
    assert len(svc.files(limit=np.int64(1))) == 1
    assert len(svc.generate_ids(svc.files(name="a.txt")["size"].sum())) == 2


def test_everyone_and_domains_stand_among_people_and_an_event_names_what_is_no_address(lab):
    shared = svc.share(svc.upload(b"x"), f"Ann <{ANN}>, anyone; domain:x.example")
    assert shared["type"].tolist() == ["user", "anyone", "domain"]
    words = r"attendees\[0\].email: expected an e-mail address, .* not the text 'Lee'"
    with pytest.raises(svc.EventError, match=words):
        svc.create_event("Tea", **DAY, attendees=f"Lee, Ann <{ANN}>")
