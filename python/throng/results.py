"""Answers as dataclasses, runs as tables, and both as they show themselves in notebooks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from html import escape
from typing import Any, Optional, Union

from . import _throng

Document = Mapping[str, Any]


class Verdict(str, Enum):
    """What is known about a property."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    UNKNOWN = "unknown"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Table:
    """Rows with named columns; shows itself as a table. ``pandas.DataFrame(table.dicts())`` makes a data frame."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]

    def dicts(self) -> list[dict[str, object]]:
        """One dictionary per row."""
        return [dict(zip(self.columns, row)) for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        return iter(self.rows)

    def __str__(self) -> str:
        cells = [self.columns, *[tuple(_cell(value) for value in row) for row in self.rows]]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in cells]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>" for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    return "" if value is None else str(value)


@dataclass(frozen=True)
class State:
    """What one thread remembers: where it is, and its variables."""

    name: str
    line: Optional[int]
    statement: Optional[str]
    locals: Mapping[str, str]

    @staticmethod
    def _of(d: Document) -> State:
        return State(d["name"], d["line"], d["statement"], d["locals"])


@dataclass(frozen=True)
class ThreadState:
    """A shared state and the state of one thread in it."""

    shared: Mapping[str, str]
    local: State

    @staticmethod
    def _of(d: Document) -> ThreadState:
        return ThreadState(d["shared"], State._of(d))


@dataclass(frozen=True)
class Change:
    """A variable that changed; `thread` is None for shared ones."""

    thread: Optional[int]
    variable: str
    before: str
    after: str

    def __str__(self) -> str:
        whose = "" if self.thread is None else f"T{self.thread} "
        return f"{whose}{self.variable}: {self.before} -> {self.after}"


@dataclass(frozen=True)
class Step:
    """One step of a run."""

    number: int
    thread: Optional[int]
    """Who acts; None if there are too many threads to name."""
    line: Optional[int]
    statement: str
    shared: Mapping[str, str]
    """The shared variables afterwards."""
    changes: tuple[Change, ...]

    @staticmethod
    def _of(d: Document) -> Step:
        changes = tuple(Change(c["thread"], c["variable"], c["before"], c["after"]) for c in d["changes"])
        return Step(d["step"], d["thread"], d["line"] or None, d["statement"], d["shared_after"], changes)


@dataclass(frozen=True)
class Situation:
    """The shared variables and how many threads are where."""

    shared: Mapping[str, str]
    threads: tuple[tuple[int, State], ...]


@dataclass(frozen=True)
class Violation:
    """What is wrong at the end of a run, and which threads make it so."""

    target: str
    shared: Mapping[str, str]
    threads: tuple[tuple[int, State], ...]


@dataclass(frozen=True)
class Trace:
    """A run into a violation."""

    threads: int
    """The most threads that exist at the same time."""
    start: Situation
    steps: tuple[Step, ...]
    violation: Violation

    @staticmethod
    def _of(d: Document) -> Trace:
        start = Situation(
            d["start"]["shared"], tuple((c["count"], State._of(c)) for c in d["start"]["counts"])
        )
        end = d["violation"]
        violation = Violation(
            end["target"], end["shared"], tuple((t["thread"], State._of(t)) for t in end["threads"])
        )
        return Trace(d["threads"], start, tuple(Step._of(s) for s in d["steps"]), violation)

    def table(self) -> Table:
        """One row per step: who does what, what changes, and the shared variables afterwards."""
        shared = list(self.start.shared)
        lines = any(step.line for step in self.steps)
        columns = ["step", "thread", *(["line"] if lines else []), "statement", "changes", *shared]
        rows = []
        for step in self.steps:
            thread = None if step.thread is None else f"T{step.thread}"
            row: list[object] = [step.number, thread, *([step.line] if lines else []), step.statement]
            row.append("; ".join(map(str, step.changes)))
            row.extend(step.shared.get(name) for name in shared)
            rows.append(tuple(row))
        return Table(tuple(columns), tuple(rows))

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@dataclass(frozen=True)
class Target:
    """The verdict about one property."""

    name: str
    verdict: Verdict
    reason: Optional[str]
    """Why there is no verdict."""
    by: Optional[str]
    """The engine that answered."""
    evidence: Optional[str]
    """The kind of evidence."""
    checked: bool
    """Whether the evidence was checked."""
    trace: Optional[Trace]

    @staticmethod
    def _of(d: Document) -> Target:
        trace = None if d["trace"] is None else Trace._of(d["trace"])
        evidence = None if d["evidence"] is None else d["evidence"]["kind"]
        return Target(d["name"], Verdict(d["verdict"]), d["reason"], d["by"], evidence, d["checked"], trace)


@dataclass(frozen=True)
class LineFacts:
    """What the proof says whenever a thread is at a line."""

    line: int
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Note:
    """What is odd about the input, the question or the proof."""

    code: str
    message: str
    line: Optional[int]


@dataclass(frozen=True)
class Certificate:
    """Evidence as a file, which ``throng certify`` and :func:`throng.certify` check without any search."""

    data: bytes = field(repr=False)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes it to a file."""
        with open(path, "wb") as file:
            file.write(self.data)

    @staticmethod
    def read(path: Union[str, os.PathLike[str]]) -> Certificate:
        """Reads it from a file."""
        with open(path, "rb") as file:
            return Certificate(file.read())

    def json(self) -> Any:
        """What it says, as Python objects."""
        return json.loads(self.data)


@dataclass(frozen=True)
class _Shown:
    """What a result shows: the report of the command line as its text, the web page in notebooks."""

    _native: _throng.Answer = field(repr=False, compare=False)

    def __str__(self) -> str:
        return self._native.text

    def html(self) -> str:
        """The report as a web page that needs no network."""
        return self._native.html()

    def save_html(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the page to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html())

    def _repr_html_(self) -> str:
        # The page has styles and a script of its own: a frame keeps them and the notebook apart.
        page = escape(self.html(), quote=True)
        style = f"width:100%;height:640px;border:1px solid #8888;border-radius:4px"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'


def _certificate(native: _throng.Answer) -> Optional[Certificate]:
    return None if native.certificate is None else Certificate(bytes(native.certificate))


@dataclass(frozen=True, repr=False)
class CheckResult(_Shown):
    """What :func:`throng.check` found out."""

    verdict: Verdict
    """Unsafe if any property is violated, else unknown if any is not decided, else safe."""
    targets: tuple[Target, ...]
    """The properties."""
    initial: str
    """The initial configuration, in words."""
    scope: str
    """For how many threads a proof holds, in words."""
    threads: Optional[int]
    """At most so many threads; None: any number."""
    engine: str
    """What answered."""
    facts: tuple[LineFacts, ...]
    """What the proof says about each line."""
    warnings: tuple[Note, ...]
    """What is odd about the input, the question or the proof."""
    assumptions: tuple[str, ...]
    """What the verdicts take for granted, in words."""
    memory_model: Optional[str]
    """The memory model that the verdicts are about, ``sc`` or ``c11``, where the program names weaker memory orders or one was asked for."""
    remarks: tuple[str, ...]
    """What to say beside the verdicts, such as why there is no certificate."""
    seconds: float
    certificate: Optional[Certificate]
    document: Document
    """All that ``throng check --json`` says."""

    @staticmethod
    def _of(native: _throng.Answer) -> CheckResult:
        d = json.loads(native.json)
        targets = tuple(Target._of(t) for t in d["targets"])
        return CheckResult(
            _native=native,
            verdict=Verdict(d["verdict"]),
            targets=targets,
            initial=d["initial"],
            scope=d["scope"],
            threads=d["threads"],
            engine=d["engine"],
            facts=tuple(LineFacts(f["line"], tuple(f["facts"])) for f in d["facts"]),
            warnings=tuple(Note(w["code"], w["message"], w["line"]) for w in d["warnings"]),
            assumptions=tuple(d["assumptions"]),
            memory_model=d["memory_model"],
            remarks=tuple(native.remarks),
            seconds=d["statistics"]["seconds"],
            certificate=_certificate(native),
            document=d,
        )

    @property
    def safe(self) -> bool:
        """Whether every property was proved."""
        return self.verdict is Verdict.SAFE

    @property
    def unsafe(self) -> bool:
        """Whether some property is violated."""
        return self.verdict is Verdict.UNSAFE

    @property
    def trace(self) -> Optional[Trace]:
        """The run into the first property that is violated."""
        return next((target.trace for target in self.targets if target.trace is not None), None)

    @property
    def reason(self) -> Optional[str]:
        """Why the first property without a verdict has none."""
        reasons = [target.reason for target in self.targets if target.reason is not None]
        if self.verdict is Verdict.UNKNOWN and not reasons:
            reasons = [attempt["outcome"] for attempt in self.document["attempts"]]
        return reasons[0] if reasons else None

    def replay(self) -> Optional[str]:
        """The run of a C program as a program in C that is forced through it with real threads; None if there is no run, or it is not of C.

        Its first lines say how to compile it. After a memory error it aborts if compiled with ``-fsanitize=address``.
        """
        return self._native.replay()

    def __bool__(self) -> bool:
        raise TypeError("a verdict is one of three: ask for .safe, .unsafe or .verdict")

    def __repr__(self) -> str:
        return f"<throng.CheckResult {self._native.text.splitlines()[0]}>"


@dataclass(frozen=True)
class Mutant:
    """A program with one thing changed, from :func:`throng.mutate`."""

    change: str
    """What was done, such as ``lock disabled``."""
    lines: tuple[int, ...]
    what: str
    """The text that was changed."""
    result: Optional[CheckResult]
    """What was found out about it; None: it could not be checked."""
    reason: Optional[str]
    """Why it could not be checked."""

    @staticmethod
    def _of(
        change: str, lines: list[int], what: str, native: Optional[_throng.Answer], reason: Optional[str]
    ) -> Mutant:
        result = None if native is None else CheckResult._of(native)
        return Mutant(change, tuple(lines), what, result, reason)

    @property
    def verdict(self) -> Verdict:
        """Of the changed program."""
        return Verdict.UNKNOWN if self.result is None else self.result.verdict


@dataclass(frozen=True)
class Statement:
    """A statement of a program."""

    line: int
    statement: str
    function: str


@dataclass(frozen=True, repr=False)
class ReachResult(_Shown):
    """What :func:`throng.reach` found out."""

    complete: bool
    """Whether all thread states are listed; if not, none is."""
    reason: Optional[str]
    """Why they are not."""
    states: tuple[ThreadState, ...]
    """Every thread state that can be reached."""
    unreached: tuple[Statement, ...]
    """Statements that no thread reaches."""
    initial: str
    threads: Optional[int]
    seconds: float
    document: Document

    @staticmethod
    def _of(native: _throng.Answer) -> ReachResult:
        d = json.loads(native.json)
        return ReachResult(
            _native=native,
            complete=d["complete"],
            reason=d["reason"],
            states=tuple(ThreadState._of(s) for s in d["thread_states"]),
            unreached=tuple(Statement(u["line"], u["statement"], u["function"]) for u in d["unreached"]),
            initial=d["initial"],
            threads=d["threads"],
            seconds=d["statistics"]["seconds"],
            document=d,
        )

    def table(self) -> Table:
        """One row per thread state."""
        return _states_table([], [((), state) for state in self.states])

    def __repr__(self) -> str:
        said = f"{len(self.states)} thread states" if self.complete else f"UNKNOWN: {self.reason}"
        return f"<throng.ReachResult {said}>"


@dataclass(frozen=True)
class Level:
    """What so many threads show that fewer do not."""

    threads: int
    new: int
    """How many thread states are new."""
    example: ThreadState
    steps: int
    """How many steps lead to the example."""


@dataclass(frozen=True, repr=False)
class CutoffResult(_Shown):
    """What :func:`throng.cutoff` found out."""

    cutoff: Optional[int]
    """So many threads show every reachable thread state, and fewer do not; None: not known."""
    reason: Optional[str]
    """Why it is not known."""
    thread_states: Optional[int]
    levels: tuple[Level, ...]
    evidence: Optional[str]
    checked: bool
    initial: str
    seconds: float
    certificate: Optional[Certificate]
    document: Document

    @staticmethod
    def _of(native: _throng.Answer) -> CutoffResult:
        d = json.loads(native.json)
        levels = (
            Level(level["threads"], level["new"], ThreadState._of(level["example"]), level["steps"])
            for level in d["levels"]
        )
        return CutoffResult(
            _native=native,
            cutoff=d["cutoff"],
            reason=d["reason"],
            thread_states=d["thread_states"],
            levels=tuple(levels),
            evidence=d["evidence"],
            checked=d["checked"],
            initial=d["initial"],
            seconds=d["seconds"],
            certificate=_certificate(native),
            document=d,
        )

    def table(self) -> Table:
        """One row per number of threads."""
        rows = [((level.threads, level.new, level.steps), level.example) for level in self.levels]
        return _states_table(["threads", "new", "steps"], rows)

    def __repr__(self) -> str:
        said = f"UNKNOWN: {self.reason}" if self.cutoff is None else f"cutoff {self.cutoff}"
        return f"<throng.CutoffResult {said}>"


def _states_table(columns: Sequence[str], rows: Sequence[tuple[tuple[object, ...], ThreadState]]) -> Table:
    shared = list(dict.fromkeys(name for _, state in rows for name in state.shared))
    made = tuple((*first, *(state.shared.get(name) for name in shared), state.local.name) for first, state in rows)
    return Table((*columns, *shared, "thread"), made)


@dataclass(frozen=True)
class Answer:
    """An answer that a certificate shows."""

    name: str
    verdict: Verdict
    kind: str
    """The kind of evidence."""
    elements: int
    """Its size."""
    asked: bool
    """Whether the question asks for it."""


@dataclass(frozen=True)
class CertifyResult:
    """What :func:`throng.certify` found out."""

    valid: Optional[bool]
    """Whether the certificate answers the question and is valid; None: a limit was hit before that was known."""
    reason: Optional[str]
    """Which rule failed, and where."""
    answers: tuple[Answer, ...]
    cutoff: Optional[int]
    """So many threads show every reachable thread state."""
    smallest: Optional[bool]
    """Whether fewer do not."""
    initial: Optional[str]
    threads: Optional[str]
    assumptions: tuple[str, ...]
    """What the answers take for granted, in words."""
    notes: tuple[str, ...]

    @staticmethod
    def _of(d: Document) -> CertifyResult:
        answers = (
            Answer(a["name"], Verdict(a["verdict"]), a["kind"], a["elements"], a["asked"]) for a in d["answers"]
        )
        return CertifyResult(
            valid={"valid": True, "invalid": False}.get(d["result"]),
            reason=d["reason"],
            answers=tuple(answers),
            cutoff=d["cutoff"],
            smallest=d["smallest"],
            initial=d["initial"],
            threads=d["threads"],
            assumptions=tuple(d["assumptions"] or ()),
            notes=tuple(d["notes"] or ()),
        )
