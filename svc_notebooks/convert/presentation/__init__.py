"""Native presentations: slides of shapes."""
