"""The faults that a service injects into its responses for tests and lessons.

plan           the steps of a fault plan: which requests match, and what happens to them
presets        named fault plans
"""
