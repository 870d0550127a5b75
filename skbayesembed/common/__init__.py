"""What every estimator uses and what knows no model: checks, memory, random numbers, the spine."""
