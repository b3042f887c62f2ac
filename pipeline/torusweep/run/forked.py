"""What local workers and the process of the steps are forked with: what they need, imported once, by what forks them (torusweep.run.forking)."""

import contextlib
import gc
import os

with contextlib.suppress(OSError):  # it leads its session
    os.setpgid(0, 0)  # what a terminal tells the run, to stop for a while or that it is closed, is not for workers
os.dup2(2, 1)  # standard output is the command's own
gc.set_threshold(50_000)  # as in a step: what is imported stays

import distributed  # noqa: E402, F401

gc.freeze()  # no worker looks through it for garbage, or copies its pages to note that it did
