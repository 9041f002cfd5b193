"""Handlers of events, and what all handlers of calendars need.

operations, quick_add: create, change, delete and move events; listing, page_budget: list events in pages.
calendars: finds calendars and the roles of users; event_messages: queues messages to notification channels.
event_request, conference: read a request, with its conference and attachments; resource: builds the event resource.
instances, kept_instances: compute and find the instances of recurring events; keep changed ones when a series moves.
rows, attendee_copies, guest_changes, invitations: store events; update guests' copies; changes by guests; e-mails.
"""
