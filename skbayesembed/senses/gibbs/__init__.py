"""The Gibbs samplers of senses."""
