from datetime import timedelta

import pytest

import svc_notebooks as svc

DAY = 86_400


def token_lifetime(lab, value):
    session = lab.sign_in("bob@svc.example", expires_in=value)
    return (svc.token_info(session=session)["expires"].item() - lab.clock.now()).total_seconds()


def channel_lifetime(lab, value):
    channel = svc.watch_changes(svc.receiver(direct=True), expires_in=value)
    return (channel["expiration"].item() - lab.clock.now()).total_seconds()


def clock_step(lab, value):
    before = lab.clock.now()
    return (lab.clock.advance(value) - before).total_seconds()


def rate_limit_window(lab, value):
    return lab.limit(requests=1, per=value)["per"].item()


def fault_delay(lab, value):
    before = lab.clock.now()
    with lab.faults(delay=value):
        svc.about()
    return (lab.clock.now() - before).total_seconds()


def own_fault_delay(lab, value):
    before = lab.clock.now()
    with lab.faults({"action": {"delay": value}}):
        svc.about()
        assert lab.fault_plans()["does"].tolist() == ["delays the response by 86400 seconds"]
    return (lab.clock.now() - before).total_seconds()


READERS = [token_lifetime, channel_lifetime, clock_step, rate_limit_window, fault_delay, own_fault_delay]


@pytest.mark.parametrize("value", ["1 day", "24h", "PT24H", DAY, timedelta(days=1)], ids=str)
@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
def test_a_duration_is_read_in_every_form(lab, read, value):
    assert read(lab, value) == DAY


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
def test_an_invalid_duration_is_refused_with_examples(lab, read):
    before = lab.clock.now()
    with pytest.raises(ValueError, match=r'must be a timedelta, .* such as "1 day", .* not \'tomorrow\'$'):
        read(lab, "tomorrow")

    assert lab.clock.now() == before


def test_a_receiver_waits_for_a_duration_as_a_text(lab):
    rx = svc.receiver(direct=True)
    rx.answer_with(200, delay="0 s")
    with pytest.raises(TimeoutError, match=r"waited 0\.001 seconds"):
        rx.wait_for(timeout="1ms")
    with pytest.raises(ValueError, match="timeout is '2 days'; it must be a duration from 0 to 3600 seconds"):
        rx.wait_for(timeout="2 days")


@pytest.mark.parametrize("value, minutes", [(10, 10), ("90 min", 90), ("1 day", 1440), (timedelta(hours=2), 120)])
def test_a_reminder_is_minutes_or_a_duration(lab, value, minutes):
    event = svc.create_event("Tea", start="2026-11-02", reminders=[value, ("email", value)])

    overrides = svc.event(event)["reminders"].item()["overrides"]
    assert [reminder["minutes"] for reminder in overrides] == [minutes, minutes]
    for wrong in ("soon", "90s", "10"):
        with pytest.raises(ValueError, match=f"reminders has '{wrong}'; give minutes before the start"):
            svc.create_event("Tea", start="2026-11-02", reminders=[wrong])
