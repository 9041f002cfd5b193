from typing import Any

import pandas as pd
import pytest

import svc_notebooks as svc

BOB, EVE = "bob@svc.example", "eve@svc.example"


@pytest.fixture
def bob(lab: svc.Sandbox) -> svc.Session:
    return lab.sign_in(BOB)


def test_a_role_is_replaced_and_removed(lab: svc.Sandbox, bob: svc.Session) -> None:
    svc.share_calendar("primary", f"{BOB}, anyone", role="reader")
    svc.share_calendar("primary", BOB.upper(), role="writer")

    assert svc.calendar_permissions()[["id", "type", "role"]].values.tolist() == [
        ["user:ada@svc.example", "user", "owner"], ["default", "anyone", "reader"], [f"user:{BOB}", "user", "writer"],
    ]  # fmt: skip
    assert svc.unshare_calendar("primary", [BOB, "anyone"])["role"].tolist() == ["writer", "reader"]
    assert svc.calendar_permissions()["role"].tolist() == ["owner"]
    assert svc.calendars(session=bob)["id"].tolist() == [BOB]


@pytest.mark.parametrize("form", ["frame", "row", "column", "list", "records"])
def test_several_calendars_and_people(lab: svc.Sandbox, form: str) -> None:
    svc.create_calendar("Course")
    rows = svc.calendars()
    calendars: Any = {
        "frame": rows, "row": rows.iloc[1], "column": rows["id"], "list": rows["id"].tolist(),
        "records": rows.to_dict("records"),
    }[form]  # fmt: skip
    people = pd.Series([BOB, "domain:Example.com"])

    shared = svc.share_calendar(calendars, people, role="freeBusyReader")

    expected = rows["id"].tolist() if form != "row" else [rows["id"][1]]
    assert shared["calendar"].tolist() == [name for name in expected for _ in people]
    assert shared["domain"].dropna().tolist() == ["example.com"] * len(expected)
    assert svc.calendar_permissions(calendars).groupby("calendar").size().tolist() == [3] * len(expected)


@pytest.mark.parametrize("arguments, name", [
    (("primary", BOB, "boss"), "role"), (("primary", "bob", "reader"), "people"), ((5, BOB, "reader"), "calendar"),
    (("primary", 5, "reader"), "people"), (("", BOB, "reader"), "calendar"), (("primary", [None], "reader"), "people"),
], ids=str)  # fmt: skip
def test_errors_name_the_argument(lab: svc.Sandbox, arguments: tuple[Any, Any, str], name: str) -> None:
    before = len(lab.journal())
    calendar, people, role = arguments

    with pytest.raises((TypeError, ValueError), match=name):
        svc.share_calendar(calendar, people, role=role)

    assert len(lab.journal()) == before


def test_failed_rows_have_an_error(lab: svc.Sandbox, bob: svc.Session) -> None:
    with pytest.warns(UserWarning, match="1 of 2 rows failed"):
        rows = svc.share_calendar(["primary", "nothing"], BOB)
    assert rows["outcome"].tolist() == ["done", "failed"]
    assert rows["email_address"].tolist() == [BOB, BOB]

    with pytest.raises(svc.NotFound, match=EVE):
        svc.unshare_calendar("primary", EVE)
    with pytest.raises(svc.BadRequest, match="owner"):
        svc.unshare_calendar("primary", "ada@svc.example")
    with pytest.raises(svc.NotAllowed):
        svc.calendar_permissions("ada@svc.example", session=bob)
