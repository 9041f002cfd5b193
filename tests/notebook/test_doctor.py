import pytest

import svc_notebooks as svc
from svc_notebooks.convert.engines import available, typst
from svc_notebooks.convert.engines.available import Engine
from svc_notebooks.notebook import doctor as module


def findings():
    return svc.doctor().set_index("check")


def test_without_a_session_nothing_is_sent_and_the_way_is_told():
    assert findings().loc["session"].tolist() == ["none yet", "call sandbox() or connect()", "note"]


def test_a_sandbox_answers(lab):
    assert findings().loc["service", "status"] == "ok"
    assert len(svc.exchanges()) == 1


def test_a_service_that_refuses_is_a_problem_with_its_reason(lab):
    stranger = svc.Session("https://sandbox.svc.example", "wrong", handler=lab.service.handle)

    row = svc.doctor(session=stranger).set_index("check").loc["service"]

    assert (row["found"], row["status"]) == ("NotSignedIn", "problem")
    assert "wrong" not in row["fix"]


def test_a_missing_package_names_its_fix(monkeypatch):
    def version(name: str) -> str:
        if name == "pyarrow":
            raise module.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(module, "version", version)

    row = findings().loc["pyarrow"]

    assert row["status"] == "note"
    assert "pip install" in row["fix"]


@pytest.mark.parametrize("writable, status", [(True, "ok"), (False, "problem")])
def test_a_journal_that_cannot_be_written_is_a_problem(tmp_path, monkeypatch, writable, status):
    monkeypatch.setattr(module.os, "access", lambda path, mode: writable)
    with svc.sandbox(tmp_path / "world"):
        assert findings().loc["pending uploads", "status"] == status


def test_the_engines_of_conversion_are_listed_and_a_missing_one_names_its_fix(monkeypatch):
    gone = Engine("LibreOffice", lambda: False, "apt-get install libreoffice")
    monkeypatch.setattr(available, "ENGINES", (available.TYPST, gone))

    rows = findings()

    assert rows.loc["typst"].tolist() == ["found", "", "ok"]
    assert rows.loc["LibreOffice"].tolist() == ["missing", "apt-get install libreoffice", "note"]


def test_scripts_without_a_font_are_named_with_the_package_that_has_one(monkeypatch):
    everything = dict.fromkeys((script.name for script in typst.SCRIPTS), "Some Font")
    monkeypatch.setattr(typst, "script_report", lambda: list({**everything, "Thai": None, "Han": None}.items()))

    row = findings().loc["scripts in PDFs"]

    assert row["found"] == "no font for Thai, Han"
    assert row["fix"] == "apt-get install fonts-noto-core fonts-noto-cjk"
