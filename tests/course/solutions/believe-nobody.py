import hmac

tokens = dict(zip(given.channels, given.tokens, strict=True))


def handle(headers):
    """Return 200 for a genuine message, and 403 for every other message."""
    expected = tokens.get(headers.get("X-Svc-Channel-ID"))
    token = headers.get("X-Svc-Channel-Token")
    if expected is None or token is None:
        return 403
    return 200 if hmac.compare_digest(token, expected) else 403


given.deliver_to(handle)
