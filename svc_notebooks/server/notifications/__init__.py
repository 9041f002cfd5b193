"""Push notifications: channels, the message queue, and the delivery over HTTPS."""
