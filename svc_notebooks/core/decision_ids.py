"""The names of the rows of docs/decisions.md whose decisions no setting can change.

The journal field `decided_by` contains such a name, a rule id ("A3-10"), a `Policy` field ("chunk_rule") or a fault
plan step ("fault faults-1/0").
"""

from __future__ import annotations

BATCH = "Several requests in one batch"
BIG_NUMBERS = "Integers beyond 32 bits"
CALENDARS_OF_OTHERS = "Shared calendars"
CANCELLED = "A cancelled upload"
CHANGE_LOG = "The change log"
CODINGS = "Codings and digests of a request body"
CONFERENCE_PARTS = "Conference data beyond createRequest"
CONTRADICTION = "A contradictory Content-Range"
CLASS = "The accounts of a class"
CROSS_SITE = "Requests from pages of other origins"
FAILED_EXPORT = "An export that fails for another reason"
FAMILY = "Operations that the interface does not specify"
FINISHED = "A completed upload session"
GADGET_DISPLAY = "gadget.display"
INSIDE = "Internal errors"
LENGTHS = "Content-Length with Transfer-Encoding, or two lengths"
NO_LENGTH = "An upload without a length"
NEGATIVE_GUESTS = "A negative number of additional guests"
NEGATIVE_SEQUENCE = "A negative sequence"
NOWHERE = "Unknown paths and methods"
PROPERTY_VALUES = "Values of extended properties and gadget preferences"
QUOTAS = "Quotas of students"
RECEIVERS = "Receivers of students"
REQUEST_ID = "A createRequest without a requestId"
ROOT = "Trashing, moving or deleting the root folder"
SCOPES_OF_CALENDARS = "Scopes for calendars"
SCOPES_OF_FILES = "Scopes for files"
SHARING = "Sharing"
TOKENS = "Tokens, consent and the OpenAPI document"
TOTAL = "A status query with another total"
WHO_TRASHES = "Permission to trash"
UNREADABLE = "Invalid parameters and headers"

FIELD = ""
"""A placeholder for the rule of an invalid field, parameter or header, which core/api/error_rules.py finds."""
