import pandas as pd

start = pd.Timestamp(f"{given.first} {given.time}")
seminar = svc.create_event(
    given.summary,
    start=start,
    end=start + pd.Timedelta(minutes=90),
    time_zone=given.zone,
    recurrence=f"weekly on {given.weekday} until {given.last} except {given.free}",
)
svc.instances(seminar)[["start", "status"]]
