"""Throng proves that concurrent programs are safe for any number of threads, or shows the execution that breaks them.

    >>> import throng
    >>> throng.check("examples/spinlock.bp").verdict
    <Verdict.SAFE: 'safe'>
"""

from ._throng import ThrongError, __version__
from .model import EXIT, Model, Move, Start, never, never_shared, never_two
from .questions import Program, certify, check, cutoff, load, load_project, loads, mutate, reach
from .results import (
    Answer,
    Certificate,
    CertifyResult,
    Change,
    CheckResult,
    CutoffResult,
    Level,
    LineFacts,
    Mutant,
    Note,
    ReachResult,
    Situation,
    State,
    Statement,
    Step,
    Table,
    Target,
    ThreadState,
    Trace,
    Verdict,
    Violation,
)

__all__ = [
    "EXIT",
    "Answer",
    "Certificate",
    "CertifyResult",
    "Change",
    "CheckResult",
    "CutoffResult",
    "Level",
    "LineFacts",
    "Model",
    "Move",
    "Mutant",
    "Note",
    "Program",
    "ReachResult",
    "Situation",
    "Start",
    "State",
    "Statement",
    "Step",
    "Table",
    "Target",
    "ThreadState",
    "ThrongError",
    "Trace",
    "Verdict",
    "Violation",
    "__version__",
    "certify",
    "check",
    "cutoff",
    "load",
    "load_project",
    "loads",
    "mutate",
    "never",
    "never_shared",
    "never_two",
    "reach",
]
