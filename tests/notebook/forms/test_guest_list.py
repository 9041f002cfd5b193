import pytest
from hypothesis import given, strategies as st

import svc_notebooks as svc
from svc_notebooks.core.events.fields import is_address
from svc_notebooks.forms.event.attendee_rows import guest_text
from svc_notebooks.notebook.arguments import read_people
from tests.examples import examples

ADA, BOB = {"email": "ada@svc.example"}, {"email": "bob@svc.example", "displayName": "Bob B."}

LISTS = {
    "commas": "ada@svc.example, Bob B. <bob@svc.example>",
    "no spaces": "ada@svc.example,Bob B.<bob@svc.example>,",
    "semicolons": "ada@svc.example; Bob B. <bob@svc.example>;",
    "lines": "ada@svc.example\r\nBob B. <bob@svc.example>\r\n\r\n",
    "lines and commas": "ada@svc.example,\nBob B. <bob@svc.example>,",
    "spaces, as browsers paste lines into one line": "ada@svc.example Bob B. <bob@svc.example>",
    "a tab": "ada@svc.example\tBob B. <bob@svc.example>",
    "quotes": '<ada@svc.example>, "Bob B." <bob@svc.example>',
    "spaces in brackets": "ada@svc.example, Bob B. < bob@svc.example >",
}


@pytest.mark.spec("W-03", "W-03d", "W-03h")
@pytest.mark.parametrize(
    "text, addresses, rejected",
    [
        ("", [], []),
        (" ,;\n ", [], []),
        ("bob", [], ["bob"]),
        ("Ada Lovelace", [], ["Ada Lovelace"]),
        ("ada@svc.example, bob, c@d@e", ["ada@svc.example"], ["bob", "c@d@e"]),
        ("ada@svc.example; bob@ , cleo@svc.example", ["ada@svc.example", "cleo@svc.example"], ["bob@"]),
        ("Bob <bob@>, <>", [], ["Bob <bob@>", "<>"]),
        ('"a b"@svc.example', ['"a b"@svc.example'], []),
    ],
)
def test_other_entries_are_named(text, addresses, rejected):
    guests, others = read_people(text)

    assert ([guest["email"] for guest in guests], others) == (addresses, rejected)


@pytest.mark.spec("W-03", "W-03d")
def test_a_list_is_read_and_a_name_can_have_a_comma():
    assert {name: read_people(text) for name, text in LISTS.items()} == dict.fromkeys(LISTS, ([ADA, BOB], []))
    guests, rejected = read_people('Lovelace, Ada <ada@svc.example>; "Byron, A." <byron@svc.example>')
    assert rejected == []
    assert [guest["displayName"] for guest in guests] == ["Lovelace, Ada", "Byron, A."]
    assert read_people(guest_text(guests)) == (guests, [])


@examples()
@given(st.lists(st.text('ab@<>,; \n\t"', max_size=12), max_size=4).map("".join))
def test_every_address_is_a_guest_or_rejected(text):
    guests, rejected = read_people(text)
    read = "".join([*(f"{guest.get('displayName', '')}{guest['email']}" for guest in guests), *rejected])

    assert all(is_address(guest["email"]) for guest in guests)
    assert sorted(c for c in read if c in "ab@") == sorted(c for c in text if c in "ab@")


@pytest.mark.spec("W-03", "W-03d", "W-03h")
def test_the_listed_guests_are_in_the_event_unless_an_entry_is_wrong(lab):
    form = svc.event_form()
    form.controls.summary.value = "Tea"
    guests = form.controls.attendees
    guests.list.value = "ada@svc.example, bob@"
    assert guests.problems == ("bob@ is not an e-mail address. Correct or remove it.",)
    form.create.click()
    assert "Nothing was created." in form.alert.value
    assert guests.list.value == "ada@svc.example, bob@"
    assert len(svc.events()) == 0

    guests.list.value = LISTS["lines"]
    assert form.value["attendees"] == [ADA, BOB]
    assert "'ada@svc.example',\n        {'email': 'bob@svc.example', 'displayName': 'Bob B.'}," in form.code()
    assert "2 guests" in guests.hint.value
    form.create.click()
    (made,) = form.result["id"]
    assert [guest["email"] for guest in svc.event(made)["attendees"].item()] == ["ada@svc.example", "bob@svc.example"]
