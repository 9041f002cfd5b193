from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.brand_names import Names
from svc_notebooks.core.errors.catalogue import ApiError
from svc_notebooks.core.http.messages import Headers
from svc_notebooks.core.notifications import deliveries
from svc_notebooks.core.notifications.channels import check_channel, host_of

NAMES = Names()
LETTERS = st.characters(min_codepoint=0x21, max_codepoint=0x2FF, exclude_categories=["Cc"])
WORDS = st.text(LETTERS, min_size=1, max_size=20)
MESSAGES = st.builds(
    deliveries.Message,
    channel_id=WORDS,
    number=st.integers(1, 10**15),
    resource_id=WORDS,
    state=st.sampled_from(deliveries.STATES),
    resource_uri=WORDS,
    changed=st.sets(st.sampled_from(deliveries.CHANGED)).map(deliveries.in_order),
    expiration=st.none() | st.integers(1, 10**13).map(lambda seconds: seconds // 1000 * 1000),
    token=st.none() | WORDS,
    of_changes=st.booleans(),
)


@pytest.mark.spec("N-03", "N-05", "N-05a", "N-05b", "A11-01", "A11-01b")
@given(MESSAGES)
def test_what_is_written_is_read(message):
    """Headers go out in UTF-8, and HTTP libraries read them as Latin-1."""
    sent = [(name, value.encode().decode("latin-1")) for name, value in message.headers(NAMES)]
    notification = deliveries.read_notification(Headers(sent), message.body(NAMES), NAMES)

    for name in ("channel_id", "number", "resource_id", "state", "resource_uri", "changed", "token"):
        assert getattr(notification, name) == getattr(message, name)
    expiration = notification.expiration and int(notification.expiration.timestamp() * 1000)
    assert expiration == message.expiration
    assert notification.kind == ("svc#changes" if message.of_changes else None)


@pytest.mark.spec("A11-01", "A11-01b")
def test_what_others_write_is_read_as_it_is_meant():
    headers = Headers([("x-svc-resource-state", "changed"), ("x-svc-changed", "content, permissions ,")])
    notification = deliveries.read_notification(headers, b'{"kind": "svc#changes"}', NAMES)

    assert (notification.state, notification.changed) == ("change", ("content", "permissions"))
    assert notification.kind == "svc#changes"


@given(st.lists(st.tuples(st.sampled_from(deliveries.HEADERS), st.text(max_size=30))), st.binary(max_size=60))
def test_nothing_that_arrives_breaks_the_reader(headers, body):
    deliveries.read_notification(Headers([(NAMES.header(row.name), value) for row, value in headers]), body, NAMES)


@pytest.mark.spec("N-08", "N-08b")
@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.floats(0, 0.25))
def test_each_wait_is_longer_than_the_one_before_up_to_the_cap(chances, jitter):
    schedule = deliveries.Schedule(first=2.0, cap=60.0, jitter=jitter)
    waits = [schedule.wait(attempt, chance) for attempt, chance in enumerate(chances, start=1)]

    for attempt, (wait, following) in enumerate(pairwise(waits), start=1):
        assert (1 - jitter) * min(60.0, 2.0**attempt) <= wait <= min(60.0, 2.0**attempt)
        assert wait < following or wait == following == 60.0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FIELDS = ("id", "type", "address", "token", "expiration", "payload", "params")


@pytest.mark.spec("A8-02", "A8-02a", "A8-02b", "A8-03", "A8-04", "A8-04a", "A8-06")
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON | st.just("web_hook") | st.just("https://a.b/c"))))
def test_any_body_is_a_channel_or_a_400(body):
    try:
        channel, error = check_channel(body, now=0), None
    except ApiError as refused:
        channel, error = None, refused

    if error:
        assert error.status == 400
        assert {row.location for row in error.rows} <= set(FIELDS)
    else:
        assert host_of(channel.address)
        assert "\n" not in channel.id + (channel.token or "") + channel.address


@pytest.mark.parametrize(
    "address, host",
    [
        ("https://Example.COM/x", "example.com"),
        ("https://example.com.:443/", "example.com"),
        ("https://BÜCHER.example", "xn--bcher-kva.example"),
        ("https://[2001:DB8::1]:1/", "2001:db8::1"),
        ("https://a.b@c.d/", "c.d"),
    ],
)
def test_hosts_as_they_are_compared(address, host):
    assert host_of(address) == host
