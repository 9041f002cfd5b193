"""The rules of the interface as plain values, without sockets, clocks, random numbers and pandas.

The client and the service both import this package, so that they apply the same rules for ranges, errors and uploads.

resources                  the types of files, events and the other resources
http, api, errors          messages, headers and media types; operations and their schemas; the error catalogue
files, events, uploads     fields, checks and queries of files; events and recurrence; the upload protocol
auth, notifications, faults            OAuth and assertions; channels and messages; fault plans
thread_permit              lets other requests run while a thread waits
policy, brand_names, platform    settings of a service, its brand names; threads, processes and temporary folders
"""
