import re
from pathlib import Path
from typing import Any

import pytest

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.auth.accounts import ClassAccount
from svc_notebooks.server.dispatch.service_context import Quota
from svc_notebooks.server.service import open_service
from svc_notebooks.server.transports.control_api import with_control
from tests.contract.school import ABOUT, ADA, BOB, EVE, QUOTA, UPLOAD, School, reopened


class TestSignIn:
    def test_earlier_tokens_end_and_a_file_that_is_no_token_file_is_not_replaced(self, tmp_path: Path) -> None:
        notes = tmp_path / "tokens.csv"
        notes.write_text("my notes\n")
        with open_service(tmp_path / "store") as before:
            token = before.sign_in(BOB.email)
            with pytest.raises(ValueError, match="is not a file of sign-in"):
                before.open_class([ADA], notes, QUOTA)
        assert notes.read_text() == "my notes\n"
        notes.unlink()

        with (school := School(tmp_path)).service:
            assert school.reason(token, "GET", ABOUT) == (401, "authError")

    def test_a_changed_roster_adds_and_disables_accounts_and_keeps_files(self, school: School) -> None:
        bob = school.tokens()[BOB.email]
        file = school.send(BOB, "POST", "/storage/v3/files", {"name": "keep"})[1]["id"]
        zoe = ClassAccount("Zoë", "zoe@school.example", "student")
        second = reopened(school, (ADA, EVE, zoe))
        disabled, added = second.reason(bob, "GET", ABOUT), second.send(zoe, "GET", ABOUT)[0]
        third = reopened(second, (ADA, BOB))
        with third.service:
            kept = third.send(bob, "GET", f"/storage/v3/files/{file}")

        assert (disabled, added) == ((401, "authError"), 200)
        assert (kept[0], kept[1]["name"]) == (200, "keep")


class TestRevoking:
    def test_a_revoked_token_is_invalid_at_once_and_after_a_restart(self, school: School) -> None:
        bob = school.tokens()[BOB.email]
        form = {"Content_Type": "application/x-www-form-urlencoded"}
        school.send(bob, "POST", "/signin", f"token={bob}".encode(), **form)
        before = school.send(bob, "GET", ABOUT)[0]
        status = school.send(ADA, "POST", "/_control/class/revoke", {"user": BOB.email})[0]
        after = school.reason(bob, "GET", ABOUT)
        again = reopened(school, (ADA, BOB, EVE))
        with again.service:
            restarted = again.reason(bob, "GET", ABOUT)

        assert (before, status, after, restarted) == (200, 204, (401, "authError"), (401, "authError"))
        assert again.tokens()[BOB.email] == ""

    def test_a_new_token_replaces_the_old_one_even_in_an_older_state(self, school: School) -> None:
        bob = school.tokens()[BOB.email]
        snapshot = school.send(ADA, "POST", "/_control/snapshot")[1]

        status, answer = school.send(ADA, "POST", "/_control/class/renew", {"user": BOB.email})

        assert (status, answer["token"]) == (200, school.tokens()[BOB.email])
        assert school.send(answer["token"], "GET", ABOUT)[0] == 200
        assert school.reason(bob, "GET", ABOUT) == (401, "authError")
        school.send(ADA, "POST", "/_control/class/revoke", {"user": BOB.email})
        assert school.send(ADA, "POST", "/_control/restore", snapshot)[0] == 204
        assert school.reason(answer["token"], "GET", ABOUT) == (401, "authError")
        assert school.reason(bob, "GET", ABOUT) == (401, "authError")


class TestControl:
    def test_only_a_teacher_is_admitted(self, school: School) -> None:
        calls = ("clock", "deliveries", "class/students", "class/steps", "class/backups")
        for path in ("/_live/activity", *(f"/_control/{call}" for call in calls)):
            assert school.send(ADA, "GET", path)[0] == 200
            assert school.reason(BOB, "GET", path) == (403, "forbidden")
            assert school.reason(None, "GET", path) == (401, "authError")
        assert {row["decided_by"] for row in school.service.journal()} == {"The accounts of a class", "T-01"}

    def test_a_student_reads_the_journal_of_the_own_requests_only(self, school: School) -> None:
        for who in (BOB, EVE):
            school.send(who, "GET", ABOUT)
        status, answer = school.send(BOB, "GET", "/_control/journal?since=0")

        assert status == 200
        assert [(row["user"], row["operation"]) for row in answer["journal"]] == [(BOB.email, "about.get")]
        assert answer["journal"][0]["decided_by"]
        assert len(school.send(BOB, "GET", f"/_control/journal?user={BOB.email}")[1]["journal"]) == 1
        for address in (EVE.email, ADA.email, ""):
            rows = school.send(BOB, "GET", "/_control/journal", {"user": address})
            assert rows[0] == 403 or {row["user"] for row in rows[1]["journal"]} == {BOB.email}
        assert school.reason(BOB, "GET", f"/_control/journal?user={EVE.email}") == (403, "forbidden")
        for method in ("POST", "PUT", "DELETE", "HEAD"):
            assert school.send(BOB, method, "/_control/journal")[0] == 403
        assert [school.send(BOB, "GET", "/_control/journal")[0] for _ in range(30)][-1] in (403, 429)  # the quota

    def test_without_a_class_the_calls_are_unknown(self) -> None:
        with open_service() as service:
            request = Request("POST", "http://127.0.0.1/_control/class/revoke", Headers([("Content-Length", "0")]))
            assert with_control(service)(request).status == 404


class TestQuotas:
    def upload(self, school: School, who: ClassAccount, size: int) -> tuple[int, str]:
        return school.reason(who, "POST", UPLOAD + "media", b"x" * size, Content_Type="text/plain")

    def test_lesson_00_fits_the_default_quota(self) -> None:
        text = (Path(__file__).parents[3] / "notebooks" / "00-start.ipynb").read_text(encoding="utf-8")
        (copies,) = re.findall(r"randbytes\(2\*\*20\) \* (\d+)", text)

        assert Quota().bytes > 2 * int(copies) * 2**20 + 2**20  # a file, the session that replaces it, and small files

    def test_a_file_beyond_the_quota_is_refused(self, school: School) -> None:
        assert self.upload(school, BOB, 600_000) == (200, "")
        assert self.upload(school, BOB, 600_000) == (403, "storageQuotaExceeded")
        assert self.upload(school, EVE, 600_000) == (200, "")
        assert [self.upload(school, ADA, 600_000)[0] for _ in range(2)] == [200, 200]
        assert school.service.journal()[1]["decided_by"] == "Quotas of students"
        assert school.send(BOB, "GET", ABOUT)[1]["storageQuota"]["limit"] == "1000000"

    def test_a_copy_counts_and_a_new_content_instead_of_the_old_one(self, school: School) -> None:
        file = school.upload(BOB, b"x" * 510_000)
        path = f"/upload/storage/v3/files/{file}?uploadType=media"

        assert school.reason(BOB, "POST", f"/storage/v3/files/{file}/copy", {}) == (403, "storageQuotaExceeded")
        assert school.send(BOB, "GET", ABOUT)[1]["storageQuota"]["usage"] == "510000"
        assert school.send(BOB, "PUT", path, b"y" * 480_000, Content_Type="text/plain")[0] == 200
        assert school.reason(BOB, "PUT", path, b"y" * 1_000_001, Content_Type="text/plain")[0] == 403
        assert school.send(BOB, "GET", ABOUT)[1]["storageQuota"]["usage"] == "480000"

    def test_open_uploads_count(self, school: School) -> None:
        chunk, uris = b"x" * 524_288, []
        for _ in range(2):
            assert school.send(BOB, "POST", UPLOAD + "resumable")[0] == 200
            uris.append(school.location.removeprefix("http://127.0.0.1"))
        headers = {"Content_Range": f"bytes 0-{len(chunk) - 1}/*", "Content_Type": "text/plain"}

        assert school.send(BOB, "PUT", uris[0], chunk, **headers)[0] == 308
        assert school.reason(BOB, "PUT", uris[1], chunk, **headers) == (403, "storageQuotaExceeded")
        assert school.send(BOB, "DELETE", uris[0])[0] == 499
        assert school.send(BOB, "PUT", uris[1], chunk, **headers)[0] == 308

    def test_requests_beyond_the_quota_are_refused_even_while_the_clock_stands_still(self, school: School) -> None:
        school.send(ADA, "POST", "/_control/clock", {"freeze": True})
        statuses = [school.send(BOB, "GET", ABOUT)[0] for _ in range(31)]

        assert statuses == [200] * 30 + [403]
        assert school.reason(BOB, "GET", ABOUT) == (403, "userRateLimitExceeded")
        assert school.send(EVE, "GET", ABOUT)[0] == 200

    def test_channels_beyond_the_quota_are_refused_until_one_is_stopped(self, school: School) -> None:
        page = school.send(BOB, "GET", "/storage/v3/changes/startPageToken")[1]["startPageToken"]

        def watch(who: ClassAccount, key: str) -> tuple[int, Any]:
            channel = {"id": key, "type": "web_hook", "address": "https://hooks.example/in"}
            return school.send(who, "POST", f"/storage/v3/changes/watch?pageToken={page}", channel)

        first, second, third = (watch(BOB, f"bob-{number}") for number in range(3))
        stopped = school.send(BOB, "POST", "/storage/v3/channels/stop", first[1])
        fourth = watch(BOB, "bob-3")

        assert [status for status, _ in (first, second, third, stopped, fourth)] == [200, 200, 403, 204, 200]
        assert third[1]["error"]["errors"][0]["reason"] == "quotaExceeded"


class TestReceivers:
    """A student registers the receiver of a notebook, and only this student's channels can name it."""

    ADDRESS = "https://localhost:8443/in"

    def register(self, school: School, who: ClassAccount | None, address: str = ADDRESS) -> tuple[int, str]:
        return school.reason(who, "POST", "/_class/receivers", {"address": address})

    def watch(self, school: School, who: ClassAccount, address: str) -> tuple[int, str]:
        page = school.send(who, "GET", "/storage/v3/changes/startPageToken")[1]["startPageToken"]
        channel = {"id": f"{who.email} {address}", "type": "web_hook", "address": address}
        return school.reason(who, "POST", f"/storage/v3/changes/watch?pageToken={page}", channel)

    def test_a_registered_receiver_is_for_its_owner_only(self, school: School) -> None:
        refused = (401, "push.webhookUrlUnauthorized")
        school.service.register_domain("localhost")

        assert self.register(school, BOB) == (200, "")
        assert self.watch(school, BOB, "https://LOCALHOST:8443/other") == (200, "")
        assert self.watch(school, EVE, self.ADDRESS) == self.watch(school, ADA, self.ADDRESS) == refused
        assert self.watch(school, EVE, "https://localhost:8444/in") == (200, "")  # a domain of everybody
        assert self.register(school, EVE, "https://localhost:8443/") == (409, "duplicate")
        assert self.register(school, EVE, "https://localhost:8444/") == (200, "")
        assert self.register(school, BOB) == (200, "")

    def test_an_invalid_registration_is_refused(self, school: School) -> None:
        for body in ({}, {"address": 5}, {"address": "http://localhost/"}, {"address": self.ADDRESS, "ca_pem": "x"}):
            assert school.reason(BOB, "POST", "/_class/receivers", body) == (400, "badRequest")
        assert self.register(school, None) == (401, "authError")
        assert school.reason(BOB, "GET", "/_class/receivers") == (405, "httpMethodNotAllowed")

    def test_the_latest_20_receivers_of_a_student_are_kept(self, school: School) -> None:
        for port in range(21):
            self.register(school, BOB, f"https://localhost:{9000 + port}/")

        assert self.register(school, EVE, "https://localhost:9000/") == (200, "")
        assert self.register(school, EVE, "https://localhost:9001/") == (409, "duplicate")


def test_each_account_has_a_row_with_its_operations(school: School) -> None:
    school.upload(BOB, b"x" * 5)
    school.send(BOB, "GET", "/storage/v3/files/none")
    school.send(ADA, "POST", "/_control/class/revoke", {"user": EVE.email})

    ada, bob, eve = school.send(ADA, "GET", "/_live/activity?")[1]["students"]["rows"]

    assert [row["name"] for row in (ada, bob, eve)] == ["Ada", "Bob", "Eve"]
    assert bob["steps"] == {"files.create": [1, 0], "files.get": [0, 1]}
    assert (bob["requests"], bob["errors"], bob["bytes"], bob["channels"]) == (2, 1, 5, 0)
    assert (eve["last"], eve["active"], eve["steps"]) == (None, False, {})
    assert bob["last"] == school.service.journal()[1]["time"]


def test_a_fault_plan_ends_after_its_seconds(school: School, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1e9]
    monkeypatch.setattr("svc_notebooks.server.dispatch.faults.time.time", lambda: now[0])
    plan = {"steps": [{"action": {"status": 503}, "times": 1000}], "seconds": 60}
    school.send(ADA, "POST", "/_control/faults", plan)
    before = school.send(BOB, "GET", ABOUT)[0]
    now[0] += 60

    assert (before, school.send(BOB, "GET", ABOUT)[0]) == (503, 200)
    assert school.send(ADA, "GET", "/_control/faults")[1] == {"plans": []}
    for seconds in (0, -1, True, "60"):
        body = {"preset": "flaky wifi", "seconds": seconds}
        assert school.reason(ADA, "POST", "/_control/faults", body) == (400, "badRequest")
