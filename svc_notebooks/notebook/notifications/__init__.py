"""The notebook functions for push notifications.

channels: open, list, stop and renew notification channels, and check the arguments.
receiver, open_receiver: a receiver with its messages, and the receivers of each session.
messages: notifications and file changes as DataFrames.
delivery_timeline: the chart of the attempts to deliver each message.
"""
