"""The Gibbs sampler of word vectors."""
