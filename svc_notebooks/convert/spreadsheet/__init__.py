"""Native spreadsheets: sheets of sparse cells."""
