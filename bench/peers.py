"""Peer clients that upload the same file to the same service, each as its own documentation shows."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import google_auth_httplib2
import requests
from google.oauth2.credentials import Credentials
from google.resumable_media.requests import ResumableUpload
from googleapiclient.discovery import build_from_document
from googleapiclient.http import MediaFileUpload, build_http

from bench.processes import MIB, TOKEN, Served
from svc_notebooks.client.session import Session
from svc_notebooks.client.uploads.uploads import upload

Uploader: TypeAlias = Callable[[Path], str]
"""Uploads a file; the id of what the service made."""

MEDIA_TYPE = "application/octet-stream"
RESUMABLE = "/upload/storage/v3/files?uploadType=resumable"


def ours(served: Served, state: Path, chunk: int) -> Uploader:
    """Our client, with its journal on disk, as it is by default."""
    session = Session(served.base_url, TOKEN, state_dir=state)
    return lambda path: str(upload(session, path, mime_type=MEDIA_TYPE, chunk_size=chunk)["id"])


def streamed_put(served: Served) -> Uploader:
    """An upload session by hand: a POST, and the whole file as one PUT, as requests' page on streaming has it."""
    web = requests.Session()
    web.headers["Authorization"] = f"Bearer {TOKEN}"

    def put(path: Path) -> str:
        uri = web.post(f"{served.base_url}{RESUMABLE}").headers["Location"]
        with path.open("rb") as file:
            return str(web.put(uri, data=file).json()["id"])

    return put


def tuned_put(served: Served) -> Uploader:
    """The same with http.client and blocks of 1 MiB, the fastest that Python's library does."""
    connection = http.client.HTTPConnection(served.netloc, blocksize=MIB)
    signed = {"Authorization": f"Bearer {TOKEN}"}

    def put(path: Path) -> str:
        connection.request("POST", RESUMABLE, headers={**signed, "Content-Length": "0"})
        begun = connection.getresponse()
        begun.read()
        size = {"Content-Length": str(path.stat().st_size)}
        with path.open("rb") as file:
            connection.request("PUT", _target(begun.headers["Location"]), file, signed | size)
        return str(json.loads(connection.getresponse().read())["id"])

    return put


def _target(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def google_resumable_media(served: Served, chunk: int) -> Uploader:
    """ResumableUpload over a requests.Session."""
    web = requests.Session()
    web.headers["Authorization"] = f"Bearer {TOKEN}"
    url = f"{served.base_url}{RESUMABLE}"

    def send(path: Path) -> str:
        resumable_upload = ResumableUpload(url, chunk)
        with path.open("rb") as stream:
            resumable_upload.initiate(web, stream, {"name": path.name}, MEDIA_TYPE)
            while not resumable_upload.finished:
                response = resumable_upload.transmit_next_chunk(web)
        return str(response.json()["id"])

    return send


def google_api_client(served: Served, chunk: int) -> Uploader:
    """files().create with a MediaFileUpload, chunk by chunk; only the addresses of its description are changed."""
    drive = _drive_service(served)

    def send(path: Path) -> str:
        media = MediaFileUpload(str(path), MEDIA_TYPE, chunksize=chunk, resumable=True)
        request = drive.files().create(body={"name": path.name}, media_body=media)
        response = None
        while response is None:
            _, response = request.next_chunk()
        return str(response["id"])

    return send


def _drive_service(served: Served) -> Any:
    text = resources.files("googleapiclient").joinpath("discovery_cache/documents/drive.v3.json").read_text()
    document = json.loads(text.replace("/drive/v3/", "/storage/v3/").replace('"drive/v3/"', '"storage/v3/"'))
    document["rootUrl"] = f"{served.base_url}/"
    document["baseUrl"] = f"{served.base_url}/storage/v3/"
    document.pop("mtlsRootUrl", None)
    http = google_auth_httplib2.AuthorizedHttp(Credentials(TOKEN), http=build_http())
    return build_from_document(document, http=http)
