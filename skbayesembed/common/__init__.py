"""What all estimators use and no model is known to: checks, memory, random numbers, warnings."""
