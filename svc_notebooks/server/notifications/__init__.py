"""Push notifications: channels, the outbox, and the delivery over HTTPS.

channels.py, domains.py                          watch and stop; the domains that may receive messages
push.py, delivery_service.py, delivery_worker.py    delivery of one service: its parts, its modes, its thread
delivery_queue.py, delivery_log.py               hands out due messages, records attempts
senders.py, connection_pool.py                   how a message is sent: in-process, or over HTTPS
connection.py, open_connection.py, trust_store.py   HTTP/1.1 to a receiver, DNS and TLS, trusted authorities
"""
