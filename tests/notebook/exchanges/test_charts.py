"""Tests of the charts of uploads, deliveries and recurrences: their text, shapes and escapes."""

import re
from itertools import pairwise
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.core.uploads.states import TRANSITIONS, UploadEvent, UploadState
from svc_notebooks.notebook.exchanges.charts import (
    _BAR_WIDTH,
    Picture,
    arrows,
    requests_of,
    state_chart,
    state_path,
    upload_picture,
)
from svc_notebooks.notebook.notifications.delivery_timeline import timeline_of

KIB = 1024
FILM = bytes(range(256)) * 4 * KIB
SVG = "{http://www.w3.org/2000/svg}"
EVIL = '<script>alert("x")</script>'


def drawings(picture: Picture) -> list[ET.Element]:
    """The SVG images of a picture; each must be one that a parser takes."""
    addresses = re.findall(r'src="data:image/svg\+xml,([^"]*)"', picture.html)
    return [ET.fromstring(unquote(address)) for address in addresses]


def rows(picture: Picture) -> list[list[str]]:
    """The cells of the table, as text."""
    body = picture.html.partition("<tbody>")[2].partition("</tbody>")[0]
    cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in body.split("</tr>")[:-1])
    return [[re.sub("<[^>]*>", "", cell) for cell in row] for row in cells]


@pytest.fixture
def lab():
    with svc.sandbox() as made:
        yield made


@pytest.fixture
def broken(lab) -> svc.Upload:
    """An upload whose first chunk is cut after 300,000 bytes, 262,144 of which stay."""
    with lab.faults(operation="upload.session", cut_request_after=300_000):
        up = svc.start_upload(FILM, name="film.mp4", chunk_size=512 * KIB)
        up.run()
    return up


class TestUploadPicture:
    """Bytes sent, sent again and stored."""

    @pytest.mark.spec("A3-12", "A3-20", "A3-21", "A3-21a")
    def test_counts_the_bytes_sent_and_sent_twice(self, broken: svc.Upload):
        shown = rows(broken.picture())

        assert [row[0] for row in shown] == ["1 begin", "2 send", "4 ask", "5 send", "6 send"]
        assert [row[2] for row in shown] == ["0", "300,000", "0", "524,288", "262,144"]
        assert [row[3] for row in shown] == ["0", "0", "0", "37,856", "0"]
        assert [row[4] for row in shown] == ["0", "0", "262,144", "786,432", "1,048,576"]
        assert [row[5] for row in shown] == ["200", "none", "308", "308", "200"]

    def test_has_the_same_content_as_text(self, broken: svc.Upload):
        words = repr(broken.picture())

        assert words.startswith("film.mp4: 1,086,432 bytes sent, 1,048,576 stored, 37,856 of them sent twice")
        assert re.search(r"5 send +524,288 +37,856 +786,432 +308", words)

    def test_draws_bytes_where_they_are_in_the_file(self, broken: svc.Upload):
        drawn = drawings(broken.picture())[3]  # the request that begins at 262,144
        hollow, solid, stored, _ = drawn.findall(f"{SVG}rect")

        assert float(hollow.get("x")) == round(_BAR_WIDTH / 4, 1)
        assert float(hollow.get("x")) + float(hollow.get("width")) == pytest.approx(float(solid.get("x")), abs=0.2)
        assert hollow.get("fill") == "none"
        assert float(stored.get("width")) == round(_BAR_WIDTH * 3 / 4, 1)

    def test_bytes_of_an_expired_session_are_sent_twice(self, lab):
        up = svc.start_upload(FILM, name="film.mp4", chunk_size=512 * KIB)
        up.send_chunk()
        lab.clock.advance("8d")
        up.run()

        requests = [(request.action, request.response, request.again) for request in requests_of(up._upload.history)]
        assert requests[2:] == [
            ("send", "404", 0),
            ("begin", "200", 0),
            ("send", "308", 512 * KIB),
            ("send", "200", 0),
        ]

    def test_an_upload_without_bytes_has_a_chart(self, lab):
        up = svc.start_upload(b"", name="empty")

        assert repr(up.picture()).startswith("empty: 0 bytes sent, 0 stored, none sent twice")
        assert drawings(up.picture())

    def test_a_name_is_escaped(self):
        picture = upload_picture(EVIL, 10, [])

        assert "<script" not in picture.html
        assert "&lt;script&gt;" in picture.html


class TestStateChart:
    """The states of a session, and the way that was taken."""

    def test_every_transition_of_the_table_is_an_arrow(self):
        drawn = state_chart("empty", state_path([]))
        paths = drawings(drawn)[0].findall(f"{SVG}path")

        assert len(paths) == len(arrows()) == len({(before, move.state) for (before, _), move in TRANSITIONS.items()})
        assert not [path for path in paths if path.get("class")]

    def test_every_transition_is_labelled_with_its_status(self):
        text = " ".join(label.text for label in drawings(state_chart("empty", state_path([])))[0].findall(f"{SVG}text"))

        assert {str(move.status) for move in TRANSITIONS.values()} <= set(re.findall(r"\d+", text))

    @pytest.mark.spec("A3-06", "A3-08", "A3-09", "A3-09a")
    def test_the_path_is_drawn_with_step_numbers(self, broken: svc.Upload):
        picture = broken.states()
        svg = drawings(picture)[0]
        taken = [
            label.text for label in svg.findall(f"{SVG}text") if label.get("class") == "been" and ":" in label.text
        ]

        assert taken == ["1: begun 200", "6: all bytes 200", "5: bytes 308", "4: status query 308"]
        assert len([path for path in svg.findall(f"{SVG}path") if path.get("class") == "been"]) == 3
        assert repr(picture).endswith("now complete")

    @pytest.mark.parametrize(
        "history, moves, now",
        [
            ([("begin", 503)], [], UploadState.NONE),
            ([("begin", 200), ("send", None)], [UploadEvent.ACCEPTED], UploadState.OPEN),
            (
                [("begin", 200), ("send", 503), ("ask", 308)],
                [UploadEvent.ACCEPTED, UploadEvent.QUERY],
                UploadState.OPEN,
            ),
            ([("begin", 200), ("ask", 200)], [UploadEvent.ACCEPTED, UploadEvent.ALL], UploadState.COMPLETE),
            (
                [("begin", 200), ("cancel", 499), ("ask", 499)],
                [UploadEvent.ACCEPTED, UploadEvent.CANCEL, UploadEvent.QUERY],
                UploadState.CANCELLED,
            ),
            (
                [("begin", 200), ("send", 404), ("begin", 200)],
                [UploadEvent.ACCEPTED, UploadEvent.SILENCE],
                UploadState.OPEN,
            ),
        ],
    )
    def test_responses_determine_the_path(self, history, moves, now):
        way = state_path(
            [{"n": n, "action": action, "status": status} for n, (action, status) in enumerate(history, 1)]
        )

        assert [event for _, event in way.steps] == moves
        assert way.now is now

    def test_an_upload_begun_elsewhere_is_open(self, lab):
        first = svc.start_upload(FILM, name="film.mp4", chunk_size=512 * KIB)
        first.send_chunk()
        second = svc.resume_upload(first.session_uri, FILM, chunk_size=512 * KIB)
        second.run()

        assert repr(second.states()).endswith(": 1 status query (308); 2 all bytes (200); now complete")

    def test_an_image_has_an_alternative_text(self, broken: svc.Upload):
        picture = broken.states()

        assert f'alt="{picture.words}"' in picture.html

    def test_a_name_breaks_neither_the_page_nor_the_image(self):
        picture = state_chart(EVIL, state_path([]))

        assert "<script" not in unquote(picture.html).replace("&lt;script", "")
        assert drawings(picture)[0].find(f"{SVG}title").text.startswith(EVIL)


class TestTimeline:
    """Attempts of deliveries against time."""

    @pytest.fixture
    def watched(self, lab):
        rx = svc.receiver(direct=True)
        plan = svc.upload(b"one", name="plan.txt")
        channel = svc.watch_file(plan, rx, expires_in="4h")
        lab.deliver()
        rx.answer_with(503, times=3)
        svc.update(plan, name="two.txt")
        lab.clock.advance("1m")
        rx.answer_with(404, times=1)
        svc.update(plan, name="three.txt")
        lab.deliver()
        return channel

    @pytest.mark.spec("N-08", "N-08b")
    def test_waits_grow_from_left_to_right(self, watched):
        lane = drawings(svc.delivery_timeline(watched))[1]
        at = [float(circle.get("cx")) for circle in lane.findall(f"{SVG}circle")]
        waits = [after - before for before, after in pairwise(at)]

        assert len(at) == 4
        assert waits == sorted(waits)
        assert waits[0] < waits[-1] / 2

    def test_shapes_differ_with_the_outcome(self, watched):
        _, retried, failed = drawings(svc.delivery_timeline(watched))[:3]

        assert [circle.get("fill") for circle in retried.findall(f"{SVG}circle")][:3] == ["none"] * 3
        assert retried.findall(f"{SVG}circle")[3].get("fill") != "none"
        assert failed.find(f"{SVG}path") is not None
        assert failed.find(f"{SVG}circle") is None

    def test_the_text_has_every_response(self, watched):
        words = repr(svc.delivery_timeline())

        assert words.startswith("Deliveries: 3 messages, 6 attempts")
        assert "503, 503, 503, 200" in words
        assert "404 (failed)" in words

    def test_the_chart_of_one_channel(self, lab, watched):
        other = svc.watch_changes(svc.receiver(direct=True))
        lab.deliver()

        assert "on " in repr(svc.delivery_timeline())
        assert repr(svc.delivery_timeline(other)).startswith("Deliveries: 1 message, 1 attempt")

    def test_a_reason_is_escaped(self):
        row = {"channel_id": EVIL, "message_number": 1, "state": "sync", "time": "2026-01-05T09:00:00Z"}
        picture = timeline_of([{**row, "status": None, "outcome": "retry", "error": EVIL}])

        assert "<script" not in picture.html

    def test_a_timeline_without_deliveries(self, lab):
        assert repr(svc.delivery_timeline()).startswith("Deliveries: 0 messages")

    def test_a_service_elsewhere_has_no_timeline(self):
        elsewhere = svc.connect("https://api.example.org", token="t")

        with pytest.raises(ValueError, match="needs a sandbox"):
            svc.delivery_timeline(session=elsewhere)


class TestCalendar:
    """Instances on the leaves of a calendar."""

    WEEKLY = ("2026-10-19 09:00", "2026-10-19 10:00", "weekly, 4 times")

    @pytest.mark.spec("E-21")
    def test_marks_the_days_and_the_change_of_the_clock(self):
        picture = svc.recurrence_calendar(svc.preview_recurrence(*self.WEEKLY, time_zone="Europe/Berlin"))

        assert re.findall(r"<mark[^>]*>(\d+)</mark>", picture.html) == ["19", "26", "2", "9"]
        assert re.findall(r"<caption>(.*?)</caption>", picture.html) == ["October 2026", "November 2026"]
        assert picture.html.count("UTC+1") == 2  # under the day, and in its title
        assert "26 (UTC+1)" in repr(picture)

    @pytest.mark.spec("E-21")
    def test_moved_and_cancelled_instances_are_marked(self, lab):
        course = svc.create_event(
            "Seminar",
            start="2027-03-15 10:00",
            end="2027-03-15 11:30",
            time_zone="Europe/Berlin",
            recurrence="weekly on Mon, Wed, 4 times",
        )
        lessons = svc.instances(course)
        svc.update_event(lessons["id"][1], start="2027-03-18 14:00", end="2027-03-18 15:30", time_zone="Europe/Berlin")
        svc.delete_event(lessons["id"][2])
        picture = svc.recurrence_calendar(svc.instances(course, show_deleted=True))

        assert re.findall(r"<mark[^>]*>(\d+)</mark>", picture.html) == ["15", "18", "24"]
        assert re.findall(r"<s>(\d+)</s>", picture.html) == ["17", "22"]
        assert repr(picture).splitlines()[1] == "  March 2027: 15, 17 (moved), 18, 22 (cancelled), 24"

    def test_shows_the_given_number_of_months_and_a_note_about_more(self):
        endless = svc.preview_recurrence("2026-01-31", "2026-02-01", "monthly on the last day", count=12)
        picture = svc.recurrence_calendar(endless, months=2)

        assert picture.html.count("<caption>") == 2
        assert "More follow after February 2026." in picture.html

    def test_several_on_a_day_are_counted(self):
        hourly = svc.preview_recurrence(
            "2026-11-02 09:00", "2026-11-02 09:30", ["RRULE:FREQ=HOURLY;COUNT=3"], time_zone="UTC"
        )

        assert repr(svc.recurrence_calendar(hourly)).endswith("2 (3 times)")

    def test_no_instances(self):
        assert repr(svc.recurrence_calendar(pd.DataFrame({"start": []}))) == "no instances"

    @pytest.mark.parametrize("months", [0, 25, True, "6"])
    def test_an_invalid_number_of_months_is_refused(self, months):
        with pytest.raises(ValueError, match="months is"):
            svc.recurrence_calendar(svc.preview_recurrence(*self.WEEKLY, time_zone="UTC"), months=months)

    def test_a_frame_without_instances_is_refused(self):
        with pytest.raises(ValueError, match="no column start"):
            svc.recurrence_calendar(pd.DataFrame({"name": ["a"]}))


def test_pictures_are_the_same_at_every_run():
    def made() -> list[str]:
        with svc.sandbox() as lab:
            with lab.faults(operation="upload.session", cut_request_after=300_000):
                up = svc.start_upload(FILM, name="film.mp4", chunk_size=512 * KIB)
                up.run()
            return [up.picture().html, up.states().html]

    assert made() == made()
