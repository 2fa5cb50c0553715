#!/usr/bin/env python3
"""Prints the table of docs/measurements/gradients.md: how each operation of dahl is differentiated.

    scripts/gradient_rules.py
    DAHL_NUMERICS_REPORT="$PWD/target/numerics" cargo test --features testing --test ops gradient
    scripts/gradient_rules.py target/numerics/dahl.gradients.json

It reads the declarations in src/ops. *Derived* is a map that the macro differentiates; through one that makes masks or integers
nothing flows. With the report of the tests, the table
has the worst error of each operation's gradient, over its tests.
"""

import json
import re
import sys
from pathlib import Path

OPS = Path(__file__).resolve().parent.parent / "src/ops"
DECLARATION = re.compile(r"#\[codelet\(")
FUNCTION = re.compile(r"(pub(?:\(\w+\))? )?fn (\w+)[^(]*\(")


def balanced(text, start):
    """The text up to the parenthesis that closes the one before `start`."""
    depth, end = 1, start
    while depth:
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(text[end], 0)
        end += 1
    return text[start : end - 1]


def without_generics(text):
    """A function's text with its generic parameters left out."""
    return re.sub(r"fn (\w+)<.*?>\(", r"fn \1(", text, count=1, flags=re.S)


def rule(attribute, parameters, result):
    option = re.search(r"\bgradient = ([\w:]+)(\(([^)]*)\))?", attribute)
    if option:
        name, reads = option.group(1), option.group(3)
        if name == "none":
            return "none"
        if name == "derived":
            return "derived"
        if name == "data":
            return f"`{reads}`, of several types"
        if name == "adjoint":
            return f"adjoint: `{reads}`"
        return f"`{name}`" + (f", reads {', '.join(f'`{of.strip()}`' for of in reads.split(','))}" if reads else "")
    is_map = not re.search(r"&|View", parameters)
    if not is_map or "cpu_only" in attribute:
        return None
    return "derived: of integers" if re.match(r"\s*-> [ui]\d+", result) else "derived"


def worst_errors(path):
    """The worst error of each operation in each element type: in ULP, and relative to its bound."""
    worst = {}
    for line in json.loads(Path(path).read_text()):
        key = line["codelet"], line["element"]
        ulps, fraction = worst.get(key, (0, 0))
        worst[key] = max(ulps, line["max_ulps"]), max(fraction, line["bound_fraction"])
    return worst


def shown(value):
    return "0" if value == 0 else f"{value:.2f}" if 0.005 <= value < 1000 else f"{value:.0e}"


def main():
    worst = worst_errors(sys.argv[1]) if len(sys.argv) > 1 else {}
    elements = ["f16", "bf16", "f32", "f64"] if worst else []
    rows = []
    for path in sorted(OPS.rglob("*.rs")):
        text = path.read_text()
        for declaration in DECLARATION.finditer(text):
            attribute = balanced(text, declaration.end())
            rest = without_generics(text[declaration.end() + len(attribute) :])
            function = FUNCTION.search(rest)
            parameters = balanced(rest, function.end())
            how = rule(attribute, parameters, rest[function.end() + len(parameters) + 1 :])
            if function.group(1) == "pub " and how:
                rows.append((function.group(2), how))
    counts = {kind: sum(how.startswith(kind) for _, how in rows) for kind in ("derived", "adjoint", "none")}
    named = len(rows) - sum(counts.values())
    print(f"{len(rows)} operations: {counts['derived']} derived, {named} with a named rule, {counts['adjoint']} by an", end=" ")
    print(f"adjoint, {counts['none']} through which nothing flows.\n")
    print("| operation | gradient |" + "".join(f" {element}: ULP | of bound |" for element in elements))
    print("|---|---|" + "---:|---:|" * len(elements))
    for name, how in sorted(rows):
        errors = (worst.get((name, element)) for element in elements)
        cells = (" | |" if error is None else " " + " | ".join(map(shown, error)) + " |" for error in errors)
        print(f"| `{name}` | {how} |" + "".join(cells))


if __name__ == "__main__":
    main()
