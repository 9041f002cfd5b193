"""Views, exports, comparisons and charts of recorded HTTP exchanges."""
