"""The papers' numbers, a CSV file each."""
