"""Opens OpenDocument files, and resolves their styles."""
