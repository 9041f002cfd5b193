import pytest

from tests.contract.calendar_client import BOB, SEMINAR, CalendarClient, Fields, guests, refusal
from tests.contract.differences import choice


def event_with(field: str, value: object) -> Fields:
    match field:
        case "attendees[0].responseStatus":
            return {"attendees": guests(BOB, responseStatus=value)}
        case "reminders.overrides[0].method":
            return {"reminders": {"useDefault": False, "overrides": [{"method": value, "minutes": 10}]}}
        case "gadget.display":
            return {"gadget": {"display": value}}
    return {field: value}


WORDS = {
    "status": ["confirmed", "tentative", "cancelled"],
    "transparency": ["opaque", "transparent"],
    "visibility": ["default", "public", "private", "confidential"],
    "attendees[0].responseStatus": ["needsAction", "declined", "tentative", "accepted"],
    "reminders.overrides[0].method": ["email", "popup"],
    "gadget.display": ["icon", "chip"],
}


GADGET = {"display": "chip", "height": 1, "width": 640, "iconLink": "https://svc.example/a.png",
          "link": "HTTPS://svc.example/?a=b", "title": "Weather", "type": "html",
          "preferences": {"a": "b"}}  # fmt: skip
TITLE = "Where it came from"
URLS = ["http://svc.example", "https://svc.example/a?b=c#d", "HTTP://svc.example/"]


ENUMERATION = [pytest.mark.spec("E-22"), pytest.mark.choice("Values of enumerations")]
KEPT = [
    *(pytest.param(event_with(field, word), marks=ENUMERATION) for field, words in WORDS.items() for word in words),
    pytest.param({"gadget": GADGET}, marks=pytest.mark.spec("E-10", "E-10a", "E-10b")),
    *(pytest.param({"source": {"title": TITLE, "url": url}}, marks=pytest.mark.spec("E-14")) for url in URLS),
    pytest.param({"source": {"title": TITLE}}, marks=pytest.mark.spec("E-29")),
]


@pytest.mark.parametrize("fields", KEPT, ids=str)
def test_a_valid_field_is_stored_unchanged(ada: CalendarClient, fields: Fields) -> None:
    event = ada.made(fields)

    assert fields.items() <= event.items()
    assert fields.items() <= ada.read(event["id"]).items()


DISPLAY_CHOICE = pytest.mark.choice("gadget.display")


@pytest.mark.spec("E-22")
@pytest.mark.parametrize(
    "field", [pytest.param(field, marks=DISPLAY_CHOICE if field == "gadget.display" else ()) for field in WORDS]
)
def test_a_value_outside_the_list_is_refused_with_the_list(ada: CalendarClient, field: str) -> None:
    for value in ("maybe", "", "CONFIRMED", "Email", " opaque"):
        answer = ada.insert({**SEMINAR, **event_with(field, value)})
        assert refusal(answer) == (400, "invalid", field)
        assert all(word in answer.error["message"] for word in WORDS[field])
    with choice("Values of enumerations"):
        assert refusal(ada.insert({**SEMINAR, **event_with(field, "sms")})) == (400, "invalid", field)


HALF = "\ud800"


@pytest.mark.spec("X-01")
@pytest.mark.choice("The error envelope")
@pytest.mark.parametrize(
    "fields, location",
    [
        ({"summary": HALF}, "summary"),
        ({"attendees": guests(BOB, displayName=HALF)}, "attendees[0].displayName"),
        ({"extendedProperties": {"private": {"a": HALF}}}, "extendedProperties.private.a"),
        ({"extendedProperties": {"private": {HALF: "a"}}}, "extendedProperties.private"),
        ({"birthdayProperties": {"a": [HALF]}}, "birthdayProperties.a[0]"),
        ({"status": HALF}, "status"),
        ({"recurrence": [f"RRULE:FREQ={HALF}"]}, "recurrence[0]"),
        ({HALF: "a"}, "body"),
    ],
)
def test_a_lone_surrogate_is_refused(ada: CalendarClient, fields: Fields, location: str) -> None:
    event = ada.made()

    assert refusal(ada.insert({**SEMINAR, **fields})) == (400, "invalid", location)
    assert refusal(ada.patch(event["id"], fields)) == (400, "invalid", location)
    assert ada.items() == [event]


def test_a_whole_float_is_returned_as_an_integer(ada: CalendarClient) -> None:
    """JSON has one kind of number: a program that writes 10.0 for 10 is understood, and typed ones can read it."""
    reminders = {"overrides": [{"method": "popup", "minutes": 10.0}]}
    event = ada.made(sequence=2.0, gadget={"height": 3e2}, reminders=reminders)

    numbers = (event["sequence"], event["gadget"]["height"], event["reminders"]["overrides"][0]["minutes"])

    assert repr(numbers) == "(2, 300, 10)"
    assert ada.patch(event["id"], {"location": "Room 1"}).json["sequence"] == 3


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"colorId": 5}, 'colorId: expected text, one of "1", "2"'),
        ({"colorId": 5}, "not the number 5."),
        ({"status": True}, 'status: expected text, one of "confirmed", "tentative", "cancelled", not true.'),
        ({"summary": 7}, "summary: expected text, not the number 7."),
        ({"sequence": "1"}, "sequence: expected a whole number, not the text '1'."),
        ({"reminders": {"useDefault": "true"}}, "useDefault: expected true or false, not the text 'true'."),
        (
            {"reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": "10"}]}},
            "minutes: expected a whole number, not the text '10'.",
        ),
        ({"reminders": "10 minutes"}, "reminders: expected an object, not the text '10 minutes'."),
        ({"attendees": "a@x"}, "attendees: expected a list, not the text 'a@x'."),
        ({"attendees": ["a@x"]}, "attendees[0]: expected an object, not the text 'a@x'."),
        ({"attendees": [{"email": 5}]}, "attendees[0].email: expected text, not the number 5."),
        (
            {"start": "2026-01-01"},
            'start: expected an object such as {"date": "2026-11-02"}, not the text \'2026-01-01\'.',
        ),
        ({"recurrence": "RRULE:FREQ=DAILY"}, "recurrence: expected a list, not the text 'RRULE:FREQ=DAILY'."),
        ({"source": {"url": ["x"]}}, "source.url: expected text, not a list."),
        ({"id": 12345}, "id: expected text, not the number 12345."),
        ({"extendedProperties": {"private": {"a": 1.5}}}, "private.a: expected text, not the number 1.5."),
        ({"extendedProperties": {"private": [1]}}, "private: expected an object of texts, not a list."),
    ],
    ids=str,
)
def test_a_wrong_json_type_is_told_with_the_expected_one(ada: CalendarClient, fields: Fields, message: str) -> None:
    answer = ada.insert({**SEMINAR, **fields})

    assert answer.status == 400
    assert message in answer.error["message"]
