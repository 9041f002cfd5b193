"""Authentication rules as plain values, without network access.

oauth          errors of the OAuth endpoints, PKCE, redirect addresses
assertions     keys and signed assertions of service accounts
"""
