import re
from itertools import pairwise
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest

import svc_notebooks as svc
from svc_notebooks.core.uploads.transitions import TRANSITIONS, UploadEvent, UploadState
from svc_notebooks.notebook.exchanges.charts import Picture, arrows, state_chart, state_path, upload_picture
from svc_notebooks.notebook.notifications.channels import timeline_of

KIB = 1024
FILM = bytes(range(256)) * 4 * KIB
SVG = "{http://www.w3.org/2000/svg}"
EVIL = '<script>alert("x")</script>'


def drawings(picture: Picture) -> list[ET.Element]:
    """The SVG images of a picture; each must be one that a parser takes."""
    addresses = re.findall(r'src="data:image/svg\+xml,([^"]*)"', picture.html)
    return [ET.fromstring(unquote(address)) for address in addresses]


def rows(picture: Picture) -> list[list[str]]:
    body = picture.html.partition("<tbody>")[2].partition("</tbody>")[0]
    cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in body.split("</tr>")[:-1])
    return [[re.sub("<[^>]*>", "", cell) for cell in row] for row in cells]


@pytest.fixture
def broken(lab) -> svc.Upload:
    """An upload whose first chunk is cut after 300,000 bytes, 262,144 of which stay."""
    with lab.faults(operation="upload.session", cut_request_after=300_000):
        up = svc.start_upload(FILM, name="film.mp4", chunk_size=512 * KIB)
        up.run()
    return up


class TestUploadPicture:
    @pytest.mark.spec("A3-12", "A3-20", "A3-21", "A3-21a")
    def test_counts_the_bytes_sent_and_sent_twice(self, broken: svc.Upload):
        shown = rows(broken.picture())

        assert [row[0] for row in shown] == ["1 begin", "2 send", "4 ask", "5 send", "6 send"]
        assert [row[2] for row in shown] == ["0", "300,000", "0", "524,288", "262,144"]
        assert [row[3] for row in shown] == ["0", "0", "0", "37,856", "0"]
        assert [row[4] for row in shown] == ["0", "0", "262,144", "786,432", "1,048,576"]
        assert [row[5] for row in shown] == ["200", "none", "308", "308", "200"]

    def test_names_and_reasons_are_escaped(self):
        row = {"channel_id": EVIL, "message_number": 1, "state": "sync", "time": "2026-01-05T09:00:00Z"}
        timeline = timeline_of([{**row, "status": None, "outcome": "retry", "error": EVIL}])
        chart, picture = state_chart(EVIL, state_path([])), upload_picture(EVIL, 10, [])

        assert "<script" not in picture.html + timeline.html
        assert "&lt;script&gt;" in picture.html
        assert "<script" not in unquote(chart.html).replace("&lt;script", "")
        assert drawings(chart)[0].find(f"{SVG}title").text.startswith(EVIL)


class TestStateChart:
    def test_every_transition_of_the_table_is_an_arrow(self):
        drawn = state_chart("empty", state_path([]))
        paths = drawings(drawn)[0].findall(f"{SVG}path")

        assert len(paths) == len(arrows()) == len({(before, move.state) for (before, _), move in TRANSITIONS.items()})
        assert not [path for path in paths if path.get("class")]

    @pytest.mark.spec("A3-06", "A3-08", "A3-09", "A3-09a")
    def test_the_path_is_drawn_with_step_numbers(self, broken: svc.Upload):
        picture = broken.states()
        svg = drawings(picture)[0]
        taken = [label.text for label in svg.iter(f"{SVG}tspan") if label.get("class") == "been"]

        assert taken == ["1: begun 200", "6: all bytes 200", "5: bytes 308", "4: status query 308"]
        assert len([path for path in svg.findall(f"{SVG}path") if path.get("class") == "been"]) == 3
        assert repr(picture).endswith("now complete")

    @pytest.mark.parametrize(
        "history, moves, now",
        [
            ("begin 503", [], "NONE"),
            ("begin 200, send -", ["ACCEPTED"], "OPEN"),
            ("begin 200, send 503, ask 308", ["ACCEPTED", "QUERY"], "OPEN"),
            ("begin 200, ask 200", ["ACCEPTED", "ALL"], "COMPLETE"),
            ("begin 200, cancel 499, ask 499", ["ACCEPTED", "CANCEL", "QUERY"], "CANCELLED"),
            ("begin 200, send 404, begin 200", ["ACCEPTED", "SILENCE"], "OPEN"),
        ],
    )
    def test_responses_determine_the_path(self, history, moves, now):
        steps = [step.split(" ") for step in history.split(", ")]
        way = state_path(
            [
                {"n": n, "action": action, "status": None if status == "-" else int(status)}
                for n, (action, status) in enumerate(steps, 1)
            ]
        )

        assert [event for _, event in way.steps] == [UploadEvent[move] for move in moves]
        assert way.now is UploadState[now]


class TestTimeline:
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


class TestCalendar:
    WEEKLY = ("2026-10-19 09:00", "2026-10-19 10:00", "weekly, 4 times")

    @pytest.mark.spec("E-21")
    def test_marks_the_days_and_the_change_of_the_clock(self):
        picture = svc.recurrence_calendar(svc.preview_recurrence(*self.WEEKLY, time_zone="Europe/Berlin"))

        assert re.findall(r"<mark[^>]*>(\d+)</mark>", picture.html) == ["19", "26", "2", "9"]
        assert re.findall(r"<caption>(.*?)</caption>", picture.html) == ["October 2026", "November 2026"]
        assert picture.html.count("UTC+1") == 2  # under the day, and in its title
        assert "26 (UTC+1)" in repr(picture)

    def test_a_recurring_event_as_one_row_is_refused(self, lab):
        made = svc.create_event("Seminar", start="2027-03-15", recurrence="weekly, 4 times")

        for frame in (made, svc.events()):
            with pytest.raises(ValueError, match=r"a recurring event as one row; give instances\(event\)"):
                svc.recurrence_calendar(frame)
        assert repr(svc.recurrence_calendar(svc.events(single_events=True, limit=9))).startswith("4 instances")

    @pytest.mark.spec("E-21")
    def test_moved_and_cancelled_instances_are_marked(self, lab):
        times = {"start": "2027-03-15 10:00", "end": "11:30", "time_zone": "Europe/Berlin"}
        course = svc.create_event("Seminar", **times, recurrence="weekly on Mon, Wed, 4 times")
        lessons = svc.instances(course)
        svc.update_event(lessons["id"][1], start="2027-03-18 14:00", end="2027-03-18 15:30", time_zone="Europe/Berlin")
        svc.delete_event(lessons["id"][2])
        picture = svc.recurrence_calendar(svc.instances(course, show_deleted=True))

        assert re.findall(r"<mark[^>]*>(\d+)</mark>", picture.html) == ["15", "18", "24"]
        assert re.findall(r"<s>(\d+)</s>", picture.html) == ["17", "22"]
        assert repr(picture).splitlines()[1] == "  March 2027: 15, 17 (moved), 18, 22 (cancelled), 24"
