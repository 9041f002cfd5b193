"""OAuth 2.0: clients, grants, access tokens, accounts and SQL; JupyterHub as sign-in provider."""
