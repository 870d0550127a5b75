"""Intervals of drifting vectors that know how the text of every period was sampled."""
