"""A process that expands a calendar file with recurring-ical-events, in the environment of `make peers`.

`python recurring_peer.py FILE BEGIN END` prints a line of JSON for each line that it reads: the number of instances in
the window and the seconds of processor time that the expansion took.
"""

import json
import sys
from datetime import datetime
from pathlib import Path
from time import process_time

import icalendar
import recurring_ical_events

path, *window = sys.argv[1:]
calendar = recurring_ical_events.of(icalendar.Calendar.from_ical(Path(path).read_bytes()))
begin, end = map(datetime.fromisoformat, window)
for _ in sys.stdin:
    begun = process_time()
    count = len(calendar.between(begin, end))
    print(json.dumps({"count": count, "seconds": process_time() - begun}), flush=True)
