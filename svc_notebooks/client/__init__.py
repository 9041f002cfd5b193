"""The client, which sends requests, repeats failed requests, resumes transfers and records every exchange.

session, credentials        requests to one service with one access token
service_account             access tokens of service accounts
files, about                JSON calls on files and permissions, and the import and export formats of a service
transport                   HTTP and in-process transports, retries, the record of exchanges
uploads, downloads          uploads and downloads of content
upload_journal, file_lock   the journal of unfinished uploads and its locks
events, notifications       calendar calls, iCalendar files, notification channels and receivers
"""
