"""The notebook functions for push notifications."""
