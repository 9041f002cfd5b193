"""Views, exports, comparisons and charts of recorded HTTP exchanges.

exchanges, exchange_view, http_text: the DataFrame of all exchanges, the view of an exchange, an exchange as HTTP text.
curl, har, sequence_diagram: an exchange as a curl command, exchanges as an HTTP archive and as a sequence diagram.
assert_exchanges, compare: check for expected exchanges, and the differences between two runs.
state_chart, upload_chart, svg: the charts of an upload, and functions that build SVG images and HTML tables.
"""
