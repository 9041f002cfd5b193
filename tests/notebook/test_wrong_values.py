from pathlib import Path

import pandas as pd
import pytest

import svc_notebooks as svc

SERIES = pd.Series(["a", "b"])
DAYS = pd.to_datetime(["2026-11-02", "2026-11-03"])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: svc.upload(b"", convert_to=SERIES), "convert_to must be a str or None, not Series"),
        (lambda: svc.upload(b"", metadata=DAYS[:1]), "metadata must be a dict of fields, not Timestamp"),
        (
            lambda: svc.create_event("Tea", start=DAYS, end="2026-11-04"),
            "start must be a date, a datetime, a Timestamp or a str, not DatetimeIndex",
        ),
        (lambda: svc.create_event("Tea", start=pd.NaT, end="2026-11-04"), "start is missing (NaT)"),
        (
            lambda: svc.events(time_zone=pd.NA),
            "time_zone must be a name such as 'Europe/Berlin' or a ZoneInfo, not NAType",
        ),
        (lambda: svc.open_sandbox(None), "path must be a str or a path, not NoneType"),
        (lambda: svc.open_sandbox(float("nan")), "path must be a str or a path, not float"),
        (lambda: svc.update_event("a", summary=Path("x")), "summary must be a str or None, not PosixPath"),
        (lambda: svc.sandbox(policy={"rate_limit": 3}), "policy must be a Policy or None, not dict"),
        (
            lambda: svc.upload({"a": [1]}),
            "source is a dict; give a path, bytes, or a file object, such as pandas.DataFrame(source)",
        ),
        (lambda: svc.sandbox(names=3), "names must be Names or None, not int"),
        (lambda: svc.download("a", overwrite=float("nan")), "overwrite must be True or False, not nan"),
        (
            lambda: svc.files(modified_after="1h"),
            "modified_after is '1h'; write 'in 1h' for a time from now, or '1h ago'",
        ),
        (lambda: svc.export("a", "doc"), "format is 'doc'; did you mean 'docx'?"),
        (
            lambda: svc.sandbox().sign_in("bob@svc.example", scopes=["readonly"]),
            "'readonly' is not a scope; did you mean 'storage.readonly' or 'calendar.readonly'?",
        ),
        (lambda: svc.upload("memory://none.csv"), "source 'memory://none.csv' does not exist or cannot be reached"),
        (lambda: svc.copy("1" * 33, ocr_language=pd.NA), "ocr_language must be a str or None, not NAType"),
    ],
)
def test_a_wrong_value_names_its_argument(lab, call, message):
    before = len(svc.exchanges())

    with pytest.raises((TypeError, ValueError, FileNotFoundError)) as raised:
        call()
    assert message in str(raised.value)
    assert len(svc.exchanges()) == before


def test_the_error_that_was_replaced_is_its_cause_and_a_defect_of_the_package_stays_as_it_is(lab, monkeypatch):
    with pytest.raises(TypeError) as raised:
        svc.upload(b"", convert_to=SERIES)
    assert "truth value" in str(raised.value.__cause__)

    def fail(*args, **kwargs):
        raise AttributeError("'NoneType' object has no attribute 'x'")

    monkeypatch.setattr("svc_notebooks.notebook.files.search.list_file_pages", fail)
    with pytest.raises(AttributeError, match="no attribute 'x'"):
        svc.files("name = 'a'", limit=3)
