"""Numbers printed in papers, their comparison with our computed numbers, and the papers' figures."""
