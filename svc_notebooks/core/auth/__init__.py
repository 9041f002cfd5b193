"""Authentication as plain values.

oauth          errors of the OAuth endpoints, PKCE, redirect addresses
assertions     keys and signed assertions of service accounts
"""
