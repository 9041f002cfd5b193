"""The names of the rows of docs/decisions.md whose decisions no setting can change.

The journal stores the reason for each response in `decided_by`. The reason is the id of a rule of the interface
("A3-10"), the name of a `Policy` field ("chunk_rule"), the step of a fault plan ("fault faults-1/0"), or one of these
names.
"""

from __future__ import annotations

ALL_OR_NOTHING = "A request whose sender goes away"
BIG_NUMBERS = "Whole numbers beyond 32 bits"
CALENDARS_OF_OTHERS = "Calendars of others"
CANCELLED = "An upload that is cancelled"
CHANGE_LOG = "A change log"
CONFERENCE_PARTS = "Conference data beyond createRequest"
CONTRADICTION = "A Content-Range that contradicts itself or the upload"
CONTROL = "Who may use the control interface"
CROSS_SITE = "Requests that pages of other sites send"
DAMAGED = "Stored content or a database that is damaged"
FAILED_EXPORT = "An export that fails for another reason"
FAMILY = "Operations that the interface names and does not show"
FINISHED = "A finished session"
FULL_DISK = "A disk that is full"
GADGET_DISPLAY = "How a gadget is displayed"
INSIDE = "What fails inside the service"
LENGTHS = "Content-Length beside Transfer-Encoding, or two lengths"
NO_LENGTH = "An upload that does not say how long its body is"
NEGATIVE_GUESTS = "A negative number of additional guests"
NEGATIVE_SEQUENCE = "A negative sequence"
NOWHERE = "An address or a method that nothing has"
OVERRIDES = "Overrides beside useDefault"
PROPERTY_VALUES = "Values of extended properties and gadget preferences"
REQUEST_ID = "A createRequest without a requestId"
ROOT = "Trashing, moving or deleting the root folder"
SCOPES_OF_CALENDARS = "Scopes for calendars"
SCOPES_OF_FILES = "Scopes for files"
SERVICE_ACCOUNTS = "Attendees of an event that a service account creates"
SERVICES_OWN = "Fields of a file that the service sets"
SHARING = "Sharing"
TOKENS = "Tokens, consent and the OpenAPI document"
TOTAL = "A status query that names another total"
WHO_TRASHES = "Who may trash"
UNREADABLE = "A parameter or a header that cannot be read"

FIELD = ""
"""A placeholder for the rule of the invalid field, parameter or header, which core/api/error_rules.py finds."""
