"""Topics as Gaussians over word vectors: `GaussianLDA`."""
