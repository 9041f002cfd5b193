"""The sandbox, which is a complete service in this kernel, and the functions that open a session."""
