#!/bin/sh
# Runs every study and writes what docs/studies shows: tables and figures into docs/studies/data/STUDY, and the summaries
# into docs/studies/README.md, between `<!-- summary: STUDY -->` and `<!-- end -->`.
#
#   scripts/studies.sh [STUDY..] [-- OPTION..]    all studies, if none is named; options are those of `dahl study`
#   scripts/studies.sh --page                     the page alone, from the summaries that there are
#
# Times are those of this machine: run it when nothing else runs. All of them take some four minutes on two cores, after the build.
set -eu
cd "$(dirname "$0")/.."
page=docs/studies/README.md

studies=
run=yes
while [ $# -gt 0 ]; do
    if [ "$1" = -- ]; then
        shift
        break
    fi
    if [ "$1" = --page ]; then
        run=no
    else
        studies="$studies $1"
    fi
    shift
done

if [ "$run" = yes ]; then
    cargo build --release --quiet --package dahl-cli
    dahl=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/dahl
    [ -n "$studies" ] || studies=$("$dahl" study --list | awk 'NR > 1 { print $1 }')

    for study in $studies; do
        "$dahl" study "$study" --out "docs/studies/data/$study" "$@"
    done
fi

for summary in docs/studies/data/*/summary.md; do
    study=$(basename "$(dirname "$summary")")
    if ! grep -q "^<!-- summary: $study -->$" "$page"; then
        echo "$page: no place for the summary of $study: a line <!-- summary: $study -->" >&2
        exit 1
    fi
    awk -v study="$study" -v summary="$summary" '
        $0 == "<!-- summary: " study " -->" {
            print; print ""
            while ((getline line < summary) > 0) print line
            print ""
            skipping = 1
        }
        skipping && $0 == "<!-- end -->" { skipping = 0 }
        !skipping { print }
    ' "$page" > "$page.new"
    mv "$page.new" "$page"
done
