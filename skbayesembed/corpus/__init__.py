"""From documents, times and count matrices to the numbers that models read."""
