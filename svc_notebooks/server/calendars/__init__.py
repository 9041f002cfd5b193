"""Calendars and events: handlers, access rules, recurrence, invitations and SQL."""
