import pytest

from svc_notebooks.server.files.content import check_tag


@pytest.mark.spec("A5-03", "A5-03b")
@pytest.mark.parametrize(
    "text,expected",
    [
        ("de", "de"),
        ("EN-us", "en-US"),
        ("zh-hant-tw", "zh-Hant-TW"),
        ("sr-Latn", "sr-Latn"),
        ("es-419", "es-419"),
        ("de-CH-1996", "de-CH-1996"),
        ("zh-yue", "zh-yue"),
        ("en-a-bbb-x-a-ccc", "en-a-bbb-x-a-ccc"),
        ("deu", "deu"),
        ("iw", "he"),
        ("i-klingon", "tlh"),
    ],
)
def test_a_tag_is_returned_in_its_usual_spelling(text, expected):
    assert check_tag(text) == expected


@pytest.mark.spec("A5-03", "A5-03b")
@pytest.mark.parametrize(
    "text",
    ["", "x", "english", "de_DE", "de-", "-de", "de--DE", "d€", "de DE", "qq", "qqq", "de-DE-a", "x-private", "de\n",
     "zh-Hant-TW-Hans", "a" * 500, "de-x", "12", "١٢"],
)  # fmt: skip
def test_an_invalid_language_tag_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        check_tag(text)
