"""Run the command `torusweep` as `python -m torusweep`."""

from torusweep.cli import main

if __name__ == "__main__":
    main()
