"""What Snakemake's report says of its files."""
