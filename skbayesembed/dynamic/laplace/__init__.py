"""The Gaussian at the mode of drifting vectors."""
