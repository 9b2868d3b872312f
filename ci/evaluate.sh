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
# Which run it is and where it lies is told by these alone, so that the gate is that of the run made here: --run-id, --data,
# --adjudications, --json and --exit-code are refused. So is a run that is there already, unless --resume goes on with it.
#
# Exit status: 0 the gate passed; 1 it blocked; 2 the input is wrong; 3 infrastructure failed, or the page could not be
# made; 4 the run is incomplete: the same call with --resume goes on with it. The files are written in all cases but 2.

set -u
refuse() {
    echo "evallib-evaluate: $1" >&2
    exit 2
}
[ $# -gt 0 ] || refuse "name a suite, and then options of \`evallib run\`"
target=${EVALLIB_TARGET:-scripted}
run=${EVALLIB_RUN_ID:-ci}
out=${EVALLIB_OUT:-build/evaluation}
there=$out/data/runs/$run
resumed=no
for word in "$@"; do
    case $word in # evallib takes the first letters of an option for the whole
        --run-i*) refuse "$word: the environment names the run; write EVALLIB_RUN_ID=NAME before the command" ;;
        --d*) refuse "$word: the environment says where everything goes; write EVALLIB_OUT=DIR before the command" ;;
        --a*) refuse "$word: the log is the folder adjudications in EVALLIB_OUT, else ./adjudications; leave it out" ;;
        --js* | --e*) refuse "$word: the gate is decided, and the figures written into EVALLIB_OUT, anyway; leave it out" ;;
        --resu*) resumed=yes ;;
    esac
done
case $run in
    .* | *[!A-Za-z0-9._-]*) refuse "EVALLIB_RUN_ID='$run': a run's name holds letters, digits and ._- only" ;;
esac

# What an earlier call left must not be taken for what this one found.
for file in "$out/report/$run.html" "$out/report/$run.md" "$out/report/$run.junit.xml" "$out/report/$run.json" \
    "$out/report/$run"/*.ipynb; do
    rm -f "$file"
done
[ ! -f "$there/run.json" ] ||
    refuse "run '$run' is in $out/data already, from an earlier call; name another with EVALLIB_RUN_ID"
[ ! -f "$there/plan.json" ] || [ $resumed = yes ] ||
    refuse "run '$run' in $out/data was begun already; add --resume, or name another with EVALLIB_RUN_ID"

suite=$1
shift
evallib run "$suite" --target "$target" --run-id "$run" --data "$out/data" "$@"
ran=$?
[ $ran -ne 0 ] || [ -f "$there/run.json" ] || refuse "no run was made, so there is no gate to decide"
[ -f "$there/plan.json" ] || exit "$ran"
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
