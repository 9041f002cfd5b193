"""google-api-python-client, unmodified, driven by its bundled storage description with only the address changed."""

import io

import pytest
from googleapiclient.channel import Channel, new_webhook_channel, notification_from_headers
from googleapiclient.errors import HttpError
from googleapiclient.http import MediaInMemoryUpload, MediaIoBaseDownload, MediaIoBaseUpload

from tests.interop.conftest import google_client
from tests.receivers import receiver

pytestmark = pytest.mark.interop

MIB = 1024 * 1024
CONTENT = bytes(range(256)) * (5 * MIB // 256) + b"and a tail"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.fixture
def drive(base_url, token):
    with google_client("drive", base_url, token) as drive:
        yield drive


def downloaded(request) -> bytes:
    target, done = io.BytesIO(), False
    download = MediaIoBaseDownload(target, request, chunksize=MIB)
    while not done:
        _, done = download.next_chunk()
    return target.getvalue()


@pytest.mark.spec("A4-01", "A4-01a", "A1-01", "A2-01")
def test_create_and_read(drive):
    plain = drive.files().create(media_body=MediaInMemoryUpload(b"plain", "text/plain")).execute()
    empty = drive.files().create(body={"name": "empty"}).execute()
    small = drive.files().create(body={"name": "a.csv"}, media_body=MediaInMemoryUpload(b"a,b\n", "text/csv")).execute()

    assert empty["name"] == "empty"
    assert (small["name"], small["mimeType"]) == ("a.csv", "text/csv")
    assert drive.files().get_media(fileId=small["id"]).execute() == b"a,b\n"
    assert drive.files().get_media(fileId=plain["id"]).execute() == b"plain"


@pytest.mark.spec("A2-01", "A2-02", "A2-02a")
@pytest.mark.parametrize("kind", [DOCX, "text/x-" + "very-" * 20 + "long"])
def test_a_long_media_type(drive, kind):
    """The library folds the header of a part that is longer than a line."""
    file = drive.files().create(body={"name": "a"}, media_body=MediaInMemoryUpload(b"content", kind)).execute()

    assert file["mimeType"] == kind
    assert drive.files().get_media(fileId=file["id"]).execute() == b"content"


@pytest.mark.spec("A3-01", "A3-01a", "A3-06", "A3-08")
@pytest.mark.parametrize("chunk_size", [256 * 1024, MIB])
def test_resumable_chunk_by_chunk(drive, chunk_size):
    media = MediaIoBaseUpload(io.BytesIO(CONTENT), "application/x-test", chunksize=chunk_size, resumable=True)
    request = drive.files().create(body={"name": "big"}, media_body=media, fields="id,name,size,md5Checksum")
    seen = []

    answer = None
    while answer is None:
        status, answer = request.next_chunk()
        seen.append(status.progress() if status else 1.0)

    assert seen == sorted(seen)
    assert answer["size"] == str(len(CONTENT))
    assert drive.files().get_media(fileId=answer["id"]).execute() == CONTENT


@pytest.mark.spec("A3-09", "A3-09a", "A3-18", "X-05", "X-05b")
def test_resumable_over_an_interruption(drive, service):
    media = MediaIoBaseUpload(io.BytesIO(CONTENT), "application/x-test", chunksize=MIB, resumable=True)
    request = drive.files().create(body={"name": "big"}, media_body=media)
    request.next_chunk()
    step = {"match": {"operation": "upload.session"}, "times": 1, "action": {"status": 503}}
    with service.faults(step), pytest.raises(HttpError):
        request.next_chunk()

    answer = None
    while answer is None:
        _, answer = request.next_chunk()

    assert drive.files().get_media(fileId=answer["id"]).execute() == CONTENT


@pytest.mark.spec("A3-16", "A3-16c")
def test_nothing(drive):
    """The client asks for a range of an empty file, and reads `bytes */0` in the 416."""
    media = MediaIoBaseUpload(io.BytesIO(b""), "text/plain", resumable=True)

    file = drive.files().create(body={"name": "nothing"}, media_body=media, fields="id,size").execute()

    assert file["size"] == "0"
    assert downloaded(drive.files().get_media(fileId=file["id"])) == b""


@pytest.mark.spec("A2-04", "A2-04a", "U-05", "U-05b")
def test_update_trash_and_delete(drive):
    file = drive.files().create(media_body=MediaInMemoryUpload(b"old", "text/plain")).execute()

    new = MediaInMemoryUpload(b"new", "text/plain")
    drive.files().update(fileId=file["id"], body={"name": "new"}, media_body=new).execute()
    assert drive.files().update(fileId=file["id"], body={"name": "newer"}).execute()["name"] == "newer"
    assert drive.files().get_media(fileId=file["id"]).execute() == b"new"
    trashed = drive.files().update(fileId=file["id"], body={"trashed": True}, fields="trashed").execute()
    assert trashed == {"trashed": True}
    assert drive.files().delete(fileId=file["id"]).execute() in ("", b"")


@pytest.mark.spec("A6-02", "A6-02a")
def test_download_in_chunks(drive):
    file = drive.files().create(media_body=MediaInMemoryUpload(CONTENT, "application/x-test")).execute()

    assert downloaded(drive.files().get_media(fileId=file["id"])) == CONTENT


def test_pages(drive):
    made = {drive.files().create(body={"name": f"file {n}"}).execute()["id"] for n in range(5)}
    request = drive.files().list(pageSize=2, q="name contains 'file'", orderBy="name")
    ids, pages = [], 0

    while request is not None:
        page = request.execute()
        ids += [f["id"] for f in page["files"]]
        pages += 1
        request = drive.files().list_next(request, page)

    assert (set(ids), len(ids), pages) == (made, 5, 3)


@pytest.mark.spec("X-01", "L-01", "L-01a", "L-01b", "X-02", "X-02a", "X-02c")
def test_generated_ids_and_errors(drive):
    file_id = drive.files().generateIds(count=3).execute()["ids"][0]
    assert drive.files().create(body={"id": file_id}).execute()["id"] == file_id
    with pytest.raises(HttpError) as conflict:
        drive.files().create(body={"id": file_id}).execute()
    with pytest.raises(HttpError) as error:
        drive.files().get(fileId="nobody").execute()

    assert conflict.value.status_code == 409
    assert (error.value.status_code, error.value.reason) == (404, "File not found: nobody.")
    assert error.value.error_details[0]["reason"] == "notFound"


@pytest.mark.spec("A5-01", "A7-01", "A7-01a")
@pytest.mark.parametrize("resumable", [False, True])
def test_a_conversion_and_an_export(drive, resumable):
    media = MediaIoBaseUpload(io.BytesIO(b"a,b\r\n1,2\r\n"), "text/csv", resumable=resumable)
    body = {"name": "sheet", "mimeType": "application/vnd.svc-apps.spreadsheet"}
    file = drive.files().create(body=body, media_body=media).execute()

    exported = downloaded(drive.files().export_media(fileId=file["id"], mimeType="text/csv"))

    assert file["mimeType"] == body["mimeType"]
    assert exported.removeprefix(b"\xef\xbb\xbf").splitlines() == [b"a,b", b"1,2"]
    assert drive.files().export(fileId=file["id"], mimeType="text/csv").execute() == exported


@pytest.mark.spec("A5-05", "A7-04")
def test_about(drive):
    about = drive.about().get(fields="importFormats,exportFormats,user,storageQuota").execute()

    assert "application/vnd.svc-apps.spreadsheet" in about["importFormats"]["text/csv"]
    assert "text/csv" in about["exportFormats"]["application/vnd.svc-apps.spreadsheet"]
    assert about["user"]["me"]


@pytest.mark.spec("A8-01", "A8-01a", "A9-01", "A9-01a", "A10-01", "A10-01a", "N-01", "N-01a")
def test_watch_stop_and_the_change_log(drive, service):
    with receiver() as hooks:
        service.register_domain("localhost")
        service.trust(hooks.ca_pem)
        start = drive.changes().getStartPageToken().execute()["startPageToken"]
        file = drive.files().create(body={"name": "watched"}).execute()
        body = new_webhook_channel(hooks.address, token="from the client").body()
        channel = drive.files().watch(fileId=file["id"], body=body).execute()
        log = drive.changes().watch(pageToken=start, body=new_webhook_channel(hooks.address).body()).execute()
        drive.files().update(fileId=file["id"], body={"name": "renamed"}).execute()
        service.deliver()
        mine = Channel("web_hook", channel["id"], "", "")
        heard = [entry.headers for entry in hooks.requests if entry.channel_id == mine.id]
        # The client knows the headers of another brand.
        theirs = [{name.replace("x-svc-", "x-goog-"): value for name, value in headers.items()} for headers in heard]
        parsed = [notification_from_headers(mine, headers) for headers in theirs]
        changes = drive.changes().list(pageToken=start).execute()
        for entry in (channel, log):
            drive.channels().stop(body={"id": entry["id"], "resourceId": entry["resourceId"]}).execute()

    assert channel["kind"] == "api#channel"
    assert sorted(entry.resource_state or "" for entry in hooks.requests) == ["change", "sync", "sync", "update"]
    assert [entry.state for entry in parsed] == ["sync", "update"]
    assert {entry.resource_id for entry in parsed} == {channel["resourceId"]}
    assert [(entry["fileId"], entry["file"]["name"]) for entry in changes["changes"]] == [(file["id"], "renamed")]
    assert changes["newStartPageToken"]


def test_sharing(drive, service):
    file = drive.files().create(body={"name": "shared"}).execute()
    body = {"type": "user", "role": "writer", "emailAddress": "bob@svc.example"}
    made = drive.permissions().create(fileId=file["id"], body=body, sendNotificationEmail=False).execute()
    drive.permissions().update(fileId=file["id"], permissionId=made["id"], body={"role": "reader"}).execute()
    listed = drive.permissions().list(fileId=file["id"], fields="permissions(id,role)").execute()["permissions"]
    drive.permissions().delete(fileId=file["id"], permissionId=made["id"]).execute()

    assert [permission["role"] for permission in listed] == ["owner", "reader"]
    assert len(drive.permissions().list(fileId=file["id"]).execute()["permissions"]) == 1
