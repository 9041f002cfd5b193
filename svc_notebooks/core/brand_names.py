"""The brand names of a deployment, in one value, for both sides of the wire.

The interface writes `svc` wherever a brand would stand: a header prefix, a vendor prefix of media types,
a path segment and a prefix of `kind` values. A deployment of the same family under another name is one
`Names` away.
"""

from __future__ import annotations

from dataclasses import dataclass

from .http.native_formats import VENDOR_TYPES

NOWHERE = "https://sandbox.svc.example"
"""Where a service in this process is said to be; nothing listens there, it is called as a function."""


@dataclass(frozen=True, slots=True)
class Names:
    """Where the brand stands on the wire.

    >>> Names().header("Channel-ID"), Names().native("document"), Names().kind("file")
    ('X-Svc-Channel-ID', 'application/vnd.svc-apps.document', 'svc#file')
    >>> Names(storage="drive").path("files", "abc")
    '/drive/v3/files/abc'
    """

    header_prefix: str = "X-Svc-"
    media_prefix: str = "application/vnd.svc-apps."
    storage: str = "storage"
    kind_prefix: str = "svc"
    calendar: str = "calendar"

    def header(self, name: str) -> str:
        """The full name of a header of the family."""
        return self.header_prefix + name

    def native(self, name: str) -> str:
        """The media type of a native document type (`document`, `spreadsheet`, `folder` ...)."""
        return self.media_prefix + name

    def is_native(self, media_type: str) -> bool:
        """Whether a media type is one of the family's own."""
        return media_type.startswith(self.media_prefix)

    def media_type(self, name: str) -> str:
        """The media type of a format of core/http/native_formats.py, some of which carry the brand."""
        return self.native(name) if name in VENDOR_TYPES else name

    def kind(self, name: str) -> str:
        """The `kind` value of a resource."""
        return f"{self.kind_prefix}#{name}"

    def path(self, *segments: str) -> str:
        """The metadata path of a storage resource."""
        return "/".join(("", self.storage, "v3", *segments))

    def upload_path(self, *segments: str) -> str:
        """The media path of a storage resource: the metadata path under `/upload`."""
        return "/upload" + self.path(*segments)

    def calendar_path(self, *segments: str) -> str:
        """The path of a calendar resource."""
        return "/".join(("", self.calendar, "v3", *segments))
