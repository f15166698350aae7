"""Results of nodes, kept for the next run with the same input."""
