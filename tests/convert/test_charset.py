"""Detection of character sets (A5-06)."""

from __future__ import annotations

import time

import pytest

from svc_notebooks.convert.input.charset import decode

pytestmark = pytest.mark.spec("A5-06", "A5-06a")

WESTERN = "Müller;Straße;naïve café;5 €\nGrüße;Élan;ça va\n"
POLISH = "Łódź;Kraków;żółć\nPříliš;žluťoučký;kůň\n"
RUSSIAN = "имя;фамилия;город\nИван;Петров;Москва\nМария;Смирнова;Казань\n"
JAPANESE = "名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n"
CHINESE = "姓名,年龄,城市\n张三,三十,北京\n李四,二十五,上海\n"
KOREAN = "이름,나이,도시\n김철수,30,서울\n"
GREEK = "Καλημέρα κόσμε\nόνομα,πόλη\nΓιώργος,Αθήνα\n"


@pytest.mark.parametrize(
    "text,charset",
    [
        (JAPANESE, "utf-8"),
        (JAPANESE, "utf-8-sig"),
        (JAPANESE, "utf-16"),
        (JAPANESE, "utf-16-le"),
        (WESTERN, "utf-16-be"),
        (WESTERN, "utf-32"),
        (WESTERN, "utf-32-le"),
        (WESTERN, "cp1252"),
        (POLISH, "cp1250"),
        (RUSSIAN, "cp1251"),
        (GREEK, "cp1253"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),
        (CHINESE, "gb18030"),
        (KOREAN, "cp949"),
    ],
)
def test_an_undeclared_charset_is_guessed(text, charset):
    assert decode(text.encode(charset)) == text


@pytest.mark.parametrize("charset", ["cp1250", "koi8-r", "mac_roman", "big5", "iso8859-15", "cp437", "utf-7"])
def test_a_declared_charset_is_used(charset):
    text = {"koi8-r": RUSSIAN, "big5": "姓名,城市\n張三,臺北\n", "utf-7": "plain"}.get(charset, "Müller,Straße\n")
    assert decode(text.encode(charset), charset) == text


@pytest.mark.parametrize("declared", ["utf-8", "ascii", "cp1253", "no such thing", "", "x" * 5000, "\0"])
def test_a_declared_charset_that_fails_is_ignored(declared):
    assert decode("naïve".encode("cp1252") + b"\xff\xaa\xd2", declared).startswith("na")


@pytest.mark.parametrize(
    "declared",
    ["zip", "bz2", "hex", "base64", "rot13", "uu", "quopri", "idna", "punycode", "unicode_escape", "undefined"],
)
def test_codecs_that_are_no_charsets_are_ignored(declared):
    assert decode(b"\\x41 na\xefve", declared) == "\\x41 naïve"


def test_utf_8_is_tried_before_the_declared_charset():
    assert decode("naïve".encode(), "cp1252") == "naïve"


def test_latin_1_is_read_as_browsers_do():
    assert decode(b"\x93quoted\x94", "iso-8859-1") == "“quoted”"


def test_zero_bytes_in_utf_8_are_not_utf_16():
    assert decode(b"one\0,two,three,four\n" * 20).startswith("one\0,two")


@pytest.mark.parametrize("source", [b"", b"\xff", b"\xff\xfe", b"\xfe\xffa", b"\x1b$B", bytes(range(256)) * 40])
def test_decoding_never_fails(source):
    assert isinstance(decode(source), str)


def test_ten_megabytes_are_read_at_once():
    began = time.process_time()
    text = decode(b"abc;def;1,5\r\n" * 800_000 + "Müller\n".encode("cp1252"))

    assert text.endswith("Müller\n")
    assert time.process_time() - began < 10
