import pytest
from hypothesis import given, strategies as st

from svc_notebooks.client.events import ical_lines
from tests.examples import examples

texts = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), max_size=200)
parameters = st.dictionaries(st.sampled_from(["CN", "LABEL", "X-A"]), texts.map(lambda text: text.strip('"')))


def read(content: bytes) -> list[tuple[str, str, dict[str, str]]]:
    [event] = ical_lines.read_components(ical_lines.unfolded(content).decode()).walk("VEVENT")
    return [(each.name, ical_lines.read_text(each.value), dict(each.parameters)) for each in event.properties]


def event(lines: str, newline: str = "\r\n") -> bytes:
    return newline.join(["BEGIN:VCALENDAR", "BEGIN:VEVENT", *lines.split("\n"), "END:VEVENT", "END:VCALENDAR"]).encode()


@examples(1)
@given(text=texts, values=parameters)
def test_a_written_property_is_read(text, values):
    content = ical_lines.print_properties(
        [
            ical_lines.Property("BEGIN", "VEVENT"),
            ical_lines.text_property("SUMMARY", text, values),
            ical_lines.Property("END", "VEVENT"),
        ]
    ).encode()

    assert read(content) == [("SUMMARY", text, values)]
    assert all(len(line) <= 75 for line in content.split(b"\r\n"))


@pytest.mark.parametrize(
    "line, expected",
    [
        ("summary:Tea", ("SUMMARY", "Tea", {})),
        ("item1.SUMMARY:Tea", ("SUMMARY", "Tea", {})),
        ('ATTENDEE;CN="Doe: Jo";X=1:mailto:a@b', ("ATTENDEE", "mailto:a@b", {"CN": "Doe: Jo", "X": "1"})),
        ('ATTENDEE;CN="Doe:mailto:a@b', ("ATTENDEE", "mailto:a@b", {"CN": "Doe"})),
        ("DTSTART;TZID=(UTC+01:00) Rom:20270104", ("DTSTART", "20270104", {"TZID": "(UTC+01:00) Rom"})),
        ("SUMMARY:a\\, b\\nc\\\\n", ("SUMMARY", "a, b\nc\\n", {})),
        ("DESCRIPTION:a\nb c\n\nd", ("DESCRIPTION", "a\nb c\nd", {})),
        ("SUMMARY:a\n  b\n\tc", ("SUMMARY", "a bc", {})),
    ],
)
@pytest.mark.parametrize("newline", ["\r\n", "\n", "\r"])
def test_a_property_of_another_program_is_read(line, expected, newline):
    assert read(event(line, newline)) == [expected]


@pytest.mark.parametrize(
    "content",
    [
        b"BEGIN:VEVENT\nSUMMARY:1\nEND:VEVENT\nBEGIN:VEVENT\nSUMMARY:2",
        b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:1\nBEGIN:VEVENT\nSUMMARY:2\nEND:VEVENT\nEND:VCALENDAR",
        b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:1\nEND:VTODO\nEND:VEVENT\nEND:X\nBEGIN:VEVENT\nSUMMARY:2\nEND:VEVENT",
        b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:1\nEND:VCALENDAR\nBEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:2",
    ],
    ids=["no calendar", "no end of an event", "other ends", "two calendars"],
)
def test_a_missing_end_loses_no_event(content):
    events = ical_lines.read_components(ical_lines.unfolded(content).decode()).walk("VEVENT")

    assert [each.value("SUMMARY") for each in events] == ["1", "2"]
