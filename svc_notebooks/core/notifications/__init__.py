"""The rules of push notifications as plain values, without network access.

channels       states of a channel, and the checks of a watch request
messages, delivery_schedule    notification messages and their headers; the times of repeated attempts
"""
