"""What `import torusweep as ts` offers: networks with methods, and results that print and draw themselves."""
