"""A sweep: from its configuration to its points, their cost, batches and derived tables."""
