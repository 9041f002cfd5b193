"""The transports of the service, which are a socket server, WSGI, the control API and pages.

socket_server.py                         the server on a socket and its threads
client_connection.py, connection_queue.py    a client connection; the queue of connections that wait for a thread
request_reader.py, http1.py              reads request bytes; parses and writes HTTP/1.1 heads and bodies
wsgi.py, tls.py, transfer_rate.py        WSGI; TLS handshakes; limits for slow clients
control_api.py                           the control API, /_control
health.py, metrics.py, request_log.py    /healthz, /readyz and /metrics; a log line for each request
live_page.py                             the live page at / and the check of who may see it
"""
