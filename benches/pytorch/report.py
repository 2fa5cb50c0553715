"""What was measured, as tables that say which targets are met."""

import pathlib

import kernels
from training import MEMORY, SPEED_UP, Row, speed

from comparison.page import Targets, table
from comparison.rounds import ratios
from comparison.spread import Spread, apart, significant, times


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def share_beside(limit: float, share: float) -> str:
    return apart(share, limit, percent)


def ratio_beside(limit: float, ratio: float) -> str:
    return apart(ratio, limit, lambda value, more: f"{value:.{2 + more}f}") + " x"


def memory(measurement: dict) -> float:
    return measurement["peak_resident_bytes"] / 2**20


def training(measured: dict[Row, dict], formats: dict[Row, str], targets: Targets) -> str:
    """The table of training, row by row."""
    rows = []
    for row, of in measured.items():
        ratio = Spread.of(ratios(of, "dahl", "PyTorch", speed))
        share = Spread.of(ratios(of, "dahl", "PyTorch", memory))
        one, two = (Spread.of([speed(measurement) for measurement in of[side]]).median for side in ("dahl", "PyTorch"))
        mib, other_mib = (
            Spread.of([memory(measurement) for measurement in of[side]]).median for side in ("dahl", "PyTorch")
        )
        often = "as fast as" if row.target == 1 else f"{row.target:g} times"
        asked = f"{row.network} {row.element}: at least {often} PyTorch"
        if row.network == "small":
            asked += " at batch 1 and 10" if row.batch_size <= 10 else " at batch 100 and 500"
        met = targets.judge(asked, str(row), ratio_beside(row.target, ratio.median), ratio.median >= row.target)
        asked = f"memory: at most {percent(MEMORY)} of PyTorch's"
        met_memory = targets.judge(asked, str(row), share_beside(MEMORY, share.median), share.median <= MEMORY)
        torch = significant(two) + (" NHWC" if formats.get(row) == "channels_last" else "")
        rows.append(
            [str(row), significant(one), torch, times(ratio), f"{row.target:g} x", met]
            + [f"{mib:.0f}", f"{other_mib:.0f}", percent(share.median), met_memory]
        )
    columns = ["row", ">dahl", ">PyTorch", ">dahl / PyTorch", ">target", "met"]
    return table([*columns, ">MiB", ">PyTorch's", ">share", "met"], rows)


def speed_up(measured: dict[Row, dict], targets: Targets) -> str:
    """The table of two workers against one, where both were measured."""
    rows = []
    for row, of in measured.items():
        two = measured.get(Row(row.network, row.element, row.batch_size, 2))
        if row.workers != 1 or two is None:
            continue
        cells = []
        for side in ("dahl", "PyTorch"):
            pairs = zip(of[side], two[side], strict=True)
            cells.append(Spread.of([speed(with_two) / speed(with_one) for with_one, with_two in pairs]))
        met = "-"
        name = str(row).removesuffix("-1")
        if row.network == "mnist":
            asked = f"mnist: two workers at least {SPEED_UP:g} times one"
            speed_up = cells[0].median
            met = targets.judge(asked, name, ratio_beside(SPEED_UP, speed_up), speed_up >= SPEED_UP)
        rows.append([name, *map(times, cells), f"{SPEED_UP:g} x" if row.network == "mnist" else "-", met])
    return table(["row", ">dahl", ">PyTorch", ">target", "met"], rows) if rows else ""


def losses(told: dict[str, dict[str, tuple[float, float]]]) -> str:
    """The table of what both programs have learned after three epochs: mean losses and accuracies of the last."""
    rows = []
    for name, sides in told.items():
        (loss, accuracy), (other_loss, other_accuracy) = sides["dahl"], sides["PyTorch"]
        rows.append([name, f"{loss:.3f}", f"{other_loss:.3f}", percent(accuracy), percent(other_accuracy)])
    return table(["after three epochs", ">loss in dahl", ">in PyTorch", ">accuracy in dahl", ">in PyTorch"], rows)


def convolutions(measured: dict[str, dict], targets: Targets) -> str:
    """The table of convolutions: GFLOP/s, and shares of the limit."""
    rows = []
    for element, of in measured.items():
        keys = [key for key in of["dahl"][0] if "/" in key]
        for key in keys:
            case, direction = key.split("/")
            row = f"{element} {case} {direction}"
            own = Spread.of([measurement[key] for measurement in of["dahl"]])
            cells = [element, case, direction.replace("_", " "), significant(own.median)]
            against = {
                name: Spread.of(
                    [one[key] / two[f"{key}/{name}"] for one, two in zip(of["dahl"], of["PyTorch"], strict=True)]
                )
                for name in ("contiguous", "channels_last")
            }
            cells += [times(spread) for spread in against.values()]
            least = min(against.values(), key=lambda spread: spread.median).median
            is_many = any(case.startswith(name) for name in kernels.MANY)
            if element == "bf16":
                targets.judge("convolution bf16: at least PyTorch's", row, ratio_beside(1, least), least >= 1)
                cells.append("-")
            else:
                nhwc = against["channels_last"].median
                targets.judge(f"convolution {element}: faster than PyTorch NHWC", row, ratio_beside(1, nhwc), nhwc > 1)
                share = Spread.of([measurement[key] / measurement[element] for measurement in of["dahl"]])
                if is_many:
                    least = kernels.CONVOLUTION_TARGETS[element]
                    asked = f"convolution {element}, many channels: at least {percent(least)} of the limit"
                    targets.judge(asked, row, share_beside(least, share.median), share.median >= least)
                cells.append(share.text(percent))
            cells.append(evenness(element, key, of["dahl"], targets))
            rows.append(cells)
    columns = ["type", "case", "direction", ">GFLOP/s", ">vs NCHW", ">vs NHWC", ">of the limit", ">of 4 filters'"]
    return table(columns, rows)


def evenness(element: str, key: str, measurements: list[dict], targets: Targets) -> str:
    """The speed of 3 and of 5 filters as a share of that of 4."""
    case, direction = key.split("/")
    three, four, five = kernels.FEW
    if not case.startswith((three, five)):
        return "-"
    key_of_four = next(other for other in measurements[0] if other.startswith(four) and other.endswith("/" + direction))
    share = Spread.of([measurement[key] / measurement[key_of_four] for measurement in measurements])
    asked = f"3 and 5 filters: at most {percent(kernels.UNEVEN)} slower per operation than 4"
    least = 1 - kernels.UNEVEN
    text = share_beside(least, share.median)
    targets.judge(asked, f"{element} {case} {direction}", text, share.median >= least)
    return share.text(percent)


def products(measured: dict[str, dict], targets: Targets) -> str:
    """The table of matrix products: GFLOP/s, and shares of the limit."""
    rows = []
    for element, of in measured.items():
        for size in (key for key in of["dahl"][0] if key.isdigit()):
            row = f"{element} {size}"
            own = Spread.of([measurement[size] for measurement in of["dahl"]])
            cells = [element, size, significant(own.median)]
            pairs = [(one[size], two.get(size)) for one, two in zip(of["dahl"], of["PyTorch"], strict=True)]
            against = None if pairs[0][1] is None else Spread.of([one / two for one, two in pairs])
            cells.append("-" if against is None else times(against))
            if element == "bf16":
                text = ratio_beside(1, against.median)
                targets.judge("GEMM bf16: at least PyTorch's", row, text, against.median >= 1)
                cells.append("-")
            else:
                limit = "f32" if element == "f16" else element
                share = Spread.of([measurement[size] / measurement[limit] for measurement in of["dahl"]])
                least = kernels.GEMM_TARGETS[element]
                asked = f"GEMM {element}: at least {percent(least)} of the limit"
                targets.judge(asked, row, share_beside(least, share.median), share.median >= least)
                cells.append(share.text(percent))
            rows.append(cells)
    return table(["type", ">size", ">GFLOP/s", ">dahl / PyTorch", ">of the limit"], rows)


def maps(measured: dict[str, dict], targets: Targets) -> str:
    """The table of maps and reductions: gigabytes per second, and shares of what a copy reaches."""
    rows = []
    for element, of in measured.items():
        for op in of["dahl"][0]:
            own, copy = (Spread.of([measurement[op][which] for measurement in of["dahl"]]) for which in (0, 1))
            share = Spread.of([measurement[op][0] / measurement[op][1] for measurement in of["dahl"]])
            asked = f"maps and reductions: at least {percent(kernels.BANDWIDTH_TARGET)} of a copy's bandwidth"
            is_met = share.median >= kernels.BANDWIDTH_TARGET
            text = share_beside(kernels.BANDWIDTH_TARGET, share.median)
            met = targets.judge(asked, f"{op} {element}", text, is_met)
            rows.append([element, op, significant(own.median), significant(copy.median), share.text(percent), met])
    return table(["type", "op", ">GB/s", ">a copy", ">share", "met"], rows)


def chart(measured: dict[Row, dict], path: pathlib.Path) -> None:
    """The ratios of training with their quartiles, and what they are to be."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "dahl", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9}
    )
    from matplotlib import pyplot

    rows = list(measured)
    spreads = [Spread.of(ratios(measured[row], "dahl", "PyTorch", speed)) for row in rows]
    figure, axes = pyplot.subplots(figsize=(7.5, 1.2 + 0.22 * len(rows)), layout="constrained")
    places = range(len(rows))
    medians = [spread.median for spread in spreads]
    errors = [[s.median - s.low for s in spreads], [s.high - s.median for s in spreads]]
    colors = ["#0072b2" if row.workers == 1 else "#56b4e9" for row in rows]
    axes.barh(places, medians, xerr=errors, color=colors, error_kw={"elinewidth": 1, "ecolor": "#333333"})
    axes.plot(
        [row.target for row in rows], places, "|", color="#d55e00", markersize=11, markeredgewidth=2, label="target"
    )
    axes.axvline(1, color="#333333", linewidth=0.8)
    axes.set_yticks(places, [str(row) for row in rows])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("samples per second, dahl / PyTorch (network-type-batch-workers)")
    axes.legend(loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
