#!/usr/bin/env python3
"""Makes the files in `fixtures`: PyTorch's results for the ops that it shares with dahl, for each element type.

    pip install torch numpy safetensors
    python3 tests/pytorch/make_fixtures.py [STEM ..]

It makes the files of the named stems, or all. A file a stem of `src/ops`. A tensor is named `{op}/{element type}/{case}/{role}`: the inputs, the arguments (as tensors
of i64 or f64) and the results by the names that dahl's declaration has for them, a gradient by an input `x` as `by_x`. The functions of one or two elements
share their inputs, whose op is `unary` or `binary`. Results are what PyTorch gives in that type on a CPU, gradients what
its autograd gives; where it has no kernel for a type, the case is left out and named in the metadata. Where that is not
well within the tolerances of what PyTorch gives for the same inputs in f64, which happens if it accumulates in half
precision, the latter is kept too, rounded, as `{role}_exact`.

Numbers are drawn in f64 from a seed that is made of the case's name, and rounded: the types have the same cases. One
thread, the same bytes each time (on one version of PyTorch, which is in the metadata, and one kind of processor).
"""

import functools
import json
import pathlib
import sys
import zlib

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
NAN, INF = float("nan"), float("inf")

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)


def special(dtype):
    """Values that ops treat apart, or that are at the ends of the type's range."""
    info = torch.finfo(dtype)
    subnormal = info.smallest_normal * info.eps
    values = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 6.0, 20.0, -20.0, 88.0, -104.0]
    values += [65504.0, -65504.0, info.max, info.min, info.smallest_normal, -info.smallest_normal, subnormal, -subnormal]
    return torch.tensor(values, dtype=torch.float64).to(dtype)


def numbers(key, shape, dtype, kind="normal"):
    """A tensor of the numbers that `key` seeds. `shape` may be negated, for a transposed tensor, or doubled, for every
    other element of one, by `transposed` and `strided`."""
    layout, shape = shape if isinstance(shape, tuple) else ("whole", shape)
    if layout == "transposed":
        return numbers(key, shape[::-1], dtype, kind).permute(*range(len(shape))[::-1])
    if layout == "strided":
        return numbers(key, [2 * extent for extent in shape], dtype, kind)[(slice(None, None, 2),) * len(shape)]
    random = torch.Generator().manual_seed(zlib.crc32(key.encode()))
    normal = torch.randn(shape, generator=random, dtype=torch.float64)
    uniform = 2 * torch.rand(shape, generator=random, dtype=torch.float64) - 1
    if kind == "wide":
        reach = {torch.float16: 15, torch.float64: 500}.get(dtype, 100)
        return (torch.sign(normal) * torch.exp2(uniform * reach)).to(dtype)
    if kind == "tiny":
        info = torch.finfo(dtype)
        return (uniform * 2 * info.smallest_normal).to(dtype)
    if kind == "special":
        values = special(dtype)
        places = torch.randperm(max(normal.numel(), 1), generator=random)[: normal.numel()]
        return values[places % len(values)].reshape(shape)
    if kind == "mixed":  # mostly ordinary, so that what is special reaches some results only
        values = normal.to(dtype)
        rare = values.view(-1)[::7]
        rare.copy_(special(dtype)[torch.arange(len(rare)) % len(special(dtype))])
        return values
    return {"normal": normal, "unit": uniform, "equal": normal.round()}[kind].to(dtype)


def transposed(*shape):
    return ("transposed", list(shape))


def strided(*shape):
    return ("strided", list(shape))


def is_well_within(actual, expected):
    """As `torch.testing.assert_close`, with half of its default tolerances."""
    relative, absolute = torch.testing._comparison.default_tolerances(expected)
    return torch.allclose(actual.double(), expected.double(), rtol=relative / 2, atol=absolute / 2, equal_nan=True)


class Stem:
    """The tensors of one file."""

    def __init__(self, name):
        self.name, self.tensors, self.absent = name, {}, []

    def put(self, op, type_name, case, **tensors):
        for role, tensor in tensors.items():
            if not isinstance(tensor, torch.Tensor):
                tensor = torch.tensor(tensor, dtype=torch.float64 if isinstance(tensor, float) else torch.int64)
            if tensor.dtype == torch.bool:
                tensor = tensor.to(torch.uint8)
            name = f"{op}/{type_name}/{case}/{role}"
            assert name not in self.tensors, name
            self.tensors[name] = tensor.detach().contiguous().clone()

    def made(self, op, type_name, case, result, roles, *inputs, **kept):
        """Keeps `kept`, and what `result` of `inputs` is under the names `roles`, if PyTorch has it in this type."""
        try:
            results = result(*inputs)
        except (RuntimeError, NotImplementedError) as error:
            if "not implemented for" not in str(error):
                raise
            self.absent.append(f"{op}/{type_name}/{case}")
            return
        made = dict(zip(roles.split(), results if isinstance(results, tuple) else (results,), strict=True))
        self.put(op, type_name, case, **kept, **made)
        if type_name == "f64":
            return
        exact = result(*(tensor.double() if tensor.is_floating_point() else tensor for tensor in inputs))
        for (role, narrow), wide in zip(made.items(), exact if isinstance(exact, tuple) else (exact,)):
            if narrow.is_floating_point() and not is_well_within(narrow, wide.to(narrow.dtype)):
                self.put(op, type_name, case, **{f"{role}_exact": wide.to(narrow.dtype)})

    def save(self):
        made_by = {"torch": torch.__version__.split("+")[0], "absent": sorted(self.absent)}
        # One entry: several would be written in an order that differs from run to run.
        save_file(self.tensors, FIXTURES / f"{self.name}.safetensors", {"made_by": json.dumps(made_by)})
        size = (FIXTURES / f"{self.name}.safetensors").stat().st_size
        print(f"{self.name}: {len(self.tensors)} tensors, {size} bytes, absent: {sorted(self.absent)}")


STEMS = {}


def stem(make):
    """Registers a function that fills the file of its own name."""
    STEMS[make.__name__] = make
    return make


def gradients(forward, gradient, *inputs):
    """The result of `forward`, and the gradients by all `inputs` where `gradient` is that by the result."""
    inputs = [tensor.detach().requires_grad_() for tensor in inputs]
    out = forward(*inputs)
    return (out, *torch.autograd.grad(out, inputs, gradient.to(out.dtype)))


class WithDerivative(torch.autograd.Function):
    """A function whose derivative PyTorch computes by a difference that cancels: the derivative is that of a formula in f64 which
    does not, rounded."""

    @staticmethod
    def forward(ctx, x, function, derivative):
        ctx.save_for_backward(x)
        ctx.derivative = derivative
        return function(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return ctx.derivative(x.double(), gradient.double()).to(x.dtype), None, None


def softsign_derivative(x, gradient):
    # Not by the square, which overflows.
    return gradient / (1 + x.abs()) / (1 + x.abs())


def tanh_shrink_derivative(x, gradient):
    return gradient * torch.tanh(x) ** 2


def prelu(x, slope):
    """A slope for each element, as for each channel of one sample."""
    if x.numel() == 0:
        return x * slope
    x, slope = torch.broadcast_tensors(x, slope)
    return F.prelu(x.reshape(1, -1), slope.reshape(-1)).reshape(x.shape)


# Functions of one element, of two, and the gradients of both. -------------------------------------------------------

UNARY = {
    "neg": torch.neg, "abs": torch.abs, "square": torch.square, "recip": torch.reciprocal, "sign": torch.sign, "round": torch.round, "floor": torch.floor, "ceil": torch.ceil,
    "trunc": torch.trunc, "exp": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "ln": torch.log,
    "log2": torch.log2, "log10": torch.log10, "log1p": torch.log1p, "sqrt": torch.sqrt, "sin": torch.sin,
    "cos": torch.cos, "tan": torch.tan, "asin": torch.asin, "acos": torch.acos, "atan": torch.atan,
    "sinh": torch.sinh, "cosh": torch.cosh, "asinh": torch.asinh, "acosh": torch.acosh,
    "atanh": torch.atanh, "erf": torch.erf, "relu": F.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "elu": F.elu,
    "selu": F.selu, "gelu": F.gelu, "gelu_tanh": functools.partial(F.gelu, approximate="tanh"), "silu": F.silu,
    "softplus": F.softplus, "hard_sigmoid": F.hardsigmoid, "hard_swish": F.hardswish, "hard_tanh": F.hardtanh,
    "relu6": F.relu6, "threshold": lambda x: F.threshold(x, 0.5, 20.0), "hard_shrink": F.hardshrink, "soft_shrink": F.softshrink,
    "tanh_shrink": lambda x: WithDerivative.apply(x, F.tanhshrink, tanh_shrink_derivative),
    "softsign": lambda x: WithDerivative.apply(x, F.softsign, softsign_derivative),
    "softplus_scaled": lambda x: F.softplus(x, 2.0, 5.0), "mish": F.mish, "celu": lambda x: F.celu(x, 0.75),
    "leaky_relu": F.leaky_relu, "log_sigmoid": F.logsigmoid, "scale": lambda x: x * 0.75,
    "add_value": lambda x: x + 0.75, "clip": lambda x: torch.clamp(x, -0.5, 0.75), "power_value": lambda x: x**2.5,
}  # fmt: skip
WITHOUT_GRADIENT = {"sign", "round", "floor", "ceil", "trunc", "scale", "add_value", "neg"}
BINARY = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div}
BINARY_WITH_GRADIENTS = {
    "power": torch.pow, "atan2": torch.atan2, "maximum": torch.maximum, "minimum": torch.minimum,
    "prelu": prelu, "glu": lambda *halves: F.glu(torch.stack(torch.broadcast_tensors(*halves)), 0)[0],
}  # fmt: skip
COMPARISONS = {
    "equal": torch.eq, "not_equal": torch.ne, "less": torch.lt, "less_equal": torch.le, "greater": torch.gt,
    "greater_equal": torch.ge,
}  # fmt: skip
LOSSES = {"mean_squared_error": F.mse_loss, "mean_absolute_error": F.l1_loss}
ELEMENTWISE = [
    ("one", [1, 1], "normal"), ("empty", [0, 3], "normal"), ("normal", [5, 7], "normal"), ("unit", [3, 13], "unit"),
    ("wide", [5, 9], "wide"), ("tiny", [2, 9], "tiny"), ("special", [2, 13], "special"),
    ("transposed", transposed(3, 7), "normal"), ("strided", strided(4, 5), "unit"), ("row", [1, 11], "wide"),
]  # fmt: skip
BROADCAST = [("rows", [1, 5], [4, 5]), ("columns", [4, 5], [4, 1]), ("outer", [6, 1], [1, 7])]


@stem
def elementwise(out):
    for type_name, dtype in TYPES.items():
        for case, shape, kind in ELEMENTWISE:
            x, gradient = (numbers(f"unary {case} {role}", shape, dtype, kind) for role in ("x", "gradient"))
            gradient = torch.nan_to_num(gradient) if kind == "special" else gradient
            out.put("unary", type_name, case, x=x, gradient=gradient)
            for op, function in UNARY.items():
                if op in WITHOUT_GRADIENT:
                    out.made(op, type_name, case, function, "out", x)
                else:
                    out.made(op, type_name, case, functools.partial(gradients, function, gradient), "out by_x", x)
        pairs = [(case, shape, shape, kind) for case, shape, kind in ELEMENTWISE]
        for case, shape, other, kind in pairs + [(case, x, y, "normal") for case, x, y in BROADCAST]:
            x, y = numbers(f"binary {case} x", shape, dtype, kind), numbers(f"binary {case} y", other, dtype, kind)
            if case == "transposed":  # half of them equal, for comparisons
                y = torch.where(torch.arange(7) % 2 == 0, x, y)
            gradient = numbers(f"binary {case} gradient", shape, dtype)
            out.put("binary", type_name, case, x=x, y=y, gradient=gradient)
            for op, function in (BINARY | COMPARISONS).items():
                out.made(op, type_name, case, function, "out", x, y)
            is_broadcast = (case, shape, other) in BROADCAST
            for op, function in BINARY_WITH_GRADIENTS.items():
                if is_broadcast and op == "glu":  # its halves have one shape
                    continue
                if is_broadcast:
                    out.made(op, type_name, case, function, "out", x, y)
                else:
                    made = functools.partial(gradients, function, gradient)
                    out.made(op, type_name, case, made, "out by_x by_y", x, y)
            if is_broadcast:
                continue
            out.made("axpy", type_name, case, lambda x, y: torch.add(y, x, alpha=0.75), "out", x, y)
            mask = numbers(f"mask {case}", shape, torch.float64) > 0
            chosen = functools.partial(gradients, functools.partial(torch.where, mask), gradient)
            out.made("select", type_name, case, chosen, "out by_x by_y", x, y, mask=mask)
            if x.numel() > 0:
                for op, loss in LOSSES.items():
                    made = functools.partial(gradients, loss, torch.ones([], dtype=dtype))
                    out.made(op, type_name, case, made, "out by_x by_y", x, y, factor=1 / x.numel())


# Products. -----------------------------------------------------------------------------------------------------------

EXTENTS = [(1, 1, 1), (2, 3, 4), (7, 1, 5), (1, 13, 1), (5, 31, 3), (17, 11, 13), (0, 3, 2), (3, 0, 2)]


@stem
def matmul(out):
    for type_name, dtype in TYPES.items():
        for at, (rows, inner, cols) in enumerate(EXTENTS):
            for a_transposed, b_transposed in [(0, 0), (1, 0), (0, 1), (1, 1)]:
                kind = "mixed" if at == 5 and a_transposed > b_transposed else "unit" if at == 4 else "normal"
                case = f"{rows}x{inner}x{cols}-{a_transposed}{b_transposed}"
                a = numbers(f"a {case}", [inner, rows] if a_transposed else [rows, inner], dtype, kind)
                b = numbers(f"b {case}", [cols, inner] if b_transposed else [inner, cols], dtype, kind)
                start = numbers(f"start {case}", [rows, cols], dtype)
                left, right = a.t() if a_transposed else a, b.t() if b_transposed else b
                flags = {"transpose_a": a_transposed, "transpose_b": b_transposed}
                out.put("factors", type_name, case, a=a, b=b, **flags)
                out.made("matmul", type_name, case, torch.matmul, "out", left, right)
                out.made("matmul_add", type_name, case, torch.addmm, "out", start, left, right, start=start)
                vector = numbers(f"vector {case}", [inner], dtype, kind)
                if not b_transposed:
                    out.made("matvec", type_name, case, torch.mv, "out", left, vector, vector=vector)
        for kind in ["normal", "unit", "wide", "mixed", "special"]:
            for rows, cols in [(1, 1), (7, 3), (2, 13), (5, 5)]:
                case = f"{kind}-{rows}x{cols}"
                column, row = numbers(f"column {case}", [rows], dtype, kind), numbers(f"row {case}", [cols], dtype, kind)
                out.made("outer", type_name, case, torch.outer, "out", column, row, column=column, row=row)


@stem
def dot(out):
    for type_name, dtype in TYPES.items():
        for kind in ["normal", "unit", "tiny", "mixed"]:
            for length in [0, 1, 2, 7, 31, 127]:
                x, y = (numbers(f"{role} {kind} {length}", [length], dtype, kind) for role in "xy")
                out.made("dot", type_name, f"{kind}-{length}", torch.dot, "out", x, y, x=x, y=y)


@stem
def bias(out):
    shapes = [[1, 1, 1], [2, 3, 4], [5, 7, 1], [1, 11, 3], [0, 2, 3], [3, 2, 13], strided(3, 4, 5), transposed(5, 3, 2)]
    for type_name, dtype in TYPES.items():
        for at, shape in enumerate(shapes):
            for axis in range(3):
                kind = "mixed" if at == 5 else "normal"
                case = f"{at}-{axis}"
                input = numbers(f"bias {case}", shape, dtype, kind)
                values = numbers(f"bias vector {case}", [input.shape[axis]], dtype, kind)
                gradient = numbers(f"bias gradient {case}", shape, dtype, kind)

                def add(input, values, axis=axis):
                    return input + values.reshape([-1 if i == axis else 1 for i in range(3)])

                made = functools.partial(gradients, add, gradient)
                given = {"input": input, "bias": values, "gradient": gradient, "axis": axis}
                out.made("bias", type_name, case, made, "out by_input by_bias", input, values, **given)


# Images. -------------------------------------------------------------------------------------------------------------

CONVOLUTIONS = [  # input, filters, stride, padding
    ([1, 1, 1, 1], [1, 1, 1, 1], [1, 1], [0, 0]), ([1, 1, 3, 3], [1, 1, 3, 3], [1, 1], [0, 0]),
    ([2, 3, 5, 7], [4, 3, 3, 3], [1, 1], [0, 0]), ([2, 3, 5, 7], [4, 3, 3, 3], [1, 1], [1, 1]),
    ([2, 3, 5, 7], [2, 3, 3, 3], [2, 2], [1, 1]), ([1, 2, 7, 5], [3, 2, 1, 1], [1, 1], [0, 0]),
    ([1, 2, 7, 5], [3, 2, 1, 1], [2, 3], [0, 0]), ([1, 2, 7, 5], [3, 2, 2, 4], [1, 2], [0, 1]),
    ([1, 2, 7, 5], [3, 2, 5, 3], [3, 1], [2, 1]), ([3, 1, 4, 4], [1, 1, 2, 2], [2, 2], [0, 0]),
    ([1, 5, 3, 3], [2, 5, 3, 3], [1, 1], [2, 2]), ([1, 1, 2, 2], [1, 1, 4, 4], [1, 1], [1, 1]),
    ([1, 1, 2, 2], [2, 1, 3, 3], [1, 1], [3, 3]), ([1, 1, 1, 9], [2, 1, 1, 3], [1, 1], [0, 1]),
    ([1, 1, 9, 1], [2, 1, 3, 1], [1, 1], [1, 0]), ([0, 2, 4, 4], [3, 2, 3, 3], [1, 1], [1, 1]),
    ([1, 2, 8, 8], [2, 2, 3, 3], [3, 3], [0, 0]), ([1, 2, 8, 8], [2, 2, 3, 3], [4, 3], [1, 0]),
    (strided(1, 3, 5, 5), [2, 3, 3, 3], [1, 1], [1, 1]), ([1, 3, 5, 5], strided(2, 3, 3, 3), [2, 1], [1, 1]),
    (transposed(2, 3, 5, 4), transposed(2, 3, 3, 2), [1, 1], [0, 0]), ([1, 7, 4, 4], [5, 7, 3, 3], [1, 1], [1, 1]),
    ([1, 2, 5, 5], [2, 2, 3, 3], [1, 1], [1, 1]), ([1, 1, 11, 3], [1, 1, 7, 3], [2, 1], [3, 1]),
]  # fmt: skip
POOLS = [  # input, size, stride, padding
    ([1, 1, 1, 1], [1, 1], [1, 1], [0, 0]), ([2, 3, 4, 6], [2, 2], [2, 2], [0, 0]),
    ([1, 2, 5, 7], [2, 2], [2, 2], [0, 0]), ([1, 2, 5, 7], [2, 2], [2, 2], [1, 1]),
    ([1, 2, 5, 7], [3, 3], [1, 1], [1, 1]), ([1, 2, 5, 7], [3, 3], [2, 2], [1, 1]),
    ([1, 2, 5, 7], [3, 2], [1, 3], [1, 0]), ([1, 1, 6, 6], [5, 4], [1, 1], [2, 2]),
    ([1, 1, 7, 3], [7, 3], [1, 1], [0, 0]), ([1, 1, 9, 1], [3, 1], [2, 1], [1, 0]),
    ([1, 1, 1, 9], [1, 2], [1, 1], [0, 1]), ([0, 2, 4, 4], [2, 2], [2, 2], [0, 0]),
    ([3, 1, 2, 3], [1, 1], [1, 1], [0, 0]), ([1, 1, 8, 8], [2, 3], [3, 4], [0, 1]),
    (strided(1, 2, 4, 5), [2, 2], [1, 1], [0, 0]), (transposed(1, 2, 4, 5), [2, 3], [2, 1], [1, 1]),
]  # fmt: skip
KINDS = ["normal", "mixed", "equal"]


@stem
def conv2d(out):
    for type_name, dtype in TYPES.items():
        for case, (shape, filter_shape, stride, padding) in enumerate(CONVOLUTIONS):
            kind = "mixed" if case == 22 else "normal"
            input = numbers(f"image {case}", shape, dtype, kind)
            filters = numbers(f"filters {case}", filter_shape, dtype)
            forward = functools.partial(F.conv2d, stride=stride, padding=padding)
            gradient = numbers(f"gradient {case}", list(forward(input.double(), filters.double()).shape), dtype)
            made = functools.partial(gradients, forward, gradient)
            given = {"input": input, "filters": filters, "gradient": gradient, "stride": stride, "padding": padding}
            out.made("conv2d", type_name, f"{case:02}", made, "out by_input by_filters", input, filters, **given)


@stem
def pool2d(out):
    def maximum(size, stride, padding, gradient, input):
        input = input.detach().requires_grad_()
        result, index = F.max_pool2d(input, size, stride, padding, return_indices=True)
        return result, index, torch.autograd.grad(result, input, gradient.to(result.dtype))[0]

    for type_name, dtype in TYPES.items():
        for case, (shape, size, stride, padding) in enumerate(POOLS):
            for kind in KINDS[: 1 if case % 2 else 3]:
                name = f"{case:02}-{kind}"
                input = numbers(f"pool {name}", shape, dtype, kind)
                given = {"size": size, "stride": stride, "padding": padding}
                mean = functools.partial(F.avg_pool2d, kernel_size=size, stride=stride, padding=padding)
                gradient = numbers(f"pool gradient {name}", list(mean(input.double()).shape), dtype)
                made = functools.partial(maximum, size, stride, padding, gradient)
                out.put("pool2d", type_name, name, input=input, gradient=gradient, **given)
                out.made("max_pool2d", type_name, name, made, "out index by_input", input)
                made = functools.partial(gradients, mean, gradient)
                out.made("avg_pool2d", type_name, name, made, "out by_input", input)


# Lanes along an axis. -------------------------------------------------------------------------------------------------

LANES = [
    ([1, 1, 1], "normal"), ([2, 3, 5], "normal"), ([7, 1, 5], "normal"), ([3, 7, 2], "equal"), ([2, 11, 3], "unit"),
    ([4, 5, 3], "mixed"), ([2, 13, 1], "special"), ([0, 3, 2], "normal"), (strided(3, 2, 4), "normal"),
    (transposed(5, 3, 2), "unit"),
]  # fmt: skip


def lanes():
    """Case, shape, kind and axis; no axis of extent 0, for which some of PyTorch's reductions are errors."""
    for at, (shape, kind) in enumerate(LANES):
        for axis in range(3):
            if shape == [0, 3, 2] and axis == 0:
                continue
            yield f"{at}-{axis}", shape, kind, axis


@stem
def softmax(out):
    for type_name, dtype in TYPES.items():
        for case, shape, kind, axis in lanes():
            input, gradient = numbers(f"lanes {case}", shape, dtype, kind), numbers(f"lanes gradient {case}", shape, dtype)
            out.put("lanes", type_name, case, input=input, gradient=gradient, axis=axis)
            for op, function in {"softmax": torch.softmax, "log_softmax": torch.log_softmax}.items():
                made = functools.partial(gradients, functools.partial(function, dim=axis), gradient)
                out.made(op, type_name, case, made, "out by_input", input)


REDUCTIONS = {
    "sum": torch.sum, "mean": torch.mean, "max": torch.max, "min": torch.min, "product": torch.prod,
    "norm": torch.linalg.vector_norm, "norm_l1": functools.partial(torch.linalg.vector_norm, ord=1),
    "variance_0": functools.partial(torch.var, correction=0), "variance_1": functools.partial(torch.var, correction=1),
}  # fmt: skip
ALONG = REDUCTIONS | {
    "max": lambda x, dim, keepdim: torch.max(x, dim=dim, keepdim=keepdim).values,
    "min": lambda x, dim, keepdim: torch.min(x, dim=dim, keepdim=keepdim).values,
}
# `torch.max(x)` shares the gradient among equal largest elements. Along an axis, here the only one, one of them has it.
TOTALS = REDUCTIONS | {
    "max": lambda x: torch.max(x.flatten(), 0).values,
    "min": lambda x: torch.min(x.flatten(), 0).values,
}


@stem
def reduce(out):
    for type_name, dtype in TYPES.items():
        for case, shape, kind, axis in lanes():
            input = numbers(f"lanes {case}", shape, dtype, kind)
            reduced = [1 if at == axis else extent for at, extent in enumerate(input.shape)]
            gradient = numbers(f"reduced gradient {case}", reduced, dtype)
            total = numbers(f"total gradient {case}", [], dtype)
            out.put("lanes", type_name, case, input=input, gradient=gradient, total_gradient=total, axis=axis)
            for op, function in ALONG.items():
                made = functools.partial(gradients, functools.partial(function, dim=axis, keepdim=True), gradient)
                out.made(f"{op}_axis", type_name, case, made, "out by_input", input)
            for op, function in {"arg_max": torch.argmax, "arg_min": torch.argmin}.items():
                out.made(op, type_name, case, functools.partial(function, dim=axis, keepdim=True), "out", input)
            for op, function in TOTALS.items() if input.numel() > 0 else []:
                out.made(op, type_name, case, functools.partial(gradients, function, total), "out by_input", input)


# Classes. --------------------------------------------------------------------------------------------------------------

BATCHES = [(1, 1), (1, 2), (2, 3), (7, 10), (13, 5), (31, 2), (3, 17)]


@stem
def cross_entropy(out):
    for type_name, dtype in TYPES.items():
        for samples, classes in BATCHES:
            for kind in ["normal", "unit", "equal", "far", "infinite"]:
                case = f"{kind}-{samples}x{classes}"
                logits = numbers(f"logits {case}", [samples, classes], dtype, kind if kind in KINDS else "normal")
                if kind == "far":  # exp overflows in every type
                    logits = (logits.double() * 1000).to(dtype)
                labels = (numbers(f"labels {case}", [samples], torch.float64).abs() * 1000).to(torch.int64) % classes
                if kind == "infinite":
                    logits[0, 0] = -INF if classes > 1 else INF
                    logits[samples // 2, classes // 2] = INF if samples > 2 else NAN
                for reduction, factor in [("sum", 1.0), ("mean", 1.0 / samples)][samples % 2 :]:
                    made = functools.partial(
                        gradients,
                        functools.partial(F.cross_entropy, target=labels, reduction=reduction),
                        torch.ones([], dtype=dtype),
                    )
                    given = {"logits": logits, "labels": labels, "factor": factor}
                    name = f"{case}-{reduction}"
                    out.made("cross_entropy", type_name, name, made, "out by_logits", logits, **given)
                correct = (logits.argmax(1) == labels).sum()
                out.put("count_correct", type_name, case, logits=logits, labels=labels, out=correct)


@stem
def one_hot(out):
    for type_name, dtype in TYPES.items():
        for count in [0, 1, 2, 7, 31]:
            for classes in [1, 2, 5, 13]:
                case = f"{count}x{classes}"
                labels = (numbers(f"labels {case}", [count], torch.float64).abs() * 1000).to(torch.int64) % classes
                made = F.one_hot(labels, classes).to(dtype)
                out.put("one_hot", type_name, case, labels=labels, classes=classes, out=made)


# Moved data. -----------------------------------------------------------------------------------------------------------


@stem
def moved(out):
    for type_name, dtype in TYPES.items():
        for at, (rows, cols) in enumerate([(1, 1), (2, 3), (7, 1), (1, 5), (13, 11), (0, 3), (3, 17), (3, 0), (2, 1), (5, 5), (4, 9), (1, 2)]):
            input = numbers(f"matrix {at}", [rows, cols], dtype, "mixed")
            gradient = numbers(f"matrix gradient {at}", [min(rows, cols)], dtype)
            case = f"{rows}x{cols}"
            out.put("transpose", type_name, case, input=input, out=input.t())
            out.put("rotate_180", type_name, case, input=input, out=torch.rot90(input, 2))
            made = functools.partial(gradients, torch.diagonal, gradient)
            out.made("diagonal", type_name, case, made, "out by_input", input, input=input, gradient=gradient)
            out.put("diag", type_name, case, input=gradient, out=torch.diag(gradient))
            indices = (numbers(f"indices {at}", [2 * rows], torch.float64).abs() * 1000).to(torch.int64) % max(rows, 1)
            rows_of = functools.partial(torch.index_select, dim=0, index=indices)
            out.made("gather_rows", type_name, case, rows_of, "out", input, input=input, indices=indices)
        for case, shape, kind, axis in lanes():
            if kind in ("mixed", "special"):
                continue
            input = numbers(f"lanes {case}", shape, dtype)
            out.put("lanes", type_name, case, input=input, axis=axis)
            extent = input.shape[axis]
            draw = lambda role, shape: (numbers(f"{role} {case}", shape, torch.float64).abs() * 1000).to(torch.int64)
            index, indices = draw("index", list(input.shape)) % extent, draw("indices", [extent + 2]) % extent
            start, length = extent // 3, extent - extent // 2
            for op, function, arguments in [
                ("gather", lambda x: torch.gather(x, axis, index), {"index": index}),
                ("index_select", lambda x: torch.index_select(x, axis, indices), {"indices": indices}),
                ("tile", lambda x: x.repeat([2 if i == axis else 1 for i in range(3)]), {"repeats": 2}),
                ("slice", lambda x: x.narrow(axis, start, length), {"start": start, "len": length}),
            ]:
                gradient = numbers(f"{op} gradient {case}", list(function(input).shape), dtype)
                made = functools.partial(gradients, function, gradient)
                out.made(op, type_name, case, made, "out by_input", input, gradient=gradient, **arguments)
            second, third = numbers(f"second {case}", shape, dtype), input.narrow(axis, start, length)
            joined = torch.cat([input, second, third], axis)
            out.put("concat", type_name, case, second=second, third=third, out=joined)
            out.put("stack", type_name, case, second=second, out=torch.stack([input, second], axis))


@stem
def cast(out):
    """Among the real types, what is special included; from and to integers, where the value is in range."""
    integers = {"u8": torch.uint8, "i32": torch.int32, "i64": torch.int64}
    for type_name, dtype in TYPES.items():
        for case, shape, kind in ELEMENTWISE:
            input = numbers(f"cast {case}", shape, dtype, kind)
            for to_name, to in TYPES.items():
                out.put("cast", type_name, f"{case}-{to_name}", input=input, out=input.to(to))
        for case, shape, kind in ELEMENTWISE[:4]:
            input = numbers(f"cast {case}", shape, torch.float64, kind).abs() * 99
            for to_name, to in integers.items():
                real, integer = input.to(dtype), input.to(to)
                out.put("cast", type_name, f"{case}-{to_name}", input=real, out=real.to(to))
                out.put("cast", to_name, f"{case}-{type_name}", input=integer, out=integer.to(dtype))


# Gradients of operations whose results are compared above, or in dahl-nn. ------------------------------------------------


def oriented(matrix, is_transposed):
    return matrix.transpose(-1, -2) if is_transposed else matrix


def products(op, batch):
    """The four orientations of a product of `[3, 4]` and `[4, 2]`."""
    for left, right in [(0, 0), (1, 0), (0, 1), (1, 1)]:
        shapes = {"a": batch + ([4, 3] if left else [3, 4]), "b": batch + ([2, 4] if right else [4, 2])}
        function = lambda a, b, left=left, right=right: oriented(a, left) @ oriented(b, right)
        yield op, function, shapes, {"left": left, "right": right}


def recurrent(op, gates, function):
    """A cell whose gates are its inputs, since the weights are an identity."""
    for width in (1, 5):
        shapes = {role: [1, gates * width] for role in ("input_gates", "hidden_gates")} | {"hidden": [1, width]}
        yield op, functools.partial(function, width), shapes, {}


def lstm_cell(output, gates, cell):
    width = cell.shape[1]
    identity, nothing = torch.eye(4 * width, dtype=gates.dtype), torch.zeros(4 * width, width, dtype=gates.dtype)
    return torch.lstm_cell(gates, (torch.zeros_like(cell), cell), identity, nothing)[output]


def gru_cell(width, input_gates, hidden_gates, hidden):
    identity = torch.eye(3 * width, dtype=hidden.dtype)
    nothing = torch.zeros(3 * width, width, dtype=hidden.dtype)
    return torch.gru_cell(input_gates, hidden, identity, nothing, torch.zeros_like(input_gates[0]), hidden_gates[0])


def differentiated():
    """An operation, its function, the shapes of its inputs, and its arguments."""
    for op, function in BINARY.items():
        for x, y in [([4, 5], [4, 5]), ([1, 5], [4, 5]), ([4, 5], [4, 1]), ([6, 1], [1, 7])]:
            yield op, function, {"x": x, "y": y}, {}
    yield "axpy", lambda x, y: torch.add(y, x, alpha=0.75), {"x": [4, 5], "y": [4, 5]}, {}
    for op in ("neg", "scale", "add_value"):
        yield op, UNARY[op], {"x": [4, 5]}, {}
    yield "copy", torch.clone, {"input": [4, 5]}, {}
    yield from products("matmul", [])
    yield from products("matmul_batched", [2])
    yield "matmul_add", lambda a, b: torch.addmm(torch.zeros(3, 2, dtype=a.dtype), a, b), {"a": [3, 4], "b": [4, 2]}, {}
    yield "matvec", torch.mv, {"a": [3, 4], "vector": [4]}, {}
    yield "matvec_transposed", lambda a, vector: torch.mv(a.t(), vector), {"a": [4, 3], "vector": [4]}, {}
    yield "outer", torch.outer, {"column": [3], "row": [5]}, {}
    yield "dot", torch.dot, {"x": [31], "y": [31]}, {}
    yield "transpose", torch.t, {"input": [3, 5]}, {}
    yield "rotate_180", lambda x: torch.rot90(x, 2), {"input": [3, 5]}, {}
    yield "diag", torch.diag, {"input": [5]}, {}
    yield "permute", lambda x: x.permute(2, 0, 1), {"input": [2, 3, 4]}, {}
    for axis in range(3):
        shapes = {"input": [2, 3, 4], "second": [3 if at == axis else n for at, n in enumerate([2, 3, 4])]}
        yield "concat", lambda x, y, axis=axis: torch.cat([x, y], axis), shapes, {"axis": axis}
        shapes = {"input": [2, 3, 4], "second": [2, 3, 4]}
        yield "stack", lambda x, y, axis=axis: torch.stack([x, y], axis), shapes, {"axis": axis}
        yield "cumulative_sum", lambda x, axis=axis: torch.cumsum(x, axis), {"input": [2, 3, 4]}, {"axis": axis}
        for descending in (0, 1):
            function = lambda x, axis=axis, descending=descending: torch.sort(x, axis, bool(descending)).values
            yield "sort", function, {"input": [2, 5, 4]}, {"axis": axis, "descending": descending}
        yield "top_k", lambda x, axis=axis: torch.topk(x, 2, axis).values, {"input": [2, 5, 4]}, {"axis": axis}
    indices = torch.tensor([4, 0, 4, 2])
    yield "gather_rows", lambda x: torch.index_select(x, 0, indices), {"input": [5, 3]}, {"indices": indices}
    segments = torch.tensor([3, 0, 3, 1, 1, 3])
    into = lambda x: torch.zeros(4, x.shape[1], dtype=x.dtype).index_add(0, segments, x)
    yield "segment_sum", into, {"input": [6, 2]}, {"segments": segments}
    for output in (0, 1):
        shapes = {"gates": [3, 20], "cell": [3, 5]}
        yield "lstm_cell", functools.partial(lstm_cell, output), shapes, {"output": output}
    yield from recurrent("gru_cell", 3, gru_cell)
    yield "sum_axes", lambda x: torch.sum(x, (0, 2), keepdim=True), {"input": [2, 3, 4]}, {}


@stem
def autograd(out):
    for type_name, dtype in TYPES.items():
        for at, (op, function, shapes, arguments) in enumerate(differentiated()):
            inputs = {role: numbers(f"autograd {at} {role}", shape, dtype) for role, shape in shapes.items()}
            shape = list(function(*(input.double() for input in inputs.values())).shape)
            gradient = numbers(f"autograd {at} gradient", shape, dtype)
            made = functools.partial(gradients, function, gradient)
            roles = " ".join(["out"] + [f"by_{role}" for role in inputs])
            given = inputs | {"gradient": gradient} | arguments
            out.made(op, type_name, f"{at:02}", made, roles, *inputs.values(), **given)


def main():
    FIXTURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or STEMS:
        file = Stem(name)
        STEMS[name](file)
        file.save()


if __name__ == "__main__":
    main()
