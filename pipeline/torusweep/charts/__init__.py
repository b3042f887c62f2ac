"""Charts and pieces of a page, for the stages, the papers' figures and the results."""
