"""google-resumable-media, unmodified, against our service: every upload kind, a recovery, both downloads."""

import io

import pytest
import requests
from google.resumable_media import InvalidResponse
from google.resumable_media.requests import ChunkedDownload, Download, MultipartUpload, ResumableUpload, SimpleUpload

pytestmark = pytest.mark.interop

MIB = 1024 * 1024
CONTENT = bytes(range(256)) * (20 * MIB // 256) + b"and a tail"


@pytest.fixture
def transport(token):
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {token}"
        yield session


def media(base_url: str, file_id: str) -> str:
    return f"{base_url}/storage/v3/files/{file_id}?alt=media"


@pytest.mark.spec("A1-01", "A2-01")
def test_simple_and_multipart(base_url, transport):
    simple = SimpleUpload(f"{base_url}/upload/storage/v3/files?uploadType=media")
    multipart = MultipartUpload(f"{base_url}/upload/storage/v3/files?uploadType=multipart")

    first = simple.transmit(transport, b"hello", "text/plain").json()
    second = multipart.transmit(transport, b"hello", {"name": "a.txt"}, "text/plain").json()

    assert second["name"] == "a.txt"
    assert [transport.get(media(base_url, file["id"])).content for file in (first, second)] == [b"hello"] * 2


@pytest.mark.spec("A3-01", "A3-01a", "A3-06", "A3-08", "A3-15")
@pytest.mark.parametrize("chunk_size, is_size_known", [(256 * 1024, True), (8 * MIB, True), (MIB, False)])
def test_resumable(base_url, transport, chunk_size, is_size_known):
    upload = ResumableUpload(f"{base_url}/upload/storage/v3/files?uploadType=resumable", chunk_size)
    content, kind = io.BytesIO(CONTENT), "application/x-test"
    upload.initiate(transport, content, {"name": "big"}, kind, stream_final=is_size_known)

    while not upload.finished:
        answer = upload.transmit_next_chunk(transport)

    assert answer.json()["name"] == "big"
    assert transport.get(media(base_url, answer.json()["id"])).content == CONTENT


@pytest.mark.spec("A3-09", "A3-09a", "X-05", "X-05a")
@pytest.mark.parametrize("when", ["before", "after"])
def test_recovery_from_a_refused_chunk(base_url, transport, service, when):
    """The library recovers by a status query from any answer that it does not retry by itself."""
    upload = ResumableUpload(f"{base_url}/upload/storage/v3/files?uploadType=resumable", 8 * MIB)
    upload.initiate(transport, io.BytesIO(CONTENT), {}, "application/x-test")
    upload.transmit_next_chunk(transport)
    action = {"status": 503} if when == "before" else {"reset": "after"}
    step = {"match": {"operation": "upload.session"}, "times": 1, "action": action}

    with service.faults(step):
        upload._retry_strategy.max_retries = 0
        upload._retry_strategy.max_cumulative_retry = None
        with pytest.raises((InvalidResponse, requests.ConnectionError)):
            upload.transmit_next_chunk(transport)
    upload._invalid = True
    upload.recover(transport)
    assert upload.bytes_uploaded == (8 * MIB if when == "before" else 16 * MIB)
    while not upload.finished:
        answer = upload.transmit_next_chunk(transport)

    assert transport.get(media(base_url, answer.json()["id"])).content == CONTENT


@pytest.mark.spec("A6-01", "A6-02", "A6-02a")
def test_downloads(base_url, transport):
    created = transport.post(f"{base_url}/upload/storage/v3/files?uploadType=media", data=CONTENT).json()
    whole, chunks = io.BytesIO(), io.BytesIO()

    Download(media(base_url, created["id"]), stream=whole).consume(transport)
    download = ChunkedDownload(media(base_url, created["id"]), 3 * MIB, chunks)
    while not download.finished:
        download.consume_next_chunk(transport)

    assert whole.getvalue() == chunks.getvalue() == CONTENT
