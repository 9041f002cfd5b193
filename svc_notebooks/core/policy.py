"""The settings of a service for behaviour that the interface leaves open, with reasons in docs/decisions.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from .byte_counts import byte_count
from .errors.public_calls import public_methods
from .http.backoff import MAX_JITTER
from .http.origins import ANY, is_host_name, is_network, is_origin, is_path_prefix
from .notifications.deliveries import Schedule
from .oauth import ACCESS_LIFETIME
from .times import zone_names
from .uploads.transitions import LIFETIME, QUANTUM, UploadRule

MIB = 1024 * 1024


@public_methods
@dataclass(frozen=True, slots=True)
class Policy:
    """The settings of a service for behaviour that the interface leaves open. Sizes are in bytes, or texts such as
    "5 MB", and times in seconds.

    Args:
        extensions: False leaves out operations that the interface does not name, and batches.
        update_verbs: The methods that update a file.
        chunk_rule: Of a chunk that is no multiple of `chunk_quantum`, "floor" stores the largest one; "strict": 400.
        chunk_quantum: The bytes of which each chunk but the last is a multiple.
        session_lifetime: The seconds after its last request in which an upload session expires.
        session_uri_is_enough: True accepts requests to an upload session without a token.
        takeover_after: The seconds without a byte after which another request of an upload session replaces one.
        part_size: The bytes of a long body after which they are committed.
        max_upload_size: The most bytes of a file.
        max_metadata_size: The most bytes of a JSON body.
        body_timeout: The seconds without a byte that end the body of a request.
        head_timeout: The seconds in which the headers of a request must arrive.
        least_rate: The bytes per second that a peer must transfer on average.
        default_name: The name of a file without one.
        page_size, max_page_size: The files of a page, by default and at most.
        generated_ids, max_generated_ids: The ids of a request to generateIds, by default and at most.
        max_property_bytes: The most bytes of the key and the value of a property of a file.
        max_properties: The most properties of a file, of each kind.
        multi_range: A request for several ranges gets the "whole" content.
        import_formats: about.importFormats is a "map" or an "array".
        extended_formats: True adds the conversion of Markdown and another media type of OpenDocument spreadsheets.
        conversion_engine: "embedded" converts with libraries, "office" also with LibreOffice.
        conversion_seconds: The most seconds of a conversion.
        conversion_memory: The most bytes of memory of a conversion.
        max_waiting_conversions: The most conversions of a user that wait.
        max_pixels: The most pixels of a picture.
        max_pages: The most pages that are read from a PDF.
        max_cells, max_printed_cells: The most cells of a spreadsheet that are read, and that are printed to a PDF.
        export_limit: The most bytes of an export.
        storage_limit: The bytes that each user may store. None: no limit.
        channel_lifetime: The seconds after which a channel expires that asks for no time. None: never.
        max_file_channel_lifetime, max_changes_channel_lifetime: The most seconds of a channel.
        channel_types: The accepted types of channels: "web_hook", "webhook".
        change_state: The state of messages about changes: "change" or "changed".
        int64_as_string: True sends the expiration of a channel as a string.
        strict_page_token: True requires a pageToken in changes.watch.
        verified_domains: The domains to which messages may be sent from the start. "*" means all.
        delivery_attempts: The most attempts to deliver a message.
        first_retry, longest_retry: The seconds before the second attempt, which double each time, and the most seconds.
        retry_jitter: The part of these seconds that may be subtracted, from 0 to 0.25.
        delivery_timeout: The seconds after which an attempt has failed.
        connections_per_receiver: The most connections to one receiver.
        deliveries_length: The most attempts that `deliveries()` keeps.
        calendar_zone: The time zone of a new calendar.
        event_scopes, event_limits: "family" accepts further scopes, and limits the texts and lists of events.
        default_reminder: The minutes of the default reminder before an event.
        reminders: "reject" refuses wrong reminders, "clamp" changes them.
        missing_start: The error for an event without start: "clear", or "live" like the family's.
        conference: The outcome of a request for a conference.
        conference_types: The accepted types of conferences.
        open_links: False requires a token to open the link of an event.
        outbox_length: The most invitations that `outbox()` keeps.
        expansion_steps: The most steps that a request may spend on recurring events.
        series_horizon: The seconds of an endless series that a list without `time_max` has.
        auth_scope_base: The beginning of the scopes.
        domain, first_user: The domain of the users, and the address of the first one.
        api_keys: True lets an API key read what is shared with everyone.
        trust_forwarded, proxies: Whether headers of any proxy count; the addresses whose headers do.
        path_prefix: The path before that of the interface.
        host_names: Further names at which browsers find the pages of the service.
        allowed_origins: The origins of pages that may send requests. None: all, or those on this machine for a sandbox.
        token_lifetime, code_lifetime: The seconds after which an access token and an authorization code expire.
        assertion_audiences: Further audiences of assertions of service accounts.
        browser_sign_in: People sign in with a "token", or "choose" a user.
        live_page: False removes the live page of requests.
        fault_header: Who may cause faults by a header: True (with a token), "anyone" or False.
        fault_delay: A delay moves the "clock", or is real time ("sleep"). "auto": the latter over a socket.
        rate_limit: The units for requests about files of each user in a minute. A list costs 100 units, for example.
        calendar_rate_limit: The units for requests about calendars of each user in a minute.
        rate_costs: "requests" counts each request as one unit. "units" uses the costs of the family.
        rate_status: The status of a refusal by a rate limit.
        journal_length, journal_bytes: The most requests and bytes that the journal keeps.
        durability: Stored data survive the end of the "process", or a loss of "power". None: by the database.

    Raises ValueError if a setting has an invalid value. See docs/decisions.md#choices-of-the-service for the reasons.

    >>> Policy(chunk_rule="strict").upload_rule.strict
    True
    """

    # operations
    extensions: bool = True

    # uploads
    update_verbs: tuple[str, ...] = ("PUT", "PATCH")
    chunk_rule: Literal["floor", "strict"] = "floor"
    chunk_quantum: int = QUANTUM
    session_lifetime: float = LIFETIME
    session_uri_is_enough: bool = False
    takeover_after: float = 1.0
    part_size: int = 8 * MIB
    max_upload_size: int = 5_497_558_138_880
    max_metadata_size: int = 1 * MIB
    body_timeout: float = 60.0
    head_timeout: float = 30.0
    least_rate: float = 500.0

    # files
    default_name: str = "Untitled"
    page_size: int = 100
    max_page_size: int = 1000
    generated_ids: int = 10
    max_generated_ids: int = 1000
    max_property_bytes: int = 124
    max_properties: int = 100
    multi_range: Literal["whole"] = "whole"

    # conversion
    import_formats: Literal["map", "array"] = "map"
    extended_formats: bool = False
    conversion_engine: Literal["embedded", "office"] = "embedded"
    conversion_seconds: float = 60.0
    conversion_memory: int = 768 * MIB
    max_waiting_conversions: int = 8
    max_pixels: int = 64_000_000
    max_pages: int = 200
    max_cells: int = 5_000_000
    max_printed_cells: int = 20_000
    export_limit: int = 10 * MIB
    storage_limit: int | None = None

    # notifications
    channel_lifetime: float | None = 3600.0
    max_file_channel_lifetime: float = 86_400.0
    max_changes_channel_lifetime: float = 604_800.0
    channel_types: tuple[str, ...] = ("web_hook",)
    change_state: Literal["change", "changed"] = "change"
    int64_as_string: bool = False
    strict_page_token: bool = False
    verified_domains: tuple[str, ...] = ()
    delivery_attempts: int = 5
    first_retry: float = 1.0
    longest_retry: float = 32.0
    retry_jitter: float = MAX_JITTER
    delivery_timeout: float = 10.0
    connections_per_receiver: int = 32
    deliveries_length: int = 10_000

    # events
    calendar_zone: str = "UTC"
    event_scopes: Literal["interface", "family"] = "interface"
    event_limits: Literal["none", "family"] = "none"
    default_reminder: int = 10
    reminders: Literal["reject", "clamp"] = "reject"
    missing_start: Literal["clear", "live"] = "clear"
    conference: Literal["success", "pending-then-success", "failure"] = "success"
    conference_types: tuple[str, ...] = ("hangoutsMeet", "svcMeet")
    open_links: bool = True
    outbox_length: int = 10_000
    expansion_steps: int = 100_000
    series_horizon: float = 63_072_000.0

    # users, clients and tokens
    auth_scope_base: str = "https://svc.example/auth"
    domain: str = "svc.example"
    first_user: str = "ada@svc.example"
    api_keys: bool = False
    trust_forwarded: bool = False
    proxies: tuple[str, ...] = ()
    path_prefix: str = ""
    host_names: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] | None = None
    token_lifetime: float = ACCESS_LIFETIME
    code_lifetime: float = 600.0
    assertion_audiences: tuple[str, ...] = ("https://oauth2.googleapis.com/token",)
    browser_sign_in: Literal["token", "choose"] = "token"
    live_page: bool = True

    # faults and rate limits
    fault_header: bool | Literal["anyone"] = True
    fault_delay: Literal["auto", "clock", "sleep"] = "auto"
    rate_limit: int | None = None
    calendar_rate_limit: int | None = None
    rate_costs: Literal["units", "requests"] = "units"
    rate_status: Literal[403, 429] = 403

    # journal and durability
    journal_length: int = 10_000
    journal_bytes: int = 16 * MIB
    durability: Literal["process", "power"] | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _SIZES and isinstance(value, str):
                value = byte_count(value)
                object.__setattr__(self, field.name, value)
            if value is field.default:
                continue
            if wrong := _find_problem(field.name, value, field.default):
                raise ValueError(f"{field.name} is {value!r}; it must be {wrong}")

    @property
    def schedule(self) -> Schedule:
        """The number of delivery attempts for a notification, and the waiting times between the attempts."""
        return Schedule(self.delivery_attempts, self.first_retry, self.longest_retry, self.retry_jitter)

    @property
    def upload_rule(self) -> UploadRule:
        """The chunk size, session lifetime and strictness of the upload protocol."""
        return UploadRule(self.chunk_quantum, self.session_lifetime, self.chunk_rule == "strict")


# The settings that are numbers of bytes.
_SIZES = (
    *("chunk_quantum", "part_size", "max_upload_size", "max_metadata_size", "max_property_bytes", "conversion_memory"),
    *("export_limit", "storage_limit", "journal_bytes"),
)


def _choices(annotation: Any) -> tuple[str | int, ...]:
    """Return the values of a setting whose type is a Literal, or () for another type."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return (True, False, *_choices(get_args(annotation)[1])) if get_args(annotation)[:1] == (bool,) else ()


_CHOICES = {name: choices for name, hint in get_type_hints(Policy).items() if (choices := _choices(hint))}


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _is_text_tuple(value: object, is_valid: Callable[[str], bool] = bool) -> bool:
    return isinstance(value, tuple) and all(isinstance(text, str) and text and is_valid(text) for text in value)


# Validators for settings that allow more values than the default's type suggests, with texts for the error message.
_VALIDATORS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "channel_lifetime": (
        lambda value: value is None or (_is_number(value) and value > 0),
        "a number of seconds, or None",
    ),
    "channel_types": (
        lambda value: _is_text_tuple(value, {"web_hook", "webhook"}.__contains__) and bool(value),
        "a tuple of 'web_hook' and 'webhook'",
    ),
    "conference_types": (lambda value: _is_text_tuple(value) and bool(value), "a tuple of names, at least one"),
    "storage_limit": (
        lambda value: value is None or _is_count(value),
        "a number of bytes, such as 50_000_000 or '50 MB', or None",
    ),
    "calendar_zone": (lambda value: isinstance(value, str) and value in zone_names(), "an IANA time zone name"),
    "rate_limit": (lambda value: value is None or _is_count(value), "a whole number, 1 or more, or None"),
    "calendar_rate_limit": (lambda value: value is None or _is_count(value), "a whole number, 1 or more, or None"),
    "verified_domains": (_is_text_tuple, "a tuple of domains, or ('*',)"),
    "assertion_audiences": (_is_text_tuple, "a tuple of addresses, or ()"),
    "proxies": (
        lambda value: _is_text_tuple(value, is_network),
        "a tuple of IP addresses, or networks like '172.28.0.0/24', of proxies",
    ),
    "host_names": (
        lambda value: _is_text_tuple(value, lambda name: name == ANY or is_host_name(name)),
        "a tuple of host names without ports, or ('*',)",
    ),
    "allowed_origins": (
        lambda value: value is None or _is_text_tuple(value, lambda text: text == ANY or is_origin(text)),
        "a tuple of origins like 'https://app.example', or ('*',), or None",
    ),
    "path_prefix": (
        lambda value: isinstance(value, str) and (not value or is_path_prefix(value)),
        "a path like '/services/svc', or an empty text",
    ),
    "durability": (lambda value: value in (None, "process", "power"), "'process' or 'power', or None"),
    "retry_jitter": (lambda value: _is_number(value) and 0 <= value <= MAX_JITTER, f"a number from 0 to {MAX_JITTER}"),
}


def _find_problem(name: str, value: Any, default: object) -> str | None:
    """Return a description of the valid values of a setting, or None if `value` is valid."""
    if name in _CHOICES:
        return None if value in _CHOICES[name] else " or ".join(map(repr, _CHOICES[name]))
    if isinstance(default, bool):
        return None if isinstance(value, bool) else "True or False"
    if isinstance(default, int):
        return None if _is_count(value) else "a whole number, 1 or more"
    if name in _VALIDATORS:
        return None if _VALIDATORS[name][0](value) else _VALIDATORS[name][1]
    if isinstance(default, float):
        return None if _is_number(value) and value >= 0 else "a number of seconds"
    if isinstance(default, tuple):
        return None if isinstance(value, tuple) and set(value) <= set(default) else f"a tuple of {default}"
    return None if isinstance(value, str) and value else "a text"
