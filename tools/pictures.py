"""Draw the README's pictures from the demo run (`make pictures`): the reviewer's screen and the reliability chart."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from evallib.charts import to_png
from evallib.exhibits.run import open_exhibits

ROOT = Path(__file__).resolve().parent.parent
DEMO, DOCS, RUN = ROOT / "build/demo", ROOT / "docs", "demo-tickets"


def main() -> int:
    """Both pictures; the older ones are replaced."""
    DOCS.mkdir(exist_ok=True)
    chart, screen = DOCS / "reliability.png", DOCS / "reviewer.png"
    for picture in (chart, screen):
        picture.unlink(missing_ok=True)
    shown = open_exhibits(RUN, data=DEMO / "data", adjudications=DEMO / "adjudications")
    to_png(shown.reliability(columns=3).chart, chart, scale=1)
    browser = [sys.executable, str(ROOT / "tests/browser.py"), "--screenshot", str(screen)]
    return subprocess.run([*browser, "--run", RUN, "--data", str(DEMO / "data")], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
