"""Samplers kept only to reproduce published ones; slower than those of the room."""
