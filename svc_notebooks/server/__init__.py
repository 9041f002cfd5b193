"""The service, which turns a request into a response and keeps its state in a database and in blobs.

service.py                       Service, open_service: `handle(Request) -> Response`
transports/, dispatch/, web/     sockets, WSGI and the control API; routing and handlers; pages for people
auth/, context/                  tokens and OAuth; what each handler gets
files/, events/, notifications/  the operations on files, on calendar events, on notification channels
tables/, database/               the rows of each table; the SQLite database that keeps them
blobs/, storage/, state/         the bytes; data directory, clock and ids; snapshots, archives and forks
"""
