"""The HTML pages that people open in a browser."""
