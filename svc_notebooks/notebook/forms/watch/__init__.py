"""The panel for push notifications.

panel: opens, renews and stops channels, and shows their messages.
controls, expiration: the controls of a channel, and when it expires.
"""
