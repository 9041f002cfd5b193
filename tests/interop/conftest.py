"""A service on a socket, for programs that know nothing of us."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest

from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer


@pytest.fixture
def service() -> Iterator[Service]:
    service = open_service(seed=0)
    yield service
    service.close()


@pytest.fixture
def base_url(service: Service) -> Iterator[str]:
    with SocketServer(service) as server:
        yield server.base_url


@pytest.fixture
def token(service: Service) -> str:
    return service.sign_in()


@pytest.fixture
def calendar(base_url: str, token: str) -> Iterator[Any]:
    """gcsa with its service object pointed at ours; everything above it is as it was installed."""
    import google_auth_httplib2
    from gcsa.google_calendar import GoogleCalendar
    from google.oauth2.credentials import Credentials
    from googleapiclient.discovery import build_from_document
    from googleapiclient.http import build_http

    calendar = GoogleCalendar("primary", credentials=Credentials(token))
    calendar.service.close()
    text = resources.files("googleapiclient").joinpath("discovery_cache/documents/calendar.v3.json").read_text()
    document = json.loads(text)
    document["rootUrl"] = f"{base_url}/"
    document["baseUrl"] = f"{base_url}/calendar/v3/"
    document.pop("mtlsRootUrl", None)
    http = google_auth_httplib2.AuthorizedHttp(Credentials(token), http=build_http())
    calendar.service = build_from_document(document, http=http)
    yield calendar
    calendar.service.close()
