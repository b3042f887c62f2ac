"""What `import torusweep` offers: objects that print themselves, and show themselves in notebooks."""
