"""The service, which turns a request into a response and keeps its state in a database and in blobs.

service.py                       Service, open_service: `handle(Request) -> Response`
request_pipeline.py, dispatch/   routing, caller, limits, faults, journal; what each handler gets
transports/, web/                sockets, WSGI and the control API; pages for people
files/, uploads/, calendars/,
notifications/, auth/            the operations on each resource, with the statements for its tables
store/                           the database, the contents, clock and ids; snapshots and archives
"""
