"""Handlers of calendars and events.

operations: create, change, delete and move events; listing, page_budget: list events in pages.
calendars, acl: calendars, the calendar list, colors and access rules.
event_request, conference: read a request, with its conference and attachments; resource: builds the event resource.
instances: computes and finds the instances of recurring events.
rows, attendee_copies, guest_changes, invitations: store events; update guests' copies; changes by guests; e-mails.
"""
