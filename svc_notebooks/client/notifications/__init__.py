"""Opens notification channels, and receives push notifications in the client."""
