"""Engines of inference that know no model: they work on what `contracts` asks a model to offer."""
