"""HTTP messages, the values of their headers, and media types."""
