"""Handlers of calendars and events.

operations, updates: insert, import, get, patch, update, delete and move events; listing and page_budget: list them.
calendars, acl: calendars, the calendar list, colors and access rules.
body, query_parameters, conference: read a request: the event's fields, its parameters, conferences and attachments.
resource, instances: build the response; compute and find the instances of recurring events.
attendee_copies, guest_changes, invitations: copies in the guests' calendars, changes by guests, invitation messages.
rows: store a changed event and update its copies.
"""
