"""What can be asked of vectors of words, and how answers with intervals are had."""
