"""Compare numbers printed in papers with our computed numbers, and draw the papers' figures."""
