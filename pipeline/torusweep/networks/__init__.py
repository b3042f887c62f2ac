"""Networks: a spelling is parsed to a plan, and a plan is built into arrays. Symmetries and pictures of networks."""
