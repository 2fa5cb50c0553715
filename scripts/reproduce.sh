#!/bin/sh
# Runs every study, and builds one report of them: results/report/index.html, and report.pdf beside it if there is a Chromium.
#
#   scripts/reproduce.sh [OPTION..]    options are those of `dahl study`, such as --quick, --seed 7, --python target/pytorch/bin/python
#
# Each study has its tables, figures, summary and about.toml (commit, machine, seeds, settings, flake) in results/report/STUDY. Times are
# those of this machine: run it when nothing else runs. A figure that a machine cannot have, such as measured energy without
# counters, is said to be missing, with the reason (docs/energy.md).
set -eu
cd "$(dirname "$0")/.."
report=results/report
mkdir -p "$report"

# Of the study `frameworks` alone.
python=
count=$#
while [ "$count" -gt 0 ]; do
    option=$1
    shift
    count=$((count - 1))
    case $option in
    --python)
        [ "$count" -gt 0 ] || { echo "--python: expected a path behind it" >&2; exit 2; }
        python=$1
        shift
        count=$((count - 1))
        ;;
    --python=*) python=${option#--python=} ;;
    *) set -- "$@" "$option" ;;
    esac
done

cargo build --release --quiet --package dahl-cli
dahl=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/dahl

escape() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'; }

# A table in Markdown, and the sentences below it.
summary() {
    escape < "$1" | awk '
        /^\|[-:| ]*$/ { next }
        /^\|/ {
            if (!table) { print "<table>"; table = 1; cell = "th" }
            gsub(/^\| *| *\|$/, ""); gsub(/ *\| */, "</" cell "><" cell ">")
            print "<tr><" cell ">" $0 "</" cell "></tr>"; cell = "td"; next
        }
        { if (table) { print "</table>"; table = 0 } }
        /^\* / { print "<p>" substr($0, 3) "</p>"; next }
        NF { print "<p>" $0 "</p>" }
        END { if (table) print "</table>" }'
}

studies=$("$dahl" study --list | awk 'NR > 1 { print $1 }')
for study in $studies; do
    case $study in
    frameworks) "$dahl" study "$study" --out "$report/$study" ${python:+--python "$python"} "$@" ;;
    *) "$dahl" study "$study" --out "$report/$study" "$@" ;;
    esac
done
"$dahl" machine > "$report/machine.txt"

{
    echo '<!doctype html><html lang="en"><meta charset="utf-8"><title>dahl: studies</title>'
    echo '<style>body { font: 15px sans-serif; max-width: 60em; margin: 2em auto } td, th { padding: 0 0.8em; text-align: right }'
    echo 'td:first-child, th:first-child { text-align: left } pre { font-size: 12px; white-space: pre-wrap } svg { max-width: 100% }'
    echo 'section { break-before: page }</style>'
    echo "<h1>dahl: studies</h1><p>Commit $(git rev-parse HEAD 2>/dev/null || echo unknown), $(date -u +%Y-%m-%dT%H:%MZ).</p>"
    echo '<nav><ul>'
    "$dahl" study --list | sed 1d | escape | sed 's,^\([a-z-]*\)  *\([a-z]*\)  *\(.*\)$,<li><a href="#\1">\1</a> (time: \2): \3</li>,'
    echo '</ul></nav><h2>The machine</h2><pre>'
    escape < "$report/machine.txt"
    echo '</pre>'
    for study in $studies; do
        echo "<section id=\"$study\"><h2>$study</h2>"
        summary "$report/$study/summary.md"
        for figure in "$report/$study"/*.svg; do
            [ -f "$figure" ] && sed '/^<?xml/d; /^<!DOCTYPE/d' "$figure"
        done
        echo '<details open><summary>about.toml</summary><pre>'
        escape < "$report/$study/about.toml"
        echo '</pre></details></section>'
    done
    echo '</html>'
} > "$report/index.html"
echo "$report/index.html"

for browser in chromium chromium-browser google-chrome chrome; do
    if command -v "$browser" > /dev/null 2>&1; then
        "$browser" --headless --no-sandbox --disable-gpu --print-to-pdf="$report/report.pdf" "file://$PWD/$report/index.html" > /dev/null 2>&1
        echo "$report/report.pdf"
        exit 0
    fi
done
echo "there is no Chromium: no report.pdf" >&2
