"""The recorded HTTP exchanges, with views, exports, comparison and charts.

exchanges, exchange_view, http_text: the frame of all exchanges, the view of one, its HTTP text.
curl, har, sequence_diagram: an exchange as a curl command, as an HTTP archive, as a sequence diagram.
assert_exchanges, compare: expected exchanges, and the differences between two runs.
state_chart, upload_chart, svg: the charts of an upload, and the SVG and tables that charts are made of.
"""
