"""Peak memory of calls, each measured in a process of its own. Linux with glibc."""

import ctypes
import multiprocessing


def peak_memory(call):
    """Bytes that a call takes at its peak, above what stood before it."""
    ctypes.CDLL(None).malloc_trim(0)  # free memory that is still held would hide what is taken
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    before = resident_memory("VmRSS")
    call()
    return resident_memory("VmHWM") - before


def in_new_process(function, *arguments):
    """What a function returns, called in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def resident_memory(field):
    """VmRSS (now) or VmHWM (peak) of this process, in bytes."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith(field))
    return int(line.split()[1]) * 1024
