"""The documents: what they show is true, and the site is made of them."""
