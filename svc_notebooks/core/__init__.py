"""What the interface says, as plain values: no sockets, no clock, no randomness, no pandas.

Both sides of the wire import from here and neither owns it.
That is why the client and the service cannot disagree about a range, an error or the resumable upload.
"""
