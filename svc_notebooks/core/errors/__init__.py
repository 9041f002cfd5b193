"""Errors of the service and of the client: the catalogue of all errors, and the exceptions that users see."""
