import pytest

from svc_notebooks.core.http import redaction

pytestmark = pytest.mark.spec("T-05", "T-05a", "T-05b", "T-05c", "T-05d")


@pytest.mark.parametrize("text", [
    '{"access_token": "S"}', '{"a": {"refresh_token" : "S\\"more"}, "b": 1}', '{"access\\u005ftoken": "S"}',
    '{"access_token": "S', "grant_type=x&code=S&scope=y", "client%5fsecret=S",
    "see https://x.example/cb?state=1&code=S for it", "Authorization: Bearer S.S-S",
    "-----BEGIN RSA PRIVATE KEY-----\nS\n-----END RSA PRIVATE KEY-----",
    '{"private_key": "-----BEGIN PRIVATE KEY-----\\nS\\n', '{"grant_type": "authorization_code", "code": "S"}',
])  # fmt: skip
def test_a_secret_is_removed(text):
    hidden = redaction.redact_text(text)

    assert "S" not in hidden.replace("RSA", "")
    assert redaction.REDACTED in hidden


@pytest.mark.parametrize("text", [
    '{"token": "of a channel", "id": "c"}', '{"error": {"code": 404, "message": "Not Found"}}',
    '{"error": {"errors": [{"reason": "invalid"}], "code": "x"}}', '{"nextPageToken": "abc"}',
    '{"access_token": 5, "properties": {"zip_code": "1"}}',
    'WWW-Authenticate: Bearer realm="svc", error="invalid_token"', "curl -H 'Authorization: Bearer $SVC_TOKEN'",
    "q=name%20%3D%20'token'&pageToken=abc", "",
])  # fmt: skip
def test_text_that_resembles_a_secret_stays(text):
    assert redaction.redact_text(text) == text


@pytest.mark.parametrize(
    "query, path, hidden",
    [
        ("token=S&a=b", "/revoke", "token=[redacted]&a=b"),
        ("token=S&a=b", "/storage/v3/files", "token=S&a=b"),
        ("%61ccess_token=S", "/", "%61ccess_token=[redacted]"),
        ("continue=%2Fuc%3Faccess_token%3DS", "/signin", "continue=[redacted]"),
        ("access_token=", "/", "access_token="),
        ("access_token", "/", "access_token"),
    ],
)
def test_secrets_of_a_query_are_removed(query, path, hidden):
    assert redaction.redact_query(query, path) == hidden


@pytest.mark.parametrize(
    "url, hidden",
    [
        ("https://x/a?b=c", "https://x/a?b=c"),
        ("https://me:S@x/a", "https://%5Bredacted%5D@x/a"),
        ("https://x/cb#access_token=S&state=1", "https://x/cb#access_token=[redacted]&state=1"),
        ("/token?token=S", "/token?token=[redacted]"),
    ],
)
def test_secrets_of_a_url_are_removed(url, hidden):
    assert redaction.redact_url(url) == hidden


@pytest.mark.parametrize(
    "name, value, hidden",
    [
        ("authorization", "Basic S", "Basic [redacted]"),
        ("Cookie", "sid=S", redaction.REDACTED),
        ("Location", "/cb?code=S", "/cb?code=[redacted]"),
        ("X-Svc-Channel-Token", "two words", redaction.REDACTED),
        ("x-goog-channel-token", "t", redaction.REDACTED),
    ],
)
def test_secrets_of_headers_are_removed(name, value, hidden):
    assert redaction.redact_headers([(name, value)]) == ((name, hidden),)


@pytest.mark.parametrize(
    "text",
    ['{"id": "c", "token": "S of a channel"}', '{"tok\\u0065n": "S"}', '{"kind": "api#channel", "token" : "S \\"s'],
)
def test_the_token_of_a_channel_is_removed_from_a_watch_request_and_its_response(text):
    hidden = redaction.redact_text(text, "https://x.example/storage/v3/files/f/watch?fields=*")

    assert "S" not in hidden
    assert redaction.REDACTED in hidden
    assert redaction.redact_text(text, "https://x.example/storage/v3/files/watched") == text


@pytest.mark.parametrize("length", [0, 1, 7, 16, 32, 256])
def test_a_masked_token_shows_at_most_a_quarter(length):
    token = "".join(chr(ord("A") + n % 26) for n in range(length))

    shown, _, rest = redaction.mask_token(token).partition("…")

    assert token.startswith(shown)
    assert len(shown) <= min(4, length / 4)
    assert rest == f" ({length} characters)"


@pytest.mark.parametrize("text", ["secret/+=", "a secret/+= b", "/x/secret%2F%2B%3D?y=1", "?q=secret/%2b%3d"])
def test_a_known_secret_is_removed_in_every_encoding(text):
    assert "secret" not in redaction.remove_secret(text, "secret/+=")
