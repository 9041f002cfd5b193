"""The client, which sends requests, repeats failed requests, resumes transfers and records every exchange."""
