"""`python -m torusweep` does what `torusweep` does."""

from torusweep.cli import main

if __name__ == "__main__":
    main()
