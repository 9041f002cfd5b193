"""Opens OpenDocument packages (zip files) and flat OpenDocument XML, and refuses encrypted files."""

from __future__ import annotations

import base64
import binascii
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from ...job import MIB, ConversionError, Job, TooLarge
from ..zip_file import check_markup, open_archive, refuse_entities
from .namespaces import name

_MAX_PART = 50 * MIB
_MANIFEST = "META-INF/manifest.xml"
_READ_PARTS = ("content.xml", "styles.xml", "meta.xml")
_DAMAGED = "the file is damaged: {0} is missing or broken."


@dataclass(frozen=True, slots=True)
class OdfPackage:
    """Reads the parts of an OpenDocument file as bytes or as XML."""

    archive: zipfile.ZipFile

    def data(self, path: str, otherwise: bytes | None = None) -> bytes:
        """Return a part, or `otherwise` if the part is missing. Raises ConversionError or TooLarge."""
        try:
            if self.archive.getinfo(path).file_size > _MAX_PART and path.endswith(".xml"):
                raise TooLarge(f"{path} has more than {_MAX_PART} bytes.")
            return self.archive.read(path)
        except KeyError:
            if otherwise is not None:
                return otherwise
            raise ConversionError(_DAMAGED.format(path)) from None
        except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError) as error:
            raise ConversionError(_DAMAGED.format(path)) from error

    def xml(self, path: str, otherwise: bytes | None = None) -> Any:
        """Return the root of an XML part, or of `otherwise` if the part is missing or empty.

        Raises ConversionError if the part is not XML, or if a required part is missing, and TooLarge above a limit.
        """
        from lxml import etree

        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True, collect_ids=False
        )
        try:
            root = etree.fromstring(self.data(path, otherwise).lstrip() or otherwise or b"", parser)
        except etree.XMLSyntaxError as error:
            raise ConversionError(_DAMAGED.format(path)) from error
        refuse_entities(root)
        return root

    def embedded(self, element: Any) -> Any:
        """Return the root of the object that a `draw:object` contains or names, or `<none/>` if it cannot be read."""
        path = element.get(name("xlink:href"), "").removeprefix("./").strip("/")
        try:
            return element[0] if len(element) else self.xml(f"{path}/content.xml", b"<none/>")
        except ConversionError:
            return self.xml("", b"<none/>")

    def picture(self, image: Any) -> tuple[str, bytes]:
        """Return a name and the content of the picture of an image element. The content is b"" if it is missing."""
        path = image.get(name("xlink:href"), "").removeprefix("./")
        data = self.data(path, b"") if path and ":" not in path else b""
        inline = image.find(name("office:binary-data"))
        if not data and inline is not None:
            with suppress(binascii.Error, ValueError):
                path, data = f"inline {id(image)}", base64.b64decode(inline.text or "")
        return path, data


@contextmanager
def open_package(source: bytes, job: Job) -> Iterator[OdfPackage]:
    """Open an OpenDocument file, which may be a template or flat XML.

    Raises ConversionError if the file is encrypted, damaged or not OpenDocument, and TooLarge above a limit.
    """
    with open_archive(_zipped(source), job.limits, checks_markup=False) as archive:
        package = OdfPackage(archive)
        if b"encryption-data" in package.data(_MANIFEST, b""):
            raise ConversionError("the file is encrypted; save the file without a password.")
        if "content.xml" not in archive.namelist():
            raise ConversionError("the file does not match its media type: content.xml is missing.")
        for entry in archive.infolist():
            if entry.filename in _READ_PARTS:
                check_markup(archive, entry)
        yield package


def _zipped(source: bytes) -> bytes:
    """Return flat OpenDocument XML as a zip file, in which the same XML is content, styles and metadata."""
    if not source[:4096].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").startswith(b"<"):
        return source
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for path in _READ_PARTS:
            archive.writestr(path, source)
    return target.getvalue()
