"""Push notifications, with their channels, the message queue, and the delivery over HTTPS.

watch_requests.py, domains.py: watch and stop requests; the domains that may receive messages.
push.py: the deliveries of one service, which run in the thread of delivery_worker.py or in the calling thread.
delivery_queue.py: returns the messages that are due and records the delivery attempts.
https_sender.py: sends messages over HTTPS, on connections that are kept open for each host.
receiver_connection.py, open_connection.py, trust_store.py: HTTP/1.1 on a connection; DNS and TLS; trusted certificates.
"""
