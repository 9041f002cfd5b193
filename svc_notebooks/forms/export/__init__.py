"""The export form, which previews or saves an export."""
