"""Texts that would like to run, to fetch, to hide or to command; each would set `window.hit` where it ran."""

from __future__ import annotations

from pathlib import Path

from evallib.records import Sample, ToolCall, Turn, Verdict
from evallib.store import Run, import_run

HIT = "window.hit=1"
SINKS = [
    f"<script>{HIT}</script>",
    f'<img src=x onerror="{HIT}">',
    f"<svg onload={HIT}><script>{HIT}</script></svg>",
    f'<svg><animate onbegin="{HIT}" attributeName=x dur=1s></svg>',
    f'<iframe srcdoc="<script>parent.{HIT}</script>"></iframe>',
    f'<iframe src="javascript:parent.{HIT}"></iframe>',
    f'<object data="data:text/html,<script>parent.{HIT}</script>"></object>',
    f'<embed src="javascript:{HIT}">',
    f'<a href="javascript:{HIT}" autofocus onfocus="{HIT}">x</a>',
    f'<details open ontoggle="{HIT}"><summary>x</summary></details>',
    f'<video><source onerror="{HIT}"></video>',
    f'<body onload="{HIT}">',
    f'<input autofocus onfocus="{HIT}">',
    f'<math><mtext></math><img src=x onerror="{HIT}">',
    f'<style>@import "javascript:{HIT}"; * {{ background: url(http://elsewhere.invalid/x) }}</style>',
    '<link rel=stylesheet href="http://elsewhere.invalid/x.css">',
    '<meta http-equiv="refresh" content="0;url=http://elsewhere.invalid/">',
    f'<form action="javascript:{HIT}"><button id=autoclick>x</button></form>',
    "<button data-commandlinker-command='notebook:delete-cell' data-commandlinker-args='{}'>x</button>",
    f"[x](javascript:{HIT}) ![x](x\" onerror=\"{HIT})",
    f"$$\\href{{javascript:{HIT}}}{{x}}$$ \\(\\unicode{{<img src=x onerror={HIT}>}}\\)",
    f"```html\n<script>{HIT}</script>\n```",
    f"{{{{constructor.constructor('{HIT}')()}}}} ${{{HIT}}} <%= {HIT} %>",
    f"</script><script>{HIT}</script><!-- --><script>{HIT}</script>",
    f"\x1b]8;;javascript:{HIT}\x07link\x1b]8;;\x07 \x1b[2J\x1b[31mred",
    "pass\u202egnihton si ereht\u202c\u200b\u2066x\u2069\u00ad\ufeff\u2028next",
    f'" onmouseover="{HIT}" x="',
    f"<template><script>{HIT}</script></template><noscript><p title=\"</noscript><img src=x onerror={HIT}>\">",
]  # fmt: skip
SUITE = """\
suite: hostile
recorded: true
checks:
  - {id: policy, check: recorded, critical: true, description: '<script>window.hit=1</script> <svg onload=hit=1>'}
cases:
"""


def hostile_run(data: Path, run_id: str = "hostile", *, samples: int = 10) -> Run:
    """Every sink in answers, requests, titles, keys, tool calls, reasons and files; every second sample failed.

    The sinks are dealt out over the samples, so that each is shown in each place.
    """
    cases, made, verdicts = [], [], []
    for number in range(samples):
        sinks = SINKS[number::samples]
        text = f"Answer {number}.\n" + "\n".join(sinks)
        case = f"h-{number:03d}"
        cases.append(f"  - {{id: {case}, title: {_quoted(sinks[0])}, key: {{fact: {_quoted(sinks[0])}}}}}\n")
        call = ToolCall(f"tool{number}", {"given": sinks[0]}, text)
        turn = Turn(1, text, text, (call,))
        made.append(Sample(run_id, case, 1, turns=(turn,), answer=text, files={"answer.md": text}))
        passed = number % 2 == 0
        spans = (0, 6)
        value = float(passed)
        verdicts.append(Verdict(case, 1, "policy", "scored", text, value, value, passed, spans, critical=True))
    suite = SUITE + "".join(cases)
    target = {"kind": "by hand", "model": "secret-model"}
    return import_run(data, run_id, suite, made, verdicts, target=target, source={"kind": "by hand"})


def _quoted(text: str) -> str:
    plain = "".join(c if c.isprintable() and ord(c) < 127 else "?" for c in text.splitlines()[0])
    return "'" + plain.replace("'", "''") + "'"
