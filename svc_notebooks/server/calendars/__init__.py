"""Handlers of calendars, which use those of events.

operations, acl: calendars, their access rules, and colors.
calendar_list, settings: one user's own settings of calendars.
free_busy: tells when the owners of calendars are busy.
watches: notification channels for the events of a calendar and for a user's list.
"""
