"""The environment variables that the exercises of a submission read."""

GRADER, KEY, SEED = "SVC_COURSE_JUDGE", "SVC_COURSE_KEY", "SVC_COURSE_SEED"
"""The environment variables for the address of the grading service, its key, and the seed of the exercises' data."""
