"""How long calls take to give way to Ctrl-C: at most a second on an idle machine.

    python asv_bench/scripts/interrupt_latency.py [--after 0.1 0.5 1.5] [NAME ...]

Every call of ``tests/long_calls.py`` is interrupted at several moments, on one and on two threads,
each time in a process of its own. Printed are the worst latencies in seconds; the exit status
tells whether all were kept. A call that was over before the signal is marked so.
"""

import argparse
import math
import multiprocessing
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))

import long_calls

BAR = 1.0
PATIENCE = 60.0


def work(connection, name, n_threads, after):
    call = long_calls.LONG[name]()
    connection.send("ready")
    with long_calls.threads(n_threads):
        connection.send(long_calls.latency(call, after))


def measure(name, n_threads, after):
    """Latency in a process of its own; infinite if it did not end."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(sender, name, n_threads, after))
    process.start()
    sender.close()  # so that a process that died is noticed
    receiver.recv()
    seconds = receiver.recv() if receiver.poll(PATIENCE) else math.inf
    process.kill()
    process.join()
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="all if none is given")
    parser.add_argument("--after", nargs="+", type=float, default=[0.1, 0.5, 1.5])
    options = parser.parse_args()
    is_kept = True
    print(f"{'worst latency, s':36}{'1 thread':>10}{'2 threads':>11}")
    for name in options.names or long_calls.LONG:
        print(f"{name:36}", end="", flush=True)
        for n_threads in (1, 2):
            found = [measure(name, n_threads, after) for after in options.after]
            found = [seconds for seconds in found if seconds is not None]
            is_kept &= max(found, default=0.0) <= BAR
            print(f"{max(found):>10.2f}" if found else f"{'over':>10}", end=" ", flush=True)
        print()
    sys.exit(not is_kept)


if __name__ == "__main__":
    main()
