"""Elementwise functions and small matrix kernels."""
