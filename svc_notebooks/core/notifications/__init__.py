"""Push notifications as plain values.

channels       states of a channel, and the checks of a watch request
messages, delivery_schedule    a notification message and its headers; when it is sent again
"""
