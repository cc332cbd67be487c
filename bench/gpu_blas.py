#!/usr/bin/env python3
"""Prints the folder of cuBLASLt if the loader doesn't find the library: that of a toolkit, or of the packages of this
python's PyTorch. The output is for LD_LIBRARY_PATH."""
import glob
import os
import subprocess
import sys

NAMES = "libcublasLt.so.1[23]"


def folder():
    """Returns None if the loader finds the library, or if there is none."""
    try:
        known = subprocess.run(["/sbin/ldconfig", "-p"], check=False, stdout=subprocess.PIPE, text=True).stdout
    except OSError:
        known = ""
    own = [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if path]
    if any(f"libcublasLt.so.{n} " in known for n in (13, 12)) or any(glob.glob(os.path.join(p, NAMES)) for p in own):
        return None
    places = [os.path.join(path, "nvidia", "*", "lib") for path in sys.path if path]
    places += ["/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib"]
    found = [file for place in places for file in sorted(glob.glob(os.path.join(place, NAMES)), reverse=True)]
    return os.path.dirname(found[0]) if found else None


if __name__ == "__main__":
    print(folder() or "")
