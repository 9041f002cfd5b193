"""The brand names in headers, media types, paths, scopes and `kind` values, which differ between deployments."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors.public_calls import public_constructor
from .http.media_types import NATIVES, VENDOR_TYPES

# The base URL of a service that runs in this process and is called as a function.
IN_PROCESS_URL = "https://sandbox.svc.example"

# The short names of the media types with the brand's prefix.
NATIVE_NAMES = (*NATIVES, "folder", "shortcut")

# A media type with the prefix of any brand, or the beginning of one.
_BRANDED = re.compile(r"(application/)?vnd\.[\w.-]+-apps(\.(?P<name>.*))?")


@public_constructor
@dataclass(frozen=True, slots=True)
class Names:
    """The brand names in headers, media types, paths, scopes and `kind` values.

    `calendar_kind_prefix` is for deployments whose calendars have another prefix than their files (empty: the same).
    `update_method` is the method with which the client sends new content of a file, PUT or PATCH.

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
    calendar_kind_prefix: str = ""
    storage_scope: str = "storage"
    update_method: str = "PUT"

    def header(self, name: str) -> str:
        """Return the full name of a header with the brand's prefix."""
        return self.header_prefix + name

    def native(self, name: str) -> str:
        """Return the media type of a native document type (`document`, `spreadsheet`, `folder` ...)."""
        return self.media_prefix + name

    def is_native(self, media_type: str) -> bool:
        """Return whether a media type belongs to a native document or folder."""
        return media_type.startswith(self.media_prefix)

    def media_type(self, name: str) -> str:
        """Return the media type of a format of core/http/media_types.py. Vendor formats get the brand's prefix."""
        return self.native(name) if name in VENDOR_TYPES else name

    def full_media_type(self, text: str, argument: str = "mime_type") -> str:
        """Return the media type of a short name such as "folder", and any other media type unchanged.

        Raises ValueError, which names `argument` and the right media type, for the media type of another brand.

        >>> Names().full_media_type("folder"), Names().full_media_type("text/csv")
        ('application/vnd.svc-apps.folder', 'text/csv')
        """
        if text in NATIVE_NAMES:
            return self.native(text)
        if own := self.own_media_type(text):
            name = own.removeprefix(self.media_prefix)
            short = f"{name!r} or " if name in NATIVE_NAMES else ""
            raise ValueError(f"{argument} is {text!r}, a media type of another service; here it is {short}{own!r}")
        return text

    def own_media_type(self, text: str) -> str | None:
        """Return the media type, or its beginning, that stands for one of another brand. Return None for all others.

        >>> Names().own_media_type("application/vnd.other-apps.folder"), Names().own_media_type("text/csv")
        ('application/vnd.svc-apps.folder', None)
        """
        match = _BRANDED.fullmatch(text)
        own = self.media_prefix.rstrip(".").removeprefix("application/")
        if match is None or text.removeprefix("application/").startswith(own):
            return None
        return self.native(match["name"] or "")

    def media_type_problem(self, text: str) -> str | None:
        """Return the message of an error for the media type of another brand. Return None for all others."""
        own = self.own_media_type(text)
        return own and f"{text!r:.80} is a media type of another service; here it is {own!r:.80}."

    def kind(self, name: str) -> str:
        """Return the `kind` value of a resource, such as "svc#file"."""
        return f"{self.kind_prefix}#{name}"

    def calendar_kind(self, name: str) -> str:
        """Return the `kind` value of a calendar resource, such as "svc#event"."""
        return f"{self.calendar_kind_prefix or self.kind_prefix}#{name}"

    def scope(self, name: str) -> str:
        """Return the last segment of a scope, such as "drive.readonly" for "storage.readonly".

        >>> Names(storage_scope="drive").scope("storage.readonly"), Names(storage_scope="drive").scope("calendar")
        ('drive.readonly', 'calendar')
        """
        api, dot, rest = name.partition(".")
        return (self.storage_scope if api == "storage" else api) + dot + rest

    def path(self, *segments: str) -> str:
        """Return the path of a storage resource, such as "/storage/v3/files/abc"."""
        return "/".join(("", self.storage, "v3", *segments))

    def upload_path(self, *segments: str) -> str:
        """Return the upload path of a storage resource, such as "/upload/storage/v3/files"."""
        return "/upload" + self.path(*segments)

    def calendar_path(self, *segments: str) -> str:
        """Return the path of a calendar resource, such as "/calendar/v3/colors"."""
        return "/".join(("", self.calendar, "v3", *segments))


# The names of the Drive API v3 and the Calendar API v3, which stock clients use.
GOOGLE = Names(
    header_prefix="X-Goog-",
    media_prefix="application/vnd.google-apps.",
    storage="drive",
    kind_prefix="drive",
    calendar_kind_prefix="calendar",
    storage_scope="drive",
    update_method="PATCH",
)
