#!/usr/bin/env python3
"""Makes data/fashion-mnist: a balanced part of Fashion-MNIST, in the order of the real set.

    python3 dahl-nn/scripts/make_embedded.py [FOLDER]

FOLDER holds the four gzipped IDX files; Debian's package dataset-fashion-mnist puts them in the default.
The first 600 training and 100 test images of each of the ten classes are taken. Only Python's library is needed.
"""

import gzip
import pathlib
import struct
import sys

SOURCE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/datasets/fashion-mnist")
TARGET = pathlib.Path(__file__).parent.parent / "data" / "fashion-mnist"
PIXELS = 28 * 28
CLASSES = 10


def read(name):
    with gzip.open(SOURCE / f"{name}.gz") as file:
        return file.read()


def write(name, data):
    # Without a name and a time, so that the files are the same each time.
    with open(TARGET / f"{name}.gz", "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(data)


def balanced(prefix, per_class):
    images = read(f"{prefix}-images-idx3-ubyte")[16:]
    labels = read(f"{prefix}-labels-idx1-ubyte")[8:]
    taken = [0] * CLASSES
    chosen = []
    for index, label in enumerate(labels):
        if taken[label] < per_class:
            taken[label] += 1
            chosen.append(index)
    assert taken == [per_class] * CLASSES
    pixels = b"".join(images[i * PIXELS : (i + 1) * PIXELS] for i in chosen)
    write(f"{prefix}-images-idx3-ubyte", struct.pack(">4I", 0x803, len(chosen), 28, 28) + pixels)
    write(f"{prefix}-labels-idx1-ubyte", struct.pack(">2I", 0x801, len(chosen)) + bytes(labels[i] for i in chosen))


TARGET.mkdir(parents=True, exist_ok=True)
balanced("train", 600)
balanced("t10k", 100)
