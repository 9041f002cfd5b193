"""Calendar events: fields, times, recurrence and checks.

fields, types, validation, conference      the table of fields and the checks of an event
times, rfc5545_times                       event times, and the date formats of RFC 5545
rrule, rrule_times, rrule_days, rrule_clock    recurrence rules: read, and expanded into times
instances, plain_words                     the instances of a series; recurrence written in English
calendars                                  access roles, and the checks of a calendar
"""
