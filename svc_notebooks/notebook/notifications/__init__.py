"""The functions for push notifications.

channels, channel_request: open, list, stop and renew notification channels, and check the arguments.
receiver, open_receiver: a receiver with its messages, and the receivers of each session.
messages, message_view: the frames of notifications and changes, and a message as HTML.
delivery_timeline: the chart of the delivery attempts.
"""
