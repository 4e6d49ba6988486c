#!/usr/bin/env python3
"""Draws what commands print in a terminal: runs them, and writes one SVG picture.

    tools/terminal.py                    remakes docs/images/terminal.svg with target/release/throng
    THRONG=PATH tools/terminal.py FILE   with another program, into another file

Lines that say how long something took are left out, so that the same program draws the same picture.
"""
import html
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Each with the number of lines of its output that are shown, from which one on.
COMMANDS = [
    ("throng check examples/c/spinlock-broken.c --entry worker", [(0, 1), (10, 32)]),
    ("throng check examples/c/spinlock.c --entry worker --certificate lock.json", [(0, 5)]),
    ("throng certify examples/c/spinlock.c --entry worker lock.json", [(0, 2)]),
]
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#76e3ea", "94": "#79c0ff", "2": "#8b949e"}
WIDTH, LINE, MARGIN = 8.4, 18, 18


def lines():
    """Yields the commands and the lines that they print."""
    program = os.environ.get("THRONG", str(ROOT / "target/release/throng"))
    certificate = ROOT / "target" / "lock.json"
    for command, shown in COMMANDS:
        words = [str(certificate) if word == "lock.json" else word for word in command.split()]
        done = subprocess.run([program, *words[1:], "--color", "always"], capture_output=True, text=True, cwd=ROOT)
        if done.returncode not in (0, 10):
            sys.exit(f"{command}: status {done.returncode}\n{done.stderr}")
        printed = done.stdout.replace(str(certificate), "lock.json").splitlines()
        yield f"\x1b[1m$ {command}\x1b[0m"
        for first, last in shown:
            yield from printed[first:last]
        yield f"\x1b[2m$ echo $?   # {done.returncode}\x1b[0m"
        yield ""
    certificate.unlink(missing_ok=True)


def spans(line):
    """Returns a line with its colours as SVG text."""
    text, style = [], {}
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b["):
            for code in part[2:-1].split(";"):
                if code in ("0", ""):
                    style = {}
                elif code == "1":
                    style["font-weight"] = "bold"
                elif code in COLOURS:
                    style["fill"] = COLOURS[code]
        elif part:
            attributes = "".join(f' {name}="{value}"' for name, value in style.items())
            text.append(f"<tspan{attributes}>{html.escape(part)}</tspan>")
    return "".join(text)


def main():
    shown = list(lines())[:-1]
    columns = max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in shown)
    width, height = round(columns * WIDTH + 2 * MARGIN), len(shown) * LINE + 2 * MARGIN
    rows = "\n".join(
        f'<text x="{MARGIN}" y="{MARGIN + 13 + at * LINE}" xml:space="preserve">{spans(line)}</text>'
        for at, line in enumerate(shown)
        if line
    )
    picture = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">
<title>A broken spin lock, the run that breaks it, and the proof of a correct one</title>
<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#e6edf3">
{rows}
</g>
</svg>
"""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/images/terminal.svg"
    path.write_text(picture)
    print(path)


if __name__ == "__main__":
    main()
