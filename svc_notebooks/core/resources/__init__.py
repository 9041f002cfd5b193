"""The TypedDict types of the interface's resources and lists of resources.

files, events, calendars, errors     the storage interface, events, calendars, and error and token responses

No field is required, because a `fields` mask may leave out any field. The names are those of the schemas in
docs/openapi.json, except ChannelResource, ErrorResponse and OAuthErrorResponse; tests/unit/core/test_resources.py
compares every type with its schema.
"""
