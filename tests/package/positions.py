# SPDX-License-Identifier: Apache-2.0
"""positions.py OUT.npy: 8,192 fractional positions, small and large, of both signs, always the same."""
import random
import struct
import sys

draw = random.Random(7)
positions = [draw.uniform(-(2**31) + 1, 2**31 - 1) for _ in range(2048)]
positions += [draw.uniform(-131072, 131072) for _ in range(2048)]
positions += [i + 0.5 for i in range(-1024, 1024)]
positions += [i / 7 for i in range(2048)]
header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }" % len(positions)
header = header.ljust(117) + "\n"
with open(sys.argv[1], "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    out.write(struct.pack("<%dd" % len(positions), *positions))
