"""The rules of push notifications as plain values: channels, messages and the times of repeated attempts."""
