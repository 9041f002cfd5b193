import pytest

from svc_notebooks.server.files.conversion import check_tag


@pytest.mark.spec("A5-03", "A5-03b")
@pytest.mark.parametrize(
    "tag", ["de", "en-US", "zh-Hant-TW", "sr-Latn", "es-419", "de-CH-1996", "zh-yue", "en-a-bbb-x-a-ccc", "deu"]
)
def test_a_tag_is_returned_in_its_usual_spelling(tag):
    assert check_tag(tag.lower()) == check_tag(tag) == tag
    assert (check_tag("iw"), check_tag("i-klingon")) == ("he", "tlh")


@pytest.mark.spec("A5-03", "A5-03b")
@pytest.mark.parametrize(
    "text",
    ["", "x", "english", "de_DE", "de-", "-de", "de--DE", "d€", "de DE", "qq", "qqq", "de-DE-a", "x-private", "de\n",
     "zh-Hant-TW-Hans", "a" * 500, "de-x", "12", "١٢"],
)  # fmt: skip
def test_an_invalid_language_tag_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        check_tag(text)
