"""A person's own measurements become a scenario."""
