"""Downloads content, and exports native documents to other formats."""
