"""A call of `lab.faults()` is checked at once, and warns if it has no effect because of a missing with block."""

import pytest

import svc_notebooks as svc


@pytest.mark.parametrize(
    "steps, keywords, error, message",
    [
        (["lost reciept"], {}, ValueError, "'lost reciept' is not a fault preset; did you mean 'lost receipt'"),
        (["lost_receipt"], {}, ValueError, "did you mean 'lost receipt'"),
        (["timeout"], {}, ValueError, "'timeout' is not a fault preset; delay='20s' delays the response"),
        (["shoe"], {}, ValueError, "'shoe' is not a fault preset; the presets are 'flaky wifi', "),
        (["statsu=503"], {}, ValueError, "not statsu; did you mean status"),
        (["rate limit", "lost reciept"], {}, ValueError, "did you mean 'lost receipt'"),
        ([{"match": {"operation": "file.list"}, "action": {"status": 503}}], {}, ValueError, "did you mean files.list"),
        ([{"matches": {}, "action": {"status": 503}}], {}, ValueError, "not matches; did you mean match"),
        ([503], {}, TypeError, "takes names of presets, .* not int"),
        ([], {}, TypeError, r"faults\(\) needs a preset such as 'lost receipt', or a fault such as status=503"),
        ([], {"statsu": 503}, TypeError, r"faults\(\) has no argument 'statsu'; did you mean 'status'"),
        ([], {"operaton": "files.list", "status": 503}, TypeError, "'operaton'; did you mean 'operation'"),
        ([], {"operation": "file.list", "status": 503}, ValueError, "did you mean files.list"),
        ([], {"status": 999}, ValueError, "status must be a number from 200 to 599, not 999"),
        ([], {"reset": "afterwards"}, ValueError, "reset must be before or after, not 'afterwards'"),
        ([], {"delay": "2 days"}, ValueError, "delay must be a duration from 0 to 86400 seconds.*, not 172800"),
        ([], {"operation": "files.list"}, ValueError, "an action"),
        ([], {"status": 503, "times": 0}, ValueError, "times"),
        (["status=503"], {"times": 3}, TypeError, "times=3 needs a fault as keyword arguments, such as status=503, ti"),
    ],
    ids=str,
)
def test_an_invalid_fault_is_refused_at_once(lab, steps, keywords, error, message):
    with pytest.raises(error, match=message):
        lab.faults(*steps, **keywords)

    assert lab.fault_plans().empty


def test_a_dropped_block_warns_at_the_line_of_the_call(lab):
    with pytest.warns(UserWarning, match="lost receipt") as warned:
        lab.faults("lost receipt")

    call = "lab.faults('lost receipt')"
    advice = f"{call} does nothing by itself. Put requests into a block: with {call}: ..."
    assert [str(warning.message) for warning in warned] == [advice]
    assert warned[0].filename == __file__
    assert lab.fault_plans().empty


def test_a_block_may_be_kept_and_entered_again_and_again(lab):
    block = lab.faults("status=503", "rate limit")

    for _ in range(2):
        with block:
            assert svc.files().empty
            assert lab.fault_plans()["fired"].tolist() == [3, 1]
    with block, block:
        assert svc.files().empty
        assert len(lab.fault_plans()) == 4
    assert lab.fault_plans().empty
