"""The sandbox: a whole service in this kernel, and how a notebook starts.

start: sandbox(), open_sandbox() and connect().
sandbox, controls, identities: the class Sandbox, its faults, limits and snapshots, its users and clients.
sandbox_numbers: the sandboxes that are open in this kernel.
certificates: certificates for receivers and servers on this machine.
"""
