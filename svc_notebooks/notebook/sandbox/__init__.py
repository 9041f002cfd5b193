"""The sandbox, which is a whole service in this kernel, and the functions that start a notebook.

start: sandbox(), open_sandbox() and connect().
sandbox, controls, identities: the class Sandbox, its faults, limits and snapshots, its users and clients.
sandbox_numbers: the sandboxes that are open in this kernel.
certificates: certificates for receivers and servers on this machine.
"""
