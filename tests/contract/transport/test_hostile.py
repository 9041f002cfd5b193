"""Every request gets a response of the interface and never a 500, a traceback or a hang."""

import json
import logging
from io import BytesIO
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, strategies as st

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.service import Service, open_service
from tests.examples import examples

words = st.sampled_from(
    ["storage", "v3", "files", "upload", "generateIds", "trash", "..", "%00", "%ff", "ÿ", "a b", "'", '"', "{}", "*",
     "1", ""]
)  # fmt: skip
paths = st.lists(words, max_size=6).map(lambda parts: "/" + "/".join(parts)) | st.sampled_from(
    ["/storage/v3/files", "/upload/storage/v3/files", "/storage/v3/files/generateIds", "/storage/v3/files/trash"]
)
values = st.text(max_size=20) | st.sampled_from(
    ["media", "multipart", "resumable", "*", "id,name", "-1", "9" * 25, "true", "name = 'a'", "name desc",
     "json", "\x00", "\ud800"]
)  # fmt: skip
keys = st.sampled_from(
    ["uploadType", "upload_id", "fields", "q", "orderBy", "pageSize", "pageToken", "alt", "count", "addParents",
     "removeParents", "prettyPrint", "access_token", "acknowledgeAbuse", "corpora", "spaces", "ocrLanguage", "x"]
)  # fmt: skip
header_names = st.sampled_from(
    ["Content-Type", "Content-Length", "Content-Range", "Range", "Transfer-Encoding", "X-Upload-Content-Length",
     "X-Upload-Content-Type", "X-HTTP-Method-Override", "Authorization", "Host", "Forwarded", "X-Forwarded-Host",
     "X-Forwarded-Proto", "Expect", "If-Match", "Content-Encoding", "X-Upload-No-308"]
)  # fmt: skip
header_values = st.text(st.characters(codec="latin-1", exclude_characters="\r\n\x00"), max_size=30) | st.sampled_from(
    ["application/json", "multipart/related; boundary=b", "bytes 0-0/1", "bytes */*", "bytes=0-0", "chunked", "0",
     "9" * 30, "-5", "https", "evil.example", "PUT", "DELETE", "100-continue", 'host="a b";proto=x']
)  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
fields = st.sampled_from(
    ["id", "name", "mimeType", "parents", "properties", "starred", "createdTime", "shortcutDetails", "contentHints",
     "trashed"]
)  # fmt: skip
bodies = (
    st.binary(max_size=50)
    | st.dictionaries(fields, json_values, max_size=4).map(lambda value: json.dumps(value).encode())
    | st.just(b"--b\r\nContent-Type: application/json\r\n\r\n{}\r\n--b\r\n\r\nx\r\n--b--")
)


@pytest.fixture(scope="module")
def hardened() -> Service:
    return open_service(seed=0)


@examples(4, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW", ""]),
    path=paths,
    query=st.lists(st.tuples(keys, values), max_size=4),
    headers=st.lists(st.tuples(header_names, header_values), max_size=4),
    body=bodies,
)
@pytest.mark.spec("X-01")
def test_every_request_gets_a_response_of_the_interface(hardened, caplog, method, path, query, headers, body):
    token = hardened.sign_in()
    text = "&".join(f"{key}={quote(value.encode('utf-8', 'surrogatepass'))}" for key, value in query)
    pairs = [("Authorization", f"Bearer {token}"), *headers]

    with caplog.at_level(logging.ERROR):
        answer = hardened.handle(Request(method, f"http://svc.test{path}?{text}", Headers(pairs), BytesIO(body)))

    assert answer.status < 500 or answer.status == 503, caplog.text
    content = answer.content()
    if answer.status >= 400 and method != "HEAD" and content.startswith(b"{"):
        assert json.loads(content)["error"]["code"] == answer.status
