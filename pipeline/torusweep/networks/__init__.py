"""Networks: from a spelling to a plan, from a plan to arrays, with symmetries and pictures."""
