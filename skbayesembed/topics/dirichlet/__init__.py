"""Topics whose words have Dirichlet priors that vectors shape: ``word_model="dirichlet"``."""
