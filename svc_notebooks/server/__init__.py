"""The service: a function from a request to a response, with its state in a database and in immutable parts.

handle(Request) -> Response       service.py
edges that carry it               wsgi.py (any WSGI server), socket.py (a server in this process)
what it remembers                 store/ (rows), parts.py (bytes)
"""
