"""The questions one can ask about a program, a system, a net or a model written in Python."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Optional, Union

from . import _throng
from .model import Model, properties
from .results import Certificate, CertifyResult, CheckResult, CutoffResult, ReachResult

Path = Union[str, "os.PathLike[str]"]
Names = Union[str, Sequence[str]]


class Program:
    """An input that was read: a program, a thread-transition system or a net. Made by :func:`load` and :func:`loads`."""

    def __init__(self, native: _throng.Loaded) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._native.name

    @property
    def text(self) -> str:
        """Its text."""
        return self._native.source

    @property
    def format(self) -> str:
        """Its language: ``bp``, ``tts``, ``ntts``, ``spec`` or ``pnml``."""
        return self._native.format

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about it."""
        return tuple(self._native.warnings)

    def __repr__(self) -> str:
        return f"<throng.Program {self.name} ({self.format})>"


Subject = Union[Program, Path, Model[Any, Any]]


def load(
    path: Path, *, format: Optional[str] = None, init_free: bool = False, keep_ended: bool = False
) -> Program:
    """Reads a file in the format that its extension names, or in `format`.

    `init_free`: mist's reading of nets, what ``init`` does not mention may start with any number of tokens.
    `keep_ended`: under a thread bound, a thread that has ended keeps its slot.
    """
    return Program(_throng.Loaded.open(path, format, init_free, keep_ended))


def loads(
    text: str,
    format: str = "bp",
    *,
    name: Optional[str] = None,
    init_free: bool = False,
    keep_ended: bool = False,
) -> Program:
    """Reads a text; `name` is what messages call it."""
    called = f"<{format}>" if name is None else name
    return Program(_throng.Loaded.text(text, called, format, init_free, keep_ended))


def check(
    subject: Subject,
    *,
    initial: Union[str, int, None] = None,
    threads: Optional[int] = None,
    target: Names = (),
    prop: Optional[Path] = None,
    error_label: Names = (),
    mutex: Names = (),
    at_most: Names = (),
    never: Names = (),
    race: Names = (),
    deadlock: bool = False,
    stuck: Names = (),
    invariant: Names = (),
    engine: str = "auto",
    timeout: Optional[float] = None,
    memory: Optional[int] = None,
    jobs: Optional[int] = None,
    max_threads: Optional[int] = None,
    certificate: bool = False,
) -> CheckResult:
    """Is it safe, for any number of threads? With `threads`: for at most so many.

    The properties are those of the options of ``throng check``; without any, those that the input states itself. A model in Python has its own, and takes
    `threads` only. `timeout` is in seconds, `memory` in MiB. `certificate`: the result holds its evidence as a file that ``throng certify`` checks.
    """
    question = _question(
        subject,
        initial=None if initial is None else str(initial),
        threads=threads,
        target=target,
        prop=prop,
        error_label=error_label,
        mutex=mutex,
        at_most=at_most,
        never=never,
        race=race,
        deadlock=deadlock,
        stuck=stuck,
        invariant=invariant,
    )
    search = _search(subject, engine, timeout, memory, jobs, max_threads)
    _no_certificate(subject, certificate)
    native = _throng.check(_subject(subject, asks=True), question, search, certificate)
    return CheckResult._of(native)


def reach(
    subject: Subject,
    *,
    initial: Union[str, int, None] = None,
    threads: Optional[int] = None,
    inside_atomic: bool = False,
    engine: str = "auto",
    timeout: Optional[float] = None,
    memory: Optional[int] = None,
    jobs: Optional[int] = None,
) -> ReachResult:
    """Every thread state that can be reached; `inside_atomic`: also those while a thread is inside an atomic section."""
    question = _question(subject, initial=None if initial is None else str(initial), threads=threads)
    search = _search(subject, engine, timeout, memory, jobs, None)
    return ReachResult._of(_throng.reach(_subject(subject), question, search, inside_atomic))


def cutoff(
    subject: Subject,
    *,
    initial: Union[str, int, None] = None,
    engine: str = "auto",
    timeout: Optional[float] = None,
    memory: Optional[int] = None,
    jobs: Optional[int] = None,
    certificate: bool = False,
) -> CutoffResult:
    """The smallest number of threads that shows every reachable thread state."""
    question = _question(subject, initial=None if initial is None else str(initial))
    search = _search(subject, engine, timeout, memory, jobs, None)
    _no_certificate(subject, certificate)
    return CutoffResult._of(_throng.cutoff(_subject(subject), question, search, certificate))


def certify(
    subject: Union[Program, Path],
    certificate: Union[Certificate, bytes, Path],
    *,
    initial: Union[str, int, None] = None,
    threads: Optional[int] = None,
    target: Names = (),
    prop: Optional[Path] = None,
    error_label: Names = (),
    mutex: Names = (),
    at_most: Names = (),
    never: Names = (),
    race: Names = (),
    deadlock: bool = False,
    stuck: Names = (),
    invariant: Names = (),
    timeout: Optional[float] = None,
    memory: Optional[int] = None,
) -> CertifyResult:
    """Checks a certificate, without any search, as an answer to what :func:`check` with the same arguments asks."""
    question = _question(
        subject,
        initial=None if initial is None else str(initial),
        threads=threads,
        target=target,
        prop=prop,
        error_label=error_label,
        mutex=mutex,
        at_most=at_most,
        never=never,
        race=race,
        deadlock=deadlock,
        stuck=stuck,
        invariant=invariant,
    )
    if isinstance(certificate, Certificate):
        data = certificate.data
    elif isinstance(certificate, bytes):
        data = certificate
    else:
        with open(certificate, "rb") as file:
            data = file.read()
    program = subject if isinstance(subject, Program) else load(subject)
    search = _search(subject, "auto", timeout, memory, None, None)
    return CertifyResult._of(json.loads(_throng.certify(program._native, question, search, data)))


_NOTHING: dict[str, Any] = {
    "initial": None,
    "threads": None,
    "target": (),
    "prop": None,
    "error_label": (),
    "mutex": (),
    "at_most": (),
    "never": (),
    "race": (),
    "deadlock": False,
    "stuck": (),
    "invariant": (),
}
_LISTS = [name for name, value in _NOTHING.items() if value == ()]


def _question(subject: object, **asked: Any) -> dict[str, Any]:
    if isinstance(subject, Model):
        for name, value in asked.items():
            if name != "threads" and value != _NOTHING[name]:
                raise TypeError(f"{name} is about programs, systems and nets; a model in Python has properties of its own")
    question = {**_NOTHING, **asked}
    for name in _LISTS:
        value = question[name]
        question[name] = [value] if isinstance(value, str) else list(value)
    return question


def _search(
    subject: object,
    engine: str,
    timeout: Optional[float],
    memory: Optional[int],
    jobs: Optional[int],
    max_threads: Optional[int],
) -> dict[str, Any]:
    if jobs is None and isinstance(subject, Model):
        jobs = 1  # Python runs one thread at a time.
    return {"engine": engine, "timeout": timeout, "memory": memory, "jobs": jobs, "max_threads": max_threads}


def _no_certificate(subject: object, certificate: bool) -> None:
    if certificate and isinstance(subject, Model):
        raise TypeError("certificates are about inputs in files or texts, not about models in Python")


def _subject(subject: Subject, *, asks: bool = False) -> Any:
    if isinstance(subject, Model):
        nevers = properties(subject) if asks else []
        if asks and not nevers:
            raise TypeError(
                f"{type(subject).__name__} has no property: decorate a method with never, never_two or never_shared"
            )
        return (subject, nevers)
    if isinstance(subject, type) and issubclass(subject, Model):
        raise TypeError(f"expected a model, not its class: {subject.__name__}()")
    program = subject if isinstance(subject, Program) else load(subject)
    return program._native
