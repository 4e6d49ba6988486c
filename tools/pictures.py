#!/usr/bin/env python3
"""Draws the pictures of docs/how-it-works.md into docs/images/how-*.svg."""
import html
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs/images"
STYLE = """text { font: 14px system-ui, sans-serif; fill: #1f2328; } .small { font-size: 12px; fill: #59636e; }
.box { fill: #f6f8fa; stroke: #59636e; } .good { fill: #dafbe1; stroke: #1a7f37; } .bad { fill: #ffebe9; stroke: #cf222e; }
.line { stroke: #59636e; fill: none; } .dot { fill: #0969da; } .paper { fill: #ffffff; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .small { fill: #9198a1; } .paper { fill: #0d1117; }
.box { fill: #151b23; stroke: #9198a1; } .good { fill: #12261e; stroke: #3fb950; } .bad { fill: #25171c; stroke: #f85149; }
.line { stroke: #9198a1; } .dot { fill: #4493f8; } }"""


class Picture:
    """An SVG picture that grows as things are drawn."""

    def __init__(self, name, title, width, height):
        self.name, self.title, self.width, self.height, self.parts = name, title, width, height, []

    def text(self, x, y, words, kind="", anchor="middle"):
        self.parts.append(f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{html.escape(words)}</text>')

    def box(self, x, y, width, height, lines, kind="box"):
        self.parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>')
        first = y + height / 2 + 5 - 9 * (len(lines) - 1)
        for at, line in enumerate(lines):
            self.text(x + width / 2, first + 18 * at, line, "small" if at else "")

    def arrow(self, x1, y1, x2, y2, words="", above=True):
        self.parts.append(f'<path class="line" marker-end="url(#tip)" d="M{x1} {y1} L{x2} {y2}"/>')
        if words:
            self.text((x1 + x2) / 2, (y1 + y2) / 2 + (-7 if above else 17), words, "small")

    def dots(self, x, y, count):
        for at in range(count):
            self.parts.append(f'<circle class="dot" cx="{x + 16 * (at % 6)}" cy="{y + 16 * (at // 6)}" r="5"/>')

    def save(self):
        text = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" role="img">
<title>{html.escape(self.title)}</title>
<style>{STYLE}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="line" d="M1 1 L7 4 L1 7"/></marker></defs>
<rect class="paper" width="{self.width}" height="{self.height}" rx="8"/>
{chr(10).join(self.parts)}
</svg>
"""
        (FOLDER / f"how-{self.name}.svg").write_text(text)


def way():
    p = Picture("way", "From a C file to a verdict", 760, 150)
    for at, lines in enumerate([["lock.c"], ["goto program", "one access per step"], ["model", "steps on demand"], ["engines", "hunt and prove"], ["checker", "small, separate"]]):
        p.box(15 + 150 * at, 45, 125, 60, lines, "good" if at == 4 else "box")
        if at:
            p.arrow(140 + 150 * (at - 1), 75, 165 + 150 * (at - 1), 75)
    p.text(740, 130, "SAFE, UNSAFE or UNKNOWN", "small", "end")
    p.save()


def counting():
    p = Picture("counting", "Five threads, and how many are in each local state", 700, 190)
    p.text(120, 28, "five threads by name")
    for at, state in enumerate(["waits", "waits", "inside", "waits", "done"]):
        p.box(20 + 42 * at, 45, 36, 36, [f"T{at + 1}"])
        p.text(38 + 42 * at, 100, state, "small")
    p.text(120, 140, "20 ways to name them are one", "small")
    p.arrow(250, 75, 320, 75, "count")
    p.text(510, 28, "how many are where")
    for at, (state, count) in enumerate([("waits", 3), ("inside", 1), ("done", 1)]):
        p.box(345 + 115 * at, 45, 100, 70, ["", ""], "box")
        p.text(395 + 115 * at, 135, state, "small")
        p.dots(365 + 115 * at, 80, count)
    p.text(510, 170, "one more thread is one more dot, not a new dimension", "small")
    p.save()


def hunting():
    p = Picture("hunting", "Searching with one, two, three threads", 700, 210)
    for at in range(3):
        width = 90 + 60 * at
        x = [30, 170, 370][at]
        kind = "bad" if at == 2 else "box"
        p.box(x, 70 - 15 * at, width, 60 + 30 * at, [f"{at + 1} thread{'s' if at else ''}", "a violation" if at == 2 else "nothing bad"], kind)
    p.arrow(122, 100, 168, 100, "+ 1")
    p.arrow(322, 100, 368, 100, "+ 1")
    p.text(475, 185, "the first that is found has the fewest threads", "small")
    p.box(610, 70, 75, 60, ["replay", "in C"], "bad")
    p.arrow(582, 100, 608, 100)
    p.save()


def views():
    p = Picture("views", "Pairs of threads that can occur together", 720, 210)
    p.text(130, 28, "all pairs that occur together")
    for at, (a, b, kind) in enumerate([("waits", "waits", "good"), ("waits", "inside", "good"), ("inside", "inside", "bad")]):
        p.box(30, 45 + 50 * at, 85, 36, [a], kind)
        p.box(135, 45 + 50 * at, 85, 36, [b], kind)
    p.text(125, 205, "this one never arises", "small")
    p.arrow(240, 110, 310, 110, "a step of one")
    p.box(320, 80, 130, 60, ["new pairs", "beside any third"], "box")
    p.arrow(452, 110, 520, 110, "none is new")
    p.box(525, 80, 175, 60, ["SAFE", "for any number of threads"], "good")
    p.save()


def predicates():
    p = Picture("predicates", "Predicate abstraction with refinement", 720, 230)
    p.box(20, 30, 150, 60, ["goto program", "values of 32 bits"])
    p.box(280, 30, 170, 60, ["Boolean program", "is it true that a < b?"])
    p.box(560, 30, 140, 60, ["SAFE", "and the facts"], "good")
    p.arrow(172, 60, 278, 60, "keep a few facts")
    p.arrow(452, 60, 558, 60, "no bad run")
    p.box(280, 150, 170, 60, ["a bad run", "can the values do it?"])
    p.arrow(365, 92, 365, 148)
    p.box(560, 150, 140, 60, ["UNSAFE", "with inputs"], "bad")
    p.arrow(452, 180, 558, 180, "yes")
    p.arrow(278, 180, 95, 92)
    p.text(150, 175, "no: one more fact", "small")
    p.save()


def evidence():
    p = Picture("evidence", "Evidence, and who checks it", 720, 200)
    p.box(20, 60, 170, 80, ["engines", "large, clever, fast"])
    p.box(290, 60, 160, 80, ["certificate or run", "a file"])
    p.box(550, 60, 150, 80, ["checker", "small, searches nothing"], "good")
    p.arrow(192, 100, 288, 100, "find")
    p.arrow(452, 100, 548, 100, "is checked by")
    p.text(105, 165, "need not be trusted", "small")
    p.text(625, 165, "is trusted", "small")
    p.text(370, 28, "a mistake of an engine costs an answer, not the truth of one", "small")
    p.save()


if __name__ == "__main__":
    for draw in (way, counting, hunting, views, predicates, evidence):
        draw()
