"""Holds an upload until a test has cancelled it."""

import threading

import pytest

from svc_notebooks.client.session import Session
from svc_notebooks.core.policy import MIB


@pytest.fixture
def cancelled(monkeypatch):
    """An event that a test sets after Cancel. The chunk that begins at 4 MiB is sent afterwards."""
    event, send_request = threading.Event(), Session.send

    def send_when_cancelled(session, request, *arguments):
        if request.headers.get("Content-Range", "").startswith(f"bytes {4 * MIB}-"):
            event.wait(timeout=60)
        return send_request(session, request, *arguments)

    monkeypatch.setattr(Session, "send", send_when_cancelled)
    return event
