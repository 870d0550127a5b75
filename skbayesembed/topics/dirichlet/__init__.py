"""Topics whose words have a Dirichlet prior that their vectors shape: ``word_model="dirichlet"``."""
