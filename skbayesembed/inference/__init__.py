"""Engines of inference that know no model."""
