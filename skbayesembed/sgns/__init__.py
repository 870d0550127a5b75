"""Skip-gram models with negative samples."""
