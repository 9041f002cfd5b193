"""OAuth 2.0, with its clients, grants and access tokens.

clients, users: register OAuth clients and service accounts; create a user at the first sign-in.
token_endpoint: the endpoints /token, /tokeninfo and /revoke.
grants: exchange an authorization code, a refresh token or an assertion for an access token.
hub, hub_api, hub_settings: the users and the OAuth of JupyterHub.
"""
