"""The Gibbs sampler of drifting vectors."""
