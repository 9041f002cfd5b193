"""Files on this machine: what lies at a path, and how a new file takes a path without the loss of another."""
