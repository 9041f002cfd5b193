"""The parts of contents in a bucket of S3."""
