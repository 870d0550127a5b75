"""Intervals that know how the text was sampled: documents, speakers, works as units."""
