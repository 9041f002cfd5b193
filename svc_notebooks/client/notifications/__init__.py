"""Opens notification channels, and receives push notifications in the client.

channels: opens, stops and lists the notification channels of a session.
inbox, https_receiver: the received messages, and the HTTPS server that receives the messages.
"""
