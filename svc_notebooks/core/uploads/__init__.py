"""The resumable upload protocol, without I/O.

states                             the transition table that both sides use
client_machine, server_session     the client's half and the service's half
"""
