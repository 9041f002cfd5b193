"""The operations of the interface, their parameters and their OpenAPI description."""
