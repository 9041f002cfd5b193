"""The transports of the service: a socket server, WSGI, the control API and the live page."""
