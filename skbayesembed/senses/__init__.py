"""`DiSCSenseModel`: senses of a target word over time and genre."""
