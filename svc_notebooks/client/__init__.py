"""The client asks: it sends core's requests, waits, resumes, and keeps a record of what was said.

http.py, direct.py     the ways to a service; the only files that know `requests`
session.py             one service, one token, one record of exchanges
calls.py, uploads.py, downloads.py     what a person asks for
"""
