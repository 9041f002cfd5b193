"""What each request meets before and after its handler: parameters and bodies, caller, limits, faults, journal."""
