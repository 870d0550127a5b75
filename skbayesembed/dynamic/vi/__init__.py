"""Variational inference of drifting vectors."""
