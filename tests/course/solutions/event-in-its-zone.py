import pandas as pd

start = pd.Timestamp(f"{given.day} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=given.minutes), time_zone=given.zone)
