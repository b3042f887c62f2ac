"""Run commands one after the other, in one process, and say in the file TRACE where each begins."""

import contextlib
import io
import json
import os
import sys


def main() -> None:
    from torusweep.cli import main as torusweep

    for words in json.loads(sys.stdin.read()):
        with open(os.environ["TRACE"], "a") as trace:
            trace.write(f"begin\t{' '.join(words)}\n")
        said, status = io.StringIO(), 0
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                if words[0] == "python":
                    exec(words[1], {})
                else:
                    sys.argv[1:] = words
                    torusweep()
            except SystemExit as ended:
                status = f"{ended.code}: {said.getvalue().strip()}" if ended.code else 0
            except Exception as failure:
                status = repr(failure)
        with open(os.environ["TRACE"], "a") as trace:
            trace.write(f"end\t{status}\n")


if __name__ == "__main__":
    main()
