"""Push notifications on the side of the client.

channels: opens, stops and lists a session's channels.
inbox, https_receiver: the received messages, and the HTTPS server that receives them.
"""
