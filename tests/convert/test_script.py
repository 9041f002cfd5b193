import json
from dataclasses import replace

import pytest

from svc_notebooks.convert.job import ConversionError, TooLarge
from svc_notebooks.convert.script import ScriptFile, ScriptProject, read_json, read_text, write_json

pytestmark = pytest.mark.spec("A5-01")

_CODE = {"name": "Code", "type": "server_js", "source": "function f() {}\n"}
_MANIFEST = {"name": "appsscript", "type": "json", "source": '{"timeZone": "Europe/Berlin"}'}


def encoded(value) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.spec("A7-01", "A7-01a")
def test_a_project_keeps_all_its_fields(job):
    value = {"scriptId": "s1", "files": [{"id": "1", **_CODE}, {**_MANIFEST, "functionSet": {"values": []}}]}

    made = write_json(ScriptProject.unpack(read_json(encoded(value), job).pack()), job)

    assert json.loads(made) == value
    assert made.startswith(b'{\n  "scriptId": "s1",\n  "files": [')
    assert json.loads(write_json(ScriptProject(), job)) == {"files": []}


def test_plain_text_is_one_script(job):
    source = "\ufeffvar a = 'ü';\r\n".encode()

    assert read_text(source, job).files == (ScriptFile("Code", "server_js", "var a = 'ü';\n"),)
    assert read_text("var ü".encode("cp1252"), replace(job, charset="windows-1252")).files[0].source == "var ü"


@pytest.mark.parametrize("source", [b'{"a": 1}', b"[1, 2]", b'"text"', b"{}"])
def test_other_json_becomes_a_project_of_one_file(job, source):
    project = read_json(source, replace(job, name="settings.json"))

    assert project.files == (ScriptFile("settings", "json", source.decode()),)
    assert job.notes


@pytest.mark.spec("A5-02")
@pytest.mark.parametrize(
    "source, reason",
    [
        (b'{"files": [\n1,]}', "line 2, column [23]"), (b"", "line 1, column 1"), (b"NaN", "NaN"),
        (b"[1e999]", "is too large"), (b"[" + b"1" * 9_999 + b"]", "not valid JSON"),
        (encoded({"files": {}}), "expected a list"), (encoded({"scriptId": "1"}), "expected a list"),
        (encoded({"files": [1]}), r"files\[0\]: expected an object"),
        (encoded({"files": [{**_CODE, "type": "server"}]}), r"files\[0\].type: expected one of server_js, html, json"),
        (encoded({"files": [{**_CODE, "source": None}]}), r"files\[0\].source"),
        (encoded({"files": [{**_CODE, "name": ""}]}), r"files\[0\].name"),
        (encoded({"files": [_CODE, _CODE]}), "'Code' occurs more than once"),
    ],
)  # fmt: skip
def test_invalid_projects_are_refused_with_the_path(job, source, reason):
    with pytest.raises(ConversionError, match=reason):
        read_json(source, job)


@pytest.mark.parametrize(
    "source", [b"[" * 100_000, encoded({"files": [{**_CODE, "name": str(n)} for n in range(1_001)]})]
)
def test_too_deep_and_too_many_is_refused(job, source):
    with pytest.raises(TooLarge):
        read_json(source, job)
