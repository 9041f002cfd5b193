"""The sandbox, which is a complete service in this kernel, and the functions that open a session.

start: sandbox(), open_sandbox() and connect().
sandbox, controls, identities: the class Sandbox, its faults, limits and snapshots, its users and OAuth clients.
sandbox_numbers: the registry of the sandboxes that are open in this kernel.
certificates: TLS certificates for receivers and servers on this machine.
"""
