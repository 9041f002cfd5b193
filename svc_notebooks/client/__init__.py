"""The client, which sends requests, retries them, resumes transfers and records every exchange.

session, credentials       one service, one token, one record of exchanges
service_account            tokens of service accounts
files, about               JSON calls on files and permissions, and what the service can convert
transport                  HTTP and in-process transports, retries, the record of exchanges
uploads, downloads         content to and from the service; upload_journal, file_lock for unfinished uploads
events, notifications      calendar calls and iCalendar files; channels and receivers
"""
