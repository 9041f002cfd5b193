"""Push notifications on the client's side.

channels                   opens, stops and lists a session's channels
inbox, https_receiver      the received messages, and the HTTPS server that receives them
"""
