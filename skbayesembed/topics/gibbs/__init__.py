"""The Gibbs samplers of topics."""
