"""Word embeddings that drift over time."""
