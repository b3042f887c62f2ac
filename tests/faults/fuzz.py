"""Any bytes for every reader, by hand and for longer: python -m tests.faults.fuzz --minutes 30 --seed 1

Each round draws as many examples of every property of test_input_any_bytes.py and test_input_results.py as
`make test-faults`, from the next seed. A failure shows the smallest input that fails and the seed; the input becomes a
file of corpus/.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
import traceback

from tests.faults import test_input_any_bytes, test_input_results
from tests.faults.properties import MANY, hold

PROPERTIES = test_input_any_bytes.PROPERTIES | test_input_results.PROPERTIES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0, help="of the first round")
    parser.add_argument("--only", choices=list(PROPERTIES), action="append", help="one property; may be repeated")
    options = parser.parse_args()
    end, seed, examples, failed = time.monotonic() + 60 * options.minutes, options.seed, 0, 0
    while time.monotonic() < end:
        for what in options.only or PROPERTIES:
            if time.monotonic() >= end:
                break
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                try:
                    hold(what, PROPERTIES, MANY, seed)
                except Exception:
                    failed += 1
                    print(f"{what}, seed {seed}:", traceback.format_exc(), flush=True)
            examples += max(3, MANY // PROPERTIES[what][2])
        seed += 1
    print(f"{examples:,} examples, seeds {options.seed} to {seed - 1}, {failed} failures")
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()
