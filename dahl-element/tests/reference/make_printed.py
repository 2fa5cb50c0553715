#!/usr/bin/env python3
"""Makes `printed.txt` beside it: arrays as NumPy prints them.

    pip install numpy
    python3 dahl-element/tests/reference/make_printed.py

Each case is a head line, `# element type | shape | options | elements`, and the text below it, up to an empty line
and the next head. Elements are the bits of each in hexadecimal, or `iota` for 0, 1, 2, .. in row-major order. NumPy is
asked by `array2string`, so that rank 0 follows the same rules as the others. A new version of NumPy may print some of
it otherwise; the version that was used is in the first line.
"""

import pathlib

import numpy

HERE = pathlib.Path(__file__).parent
BITS = {"f16": "u2", "f32": "u4", "f64": "u8", "u8": "u1", "u32": "u4", "i32": "u4", "i64": "u8"}
DTYPES = {"f16": "f2", "f32": "f4", "f64": "f8", "u8": "u1", "u32": "u4", "i32": "i4", "i64": "i8"}
NAN, INF = numpy.nan, numpy.inf
random = numpy.random.default_rng(7)


def case(element, values, **options):
    """The text of one case. `values` is an array, or a shape to be filled with 0, 1, 2, .."""
    iota = isinstance(values, tuple)
    if iota:
        values = numpy.arange(numpy.prod(values)).reshape(values)
    array = numpy.asarray(values, dtype=DTYPES[element])
    if iota:
        elements = "iota"
    else:
        width = 2 * array.dtype.itemsize
        elements = " ".join(f"{bits:0{width}x}" for bits in array.reshape(-1).view(BITS[element]))
    shape = " ".join(str(extent) for extent in array.shape)
    asked = " ".join(f"{name}={value}" for name, value in options.items())
    names = {"edge": "edgeitems", "line_width": "max_line_width"}
    sign = "+" if options.pop("plus", False) else "-"
    asked_of_numpy = {names.get(name, name): value for name, value in options.items()}
    text = numpy.array2string(array, sign=sign, **asked_of_numpy)
    return f"# {element} | {shape} | {asked} | {elements}\n{text}\n\n"


normal = random.standard_normal
CASES = [
    # Positional numbers, trimmed and aligned.
    case("f64", [1.0, 2.5, -0.25, 10.0]),
    case("f64", [[1.0, 2.5, 3.0], [-0.25, 0.0, 10.0]]),
    case("f64", 1.0),
    case("f64", 0.1),
    case("f64", [0.0, -0.0]),
    case("f64", [1 / 3, 2 / 3, 1.0]),
    case("f64", normal((4, 5))),
    case("f64", normal((4, 5)), precision=3),
    case("f64", normal((2, 3)), precision=17),
    case("f64", [0.125, 0.375, 2.5, 0.135, 0.999], precision=2),
    case("f64", [0.5, 1.5, 2.5, 99.5], precision=0),
    case("f64", [99999.99999999999, 99999.0]),
    case("f32", [0.1, 0.2, 0.3, 1 / 3]),
    case("f32", normal((3, 4))),
    case("f32", [0.1, 1 / 3], precision=12),
    case("f32", [999999.0, 99999.9]),
    case("f16", [0.1, 0.2, 1 / 3, 99.5]),
    case("f16", normal((3, 4))),
    case("f16", [999.5, 1.0]),
    # Scientific: large, small, far apart, and just not.
    case("f64", [1e8, 1.0]),
    case("f64", [99999999.0]),
    case("f64", [1e8]),
    case("f64", [1e-4, 1e-4]),
    case("f64", [0.00009999, 0.00005]),
    case("f64", [1.0, 1000.0]),
    case("f64", [1.0, 1000.5]),
    case("f64", [-1234567.0, 0.001, 12.5]),
    case("f64", [1e-300, 1.23456789123e100, -1.0]),
    case("f64", [1e100, -1e-5], precision=2),
    case("f64", [1.5e10, 2.5e-10], precision=0),
    case("f64", [5e-324, 1.7976931348623157e308]),
    case("f32", [1e6, 1.0]),
    case("f32", [0.1, 1.23456789e10]),
    case("f32", [0.3, 1e-7, 9.8765432e10], precision=12),
    case("f32", [1e-45, 3.4028235e38]),
    case("f16", [0.1, 1234.0, 0.01234]),
    case("f16", [65504.0, 6e-8]),
    case("f16", [0.0001, 0.0001]),
    # The shortest text of a power of two need not be the nearest.
    case("f16", [0.015625, 0.5]),
    case("f32", [2.0**-12, 1000.0]),
    case("f16", [0.015625, 0.0002248, 0.6748]),
    # What is not finite.
    case("f64", [NAN, INF, -INF]),
    case("f64", [NAN, INF]),
    case("f64", [NAN, 1.0, -2.25]),
    case("f64", [INF, -INF, 1.0]),
    case("f64", [[NAN, 1e10], [-INF, 0.001]]),
    case("f64", [100.5, INF, -0.001953125]),
    case("f32", [NAN, 1.5]),
    case("f16", [NAN, -INF, 1.5]),
    # Signs.
    case("f64", [1.0, -2.5, NAN, INF], plus=True),
    case("f64", [1e10, -2.5, 0.0], plus=True),
    # Integers.
    case("i64", [1, -20, 300]),
    case("i64", [-(2**63), 2**63 - 1]),
    case("i32", [[5, -7], [-123456, 0]]),
    case("u32", [0, 4294967295]),
    case("u8", [[1, 20], [255, 0]]),
    case("i32", 7),
    # Ranks, and none at all.
    case("i64", (2, 2, 2)),
    case("f64", (2, 1, 2, 3)),
    case("u8", (1, 2, 1, 2, 1)),
    case("i32", (2, 1, 2, 1, 1, 1, 1, 2)),
    case("f32", (0,)),
    case("f32", (2, 0, 3)),
    # Long rows go on in the next line.
    case("i64", (30,)),
    case("f64", normal((2, 9))),
    case("f64", normal((2, 2, 9)), line_width=40),
    case("f64", normal(12), line_width=5),
    # The middle left out.
    case("i64", (1001,)),
    case("i64", (1000,)),
    case("f64", (40, 40)),
    case("f64", (2000, 2)),
    case("f32", (11, 12, 13)),
    case("u32", (5, 6, 40)),
    case("f32", (6, 6, 6, 6)),
    case("u32", (9, 7, 8, 7)),
    case("i64", (10,), threshold=5, edge=1),
    case("i64", (10,), threshold=5, edge=2),
    case("i64", (7, 7), threshold=5, edge=2),
    case("f64", numpy.where(numpy.arange(20) == 10, 1e20, 1.0), threshold=10),
]

text = f"NumPy {numpy.__version__}\n\n" + "".join(CASES)
(HERE / "printed.txt").write_text(text)
print(len(CASES), "cases")
