"""Variational inference of topics."""
