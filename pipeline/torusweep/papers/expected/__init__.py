"""The numbers printed in the papers, with a CSV file for each paper."""
