"""Push notifications as plain values.

channels       states of a channel, and the checks of a watch request
messages       a notification message and its headers
"""
