"""Coordinates in which the posterior of senses is about round."""
