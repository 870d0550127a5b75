"""The Gaussian at the mode of word vectors."""
