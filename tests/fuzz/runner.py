"""Runs cases in batches, each in a process of its own, and makes what they find small.

A process tells its parent which case it is at, so that a crash, a hang or an error is known by its
number. The parent never fits anything: a process forked from it finds the libraries loaded and no
threads started.
"""

import argparse
import collections
import faulthandler
import multiprocessing
import re
import sys
import time
import traceback
from dataclasses import dataclass, field
from multiprocessing.connection import wait

from fuzz import csvs, fits, pickles
from fuzz.draws import Finding

__all__ = ["main"]

DRAWERS = {"fits": fits.draw_fit, "mutations": pickles.draw_mutation, "csvs": csvs.draw_csv}
CASES_PER_BATCH = {"fits": 400, "mutations": 400, "csvs": 100}
SHARES = {"fits": 8, "mutations": 1, "csvs": 1}  # of the time, with --hours
SECONDS_PER_CASE = 60
SECONDS_OF_SHRINKING = 120
_FORK = multiprocessing.get_context("fork")


def main(arguments=None):
    """Run what the command line asks for; return the exit status."""
    options = _parse(arguments)
    without = frozenset(options.without)
    if options.case:
        kind, number = options.case.split(":")
        case, finding = _attempt(kind, options.seed, int(number), without)
        print(case.script(finding), f"# {finding}", sep="\n")
        return finding is not None
    run = Run(options.seed, without)
    goals = {kind: getattr(options, kind) for kind in DRAWERS if getattr(options, kind)}
    deadline = None
    if not goals:
        goals = dict.fromkeys(DRAWERS, float("inf"))
        deadline = time.monotonic() + 3600 * options.hours
    run.run(goals, options.jobs, deadline)
    run.report()
    return bool(run.findings)


def _parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument(
        "--hours", type=float, default=0.1, help="how long, unless counts are given"
    )
    for kind, what in (("fits", "fits, one for each setting"), ("mutations", "tampered pickles"),
                       ("csvs", "CSV files")):  # fmt: skip
        parser.add_argument(f"--{kind}", type=int, default=0, metavar="N", help=f"number of {what}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--case", metavar="KIND:NUMBER", help="one case of the seed, in full")
    parser.add_argument(
        "--without",
        nargs="*",
        default=[],
        metavar="NAME",
        help="kinds of input to leave out, such as negative-weights",
    )
    return parser.parse_args(arguments)


# ---- in a process of their own


def _attempt(kind, seed, number, without):
    """Draw and check one case; return it and what it finds."""
    case = DRAWERS[kind]([list(DRAWERS).index(kind), seed, number], without)
    return case, _finding_of(case)


def _finding_of(case):
    try:
        case.n_done = case.check()
    except Finding as finding:
        return finding
    except Exception as error:
        trace = "".join(traceback.format_tb(error.__traceback__)[-3:])
        return Finding(f"{type(error).__name__}: {error}\n{trace}")
    return None


def _run_batch(kind, seed, numbers, without, current, started, connection):
    """Check cases; send what each finds, then the counts."""
    faulthandler.enable()
    outcomes, n_done = collections.Counter(), 0
    for number in numbers:
        current.value, started.value = number, time.monotonic()
        case, finding = _attempt(kind, seed, number, without)
        n_done += getattr(case, "n_done", 1)
        outcomes.update(case.outcomes)
        if finding is not None:
            connection.send(("finding", number, str(finding)))
    connection.send(("done", n_done, outcomes))


def _check_alone(case, connection):
    finding = _finding_of(case)
    connection.send(None if finding is None else str(finding))


def _fails(case):
    """What a case does in a process of its own: None, or what is wrong."""
    receiver, sender = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_check_alone, args=(case, sender))
    process.start()
    sender.close()
    try:
        if not receiver.poll(SECONDS_PER_CASE):
            process.kill()
            return "hangs"
        return receiver.recv()
    except EOFError:
        process.join()
        return f"crashes with exit status {process.exitcode}"
    finally:
        process.join()


# ---- in the parent


@dataclass
class Batch:
    """A process, and where it is."""

    kind: str
    numbers: range
    process: object
    connection: object
    current: object
    started: object


@dataclass
class Run:
    """Counts and findings of a run."""

    seed: int
    without: frozenset
    done: dict = field(default_factory=collections.Counter)
    outcomes: dict = field(default_factory=lambda: collections.defaultdict(collections.Counter))
    findings: list = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)

    def run(self, goals, n_jobs, deadline=None):
        """Run batches until every kind has reached its goal, or the deadline."""
        position = dict.fromkeys(goals, 0)
        batches = []
        try:
            while True:
                is_over = deadline is not None and time.monotonic() > deadline
                wanted = [kind for kind in goals if self.done[kind] < goals[kind]]
                while wanted and not is_over and len(batches) < n_jobs:
                    kind = min(wanted, key=lambda kind: position[kind] / SHARES[kind])
                    size = self._batch_size(kind, goals[kind], position[kind])
                    numbers = range(position[kind], position[kind] + size)
                    position[kind] += size
                    batches.append(self._start(kind, numbers))
                if not batches:
                    break
                batches = self._collect(batches)
        finally:
            for batch in batches:
                batch.process.kill()

    def _batch_size(self, kind, goal, position):
        """Cases of the next batch: no more than the goal needs by what they have brought so far."""
        per_case = self.done[kind] / position if position else 1 + 7 * (kind == "fits")
        needed = (goal - self.done[kind]) / max(per_case, 0.5)
        return int(min(CASES_PER_BATCH[kind], needed + 1))

    def _start(self, kind, numbers):
        receiver, sender = _FORK.Pipe(duplex=False)
        current, started = _FORK.Value("q", numbers.start), _FORK.Value("d", time.monotonic())
        process = _FORK.Process(
            target=_run_batch,
            args=(kind, self.seed, numbers, self.without, current, started, sender),
        )
        process.start()
        sender.close()
        return Batch(kind, numbers, process, receiver, current, started)

    def _collect(self, batches):
        """Take in what batches report; return those that go on, or are started for the rest."""
        ready = wait([batch.connection for batch in batches], timeout=1)
        going = []
        for batch in batches:
            problem = None
            if batch.connection in ready:
                try:
                    what, *parts = batch.connection.recv()
                except EOFError:
                    batch.process.join()
                    problem = f"crashes with exit status {batch.process.exitcode}"
                else:
                    if what == "done":
                        self.done[batch.kind] += parts[0]
                        self.outcomes[batch.kind].update(parts[1])
                        batch.process.join()
                        continue
                    self._found(batch.kind, *parts)
            elif time.monotonic() - batch.started.value > SECONDS_PER_CASE:
                batch.process.kill()
                batch.process.join()
                problem = "hangs"
            if problem is None:
                going.append(batch)
                continue
            number = batch.current.value
            self._found(batch.kind, number, problem)
            rest = range(number + 1, batch.numbers.stop)
            if rest:
                going.append(self._start(batch.kind, rest))
        return going

    def _found(self, kind, number, message):
        """Note a finding; print the first of its sort, made small."""
        print(f"FINDING {kind}:{number} seed {self.seed}: {message}", flush=True)
        sort = kind, _sort_of(message)
        if sort not in {sort for sort, _ in self.findings}:
            case = DRAWERS[kind]([list(DRAWERS).index(kind), self.seed, number], self.without)
            case, message = _shrink(case, message)
            print("# ---- reproduction", case.script(message), f"# {message}", "# ----", sep="\n")
            sys.stdout.flush()
        self.findings.append((sort, number))

    def report(self):
        """Print counts."""
        seconds = time.monotonic() - self.begun
        for kind in self.done:
            ends = ", ".join(
                f"{count:,} {name}" for name, count in self.outcomes[kind].most_common()
            )
            print(f"{self.done[kind]:,} {kind}, seed {self.seed}: {ends}")
        for sort, count in collections.Counter(sort for sort, _ in self.findings).items():
            print(f"{count} findings: {': '.join(sort)}")
        print(f"{len(self.findings)} findings in {seconds:.0f} s")


def _sort_of(message):
    """The start of a message without its numbers: findings with the same are told once."""
    return re.sub(r"[+-]?\d[\d.e+-]*", "#", message.split("\n")[0])[:40]


def _shrink(case, message):
    """The smallest case that still fails, and how it fails."""
    deadline = time.monotonic() + SECONDS_OF_SHRINKING
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in case.smaller():
            if time.monotonic() > deadline:
                break
            problem = _fails(candidate)
            if problem is not None and _sort_of(problem) == _sort_of(message):
                case, message, is_smaller = candidate, problem, True
                break
    return case, message
