"""What figures were taken on: versions and the processor."""

import os
import platform

import numpy as np
import scipy
import sklearn

import fasttree


def cpu_model():
    """The processor's name and the vector instruction sets that it offers."""
    try:
        with open("/proc/cpuinfo") as cpuinfo:
            fields = dict(line.split(":", 1) for line in cpuinfo if ":" in line)
        fields = {key.strip(): value.strip() for key, value in fields.items()}
        flags = fields.get("flags", "").split()
        known = ("avx2", "bmi2", "avx512f", "avx512bw", "avx512_vbmi2", "avx512_vpopcntdq")
        vectors = " ".join(flag for flag in known if flag in flags)
        return f"{fields.get('model name', platform.processor())} ({vectors})"
    except OSError:
        return platform.processor()


def describe_machine():
    """Versions and processor, in a few lines."""
    return "\n".join(
        (
            f"fasttree {fasttree.__version__}, scikit-learn {sklearn.__version__}, "
            f"numpy {np.__version__}, scipy {scipy.__version__}",
            f"Python {platform.python_version()}, {platform.system()}, {platform.machine()}",
            f"{cpu_model()}, {os.cpu_count()} logical CPUs",
        )
    )
