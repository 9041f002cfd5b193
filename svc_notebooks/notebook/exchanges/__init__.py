"""Views, exports, comparisons and charts of recorded HTTP exchanges.

exchanges, exchange_view: the DataFrame of all exchanges, their view and diagram.
resend: a request that is sent again with changes.
curl, python_requests, recorded_body: an exchange as a curl command and as Python code, its body, its HTTP text.
har: exchanges as an HTTP archive.
assert_exchanges, compare: check for expected exchanges, and the differences between two runs.
state_chart, upload_chart, svg: the charts of an upload, and functions that build SVG images and HTML tables.
"""
