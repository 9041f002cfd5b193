"""A service with a class in a folder, for tests."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.auth.accounts import ClassAccount
from svc_notebooks.server.dispatch.service_context import Quota
from svc_notebooks.server.service import open_service
from svc_notebooks.server.transports.control_api import with_control, with_live_page

ADA = ClassAccount("Ada", "ada@school.example", "teacher")
BOB = ClassAccount("Bob", "bob@school.example", "student")
EVE = ClassAccount("Eve", "eve@school.example", "student")
QUOTA = Quota(bytes=1_000_000, requests_per_minute=30, channels=2)
ABOUT = "/storage/v3/about?fields=user,storageQuota"
UPLOAD = "/upload/storage/v3/files?uploadType="


class School:
    def __init__(self, folder: Path, accounts: Sequence[ClassAccount] = (ADA, BOB, EVE), quota: Quota = QUOTA) -> None:
        self.service = open_service(folder / "store", policy=Policy(verified_domains=("hooks.example",)))
        self.file = folder / "tokens.csv"
        self.service.open_class(accounts, self.file, quota)
        self._handle = with_live_page(self.service, with_control(self.service), None)

    def tokens(self) -> dict[str, str]:
        with self.file.open(newline="") as file:
            return {row["email"]: row["token"] for row in csv.DictReader(file)}

    def send(
        self, account: ClassAccount | str | None, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, Any]:
        token = account if isinstance(account, str) else account and self.tokens()[account.email]
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        pairs = [("Content-Length", str(len(content))), ("Host", "127.0.0.1")]
        pairs += [("Authorization", f"Bearer {token}")] if token else []
        pairs += [(name.replace("_", "-"), value) for name, value in headers.items()]
        pairs += [("Content-Type", "application/json")] if body and "Content_Type" not in headers else []
        response = self._handle(Request(method, f"http://127.0.0.1{path}", Headers(pairs), content))
        text = response.body if isinstance(response.body, bytes) else b"".join(response.body)
        self.location = response.headers.get("Location") or ""
        try:
            return response.status, json.loads(text)
        except ValueError:
            return response.status, text

    def upload(self, account: ClassAccount, content: bytes) -> str:
        file: str = self.send(account, "POST", UPLOAD + "media", content, Content_Type="text/plain")[1]["id"]
        return file

    def reason(self, *request: Any, **headers: str) -> tuple[int, str]:
        status, answer = self.send(*request, **headers)
        return status, answer["error"]["errors"][0]["reason"] if status >= 400 else ""


def reopened(school: School, accounts: Sequence[ClassAccount]) -> School:
    school.service.close()
    return School(school.file.parent, accounts)
