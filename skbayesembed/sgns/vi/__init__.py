"""Variational inference of word vectors."""
