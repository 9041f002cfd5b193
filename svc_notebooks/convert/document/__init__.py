"""Native documents: pandoc's tree and its pictures."""
