import io
import zipfile

import pytest

from svc_notebooks.convert.input.zip_file import OpcPackage, Relationship
from svc_notebooks.convert.job import ConversionError
from tests.convert import sources

_TYPES = "http://purl.oclc.org/ooxml/officeDocument/relationships"


RELATIONSHIPS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'


def opened(relationships: str, name: str = "xl/_rels/Book one.xml.rels") -> OpcPackage:
    files = {"XL\\Book one.xml": b"<x/>", name: RELATIONSHIPS.format(relationships)}
    return OpcPackage(zipfile.ZipFile(io.BytesIO(sources.zipped(files))))


def test_relationships_lead_to_parts_and_to_addresses() -> None:
    package = opened(
        f'<Relationship Id="a" Type="{_TYPES}/worksheet" Target="../sheets/my%20sheet.xml"/>'
        f'<Relationship Id="b" Type="{_TYPES}/theme" Target="/theme.xml"/>'
        f'<Relationship Id="c" Type="{_TYPES}/hyperlink" Target="https://x.org/%20" TargetMode="External"/>'
    )

    assert package.member("xl/book ONE.xml") == "XL\\Book one.xml"
    assert package.main_part() is None
    assert package.relationships("xl/Book one.xml") == {
        "a": Relationship("worksheet", "sheets/my sheet.xml"),
        "b": Relationship("theme", "theme.xml"),
        "c": Relationship("hyperlink", "https://x.org/%20", is_external=True),
    }


def test_a_package_without_its_main_part_names_none_and_damaged_relationships_are_named() -> None:
    for relationships in ("<", '<Relationship Id="a" Type="x/officeDocument" Target="none.xml"/>'):
        assert opened(relationships, "_rels/.rels").main_part() is None
    with pytest.raises(ConversionError, match=r"damaged at 'xl/_rels/Book one.xml.rels'"):
        opened("<").relationships("xl/Book one.xml")
