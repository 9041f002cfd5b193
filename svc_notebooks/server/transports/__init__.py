"""The ways in which requests reach the service: a socket server, WSGI, and the control API.

socket_server.py, cheroot_server.py, thread_pool.py    the server on a socket, cheroot's part of it, its threads
http1.py, request_head.py                          HTTP/1.1 framing, bodies and heads
idle_connections.py, connection_queue.py           connections without a thread, and their order
tls.py, transfer_rate.py, bind_error.py            TLS, slow peers, addresses that cannot be used
wsgi.py                                            the service under any WSGI server
control_api.py                                     the control interface, /_control
"""
