"""What `import torusweep as ts` offers: networks with their methods, results that print and draw themselves."""
