"""What each request meets before and after its handler: routing, caller, limits, faults, journal."""
