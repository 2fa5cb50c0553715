#!/usr/bin/env python3
"""Prints the table of docs/measurements/gradients.md: how each operation of dahl is differentiated.

    scripts/gradient_rules.py

It reads the declarations in src/ops. *Derived* is a map that the macro differentiates.
"""

import re
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


def rule(attribute, parameters):
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
    return "derived" if is_map and "cpu_only" not in attribute else None


def main():
    rows = []
    for path in sorted(OPS.rglob("*.rs")):
        text = path.read_text()
        for declaration in DECLARATION.finditer(text):
            attribute = balanced(text, declaration.end())
            rest = without_generics(text[declaration.end() + len(attribute) :])
            function = FUNCTION.search(rest)
            parameters = balanced(rest, function.end())
            how = rule(attribute, parameters)
            if function.group(1) == "pub " and how:
                rows.append((function.group(2), how))
    counts = {kind: sum(how.startswith(kind) for _, how in rows) for kind in ("derived", "adjoint", "none")}
    named = len(rows) - sum(counts.values())
    print(f"{len(rows)} operations: {counts['derived']} derived, {named} with a named rule, {counts['adjoint']} by an", end=" ")
    print(f"adjoint, {counts['none']} through which nothing flows.\n\n| operation | gradient |\n|---|---|")
    for name, how in sorted(rows):
        print(f"| `{name}` | {how} |")


if __name__ == "__main__":
    main()
