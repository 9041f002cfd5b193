"""The resumable upload protocol as state machines, without I/O.

states                                        the transition table that both sides use
client_state_machine, server_state_machine    the client's half and the service's half
"""
