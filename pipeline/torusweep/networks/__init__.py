"""Parse spellings of networks into plans, build arrays from plans, find symmetries, and draw pictures."""
