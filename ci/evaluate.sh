#!/bin/sh
# Run an evaluation, decide its gate, and keep what a CI job shows: page, summary, a test per case, figures.
#
#     evallib-evaluate SUITE [option of `evallib run` ...]
#
# Told by the environment:
#     EVALLIB_TARGET   what is under test, as in chat:URL#MODEL (default: scripted, which needs no model)
#     EVALLIB_RUN_ID   name of the run (default: ci)
#     EVALLIB_OUT      where everything goes (default: build/evaluation); the files lie in its folder `report`
#
# Exit status: 0 the gate passed; 1 it blocked; 2 the input is wrong; 3 infrastructure failed, or the page could not be
# made; 4 the run is incomplete: the same call with --resume goes on with it. The files are written in all cases but 2.

set -u
[ $# -gt 0 ] || { echo "evallib-evaluate: name a suite, and then options of \`evallib run\`" >&2; exit 2; }
suite=$1
shift
target=${EVALLIB_TARGET:-scripted}
run=${EVALLIB_RUN_ID:-ci}
out=${EVALLIB_OUT:-build/evaluation}

evallib run "$suite" --target "$target" --run-id "$run" --data "$out/data" "$@"
ran=$?
[ -f "$out/data/runs/$run/plan.json" ] || exit "$ran"
[ $ran -ne 2 ] || exit 2

decided=0
if [ $ran -eq 0 ]; then
    evallib gate "$run" --data "$out/data" --exit-code >/dev/null
    decided=$?
fi
evallib report "$run" --data "$out/data" --out "$out/report"
reported=$?

if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$out/report/$run.md" ]; then
    cat "$out/report/$run.md" >>"$GITHUB_STEP_SUMMARY"
fi
for status in $ran $decided $reported; do
    [ "$status" -eq 0 ] || exit "$status"
done
