"""Cost models, each a YAML file."""
