from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from svc_notebooks.core.time_arguments import parse_duration


@pytest.mark.parametrize(
    "value, seconds",
    [
        (90, 90),
        (0.5, 0.5),
        (np.int64(90), 90),
        ("90", 90),
        (" 90s ", 90),
        ("500ms", 0.5),
        ("2m", 120),
        ("2 min", 120),
        ("7d", 604800),
        ("1w", 604800),
        ("1.5h", 5400),
        ("1 day", 86400),
        ("2 Hours", 7200),
        ("90 secs", 90),
        ("1h30m", 5400),
        ("1 day, 2 hours", 93600),
        ("P1DT1H", 90000),
        (timedelta(hours=1), 3600),
        (pd.Timedelta("1h"), 3600),
        (np.timedelta64(1, "h"), 3600),
        (np.timedelta64(10**9, "ns"), 1),
        (timedelta(seconds=-5), -5),
    ],
)
def test_every_form_is_read(value, seconds):
    assert parse_duration(value).total_seconds() == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "P",
        "PT",
        "-5s",
        "5 x",
        "1 month",
        "1M",
        "1 day soon",
        "day",
        "1 2 s",
        "٣d",
        float("nan"),
        np.timedelta64(1, "M"),
        np.timedelta64(1, "Y"),
    ],
)
def test_an_invalid_text_is_refused_in_one_sentence_with_examples(text):
    with pytest.raises(ValueError, match=r"^per must be a timedelta, .*\"1 day\".*\"PT1H\", not ") as refused:
        parse_duration(text, "per")

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", [None, True, [1]], ids=type)
def test_another_type_is_refused_by_its_name(value):
    with pytest.raises(TypeError, match=r"^per must be a timedelta, .*, not (NoneType|bool|list)$"):
        parse_duration(value, "per")
