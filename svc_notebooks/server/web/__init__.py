"""The HTML pages that people open in a browser.

browser_session.py             sign-in, sign-out and the session cookie
provider_sign_in.py            sign-in with JupyterHub
consent.py                     the OAuth consent page and the OAuth metadata
file_page.py, event_page.py    the pages of a file and of an event
live_page.py, activity.py      the live page and its data (live_page.html, live_page.css, live_page.js)
content_headers.py             the response headers for stored content that a browser displays
"""
