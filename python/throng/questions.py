"""The questions one can ask about a program, a system, a net or a model written in Python."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from typing import Any, Optional, Union

from . import _throng
from .model import Model, properties
from .results import Certificate, CertifyResult, CheckResult, CutoffResult, Mutant, ReachResult

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Sequence[Path]]
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
        """Its language: ``bp``, ``tts``, ``ntts``, ``spec``, ``pnml`` or ``c``."""
        return self._native.format

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about it."""
        return tuple(self._native.warnings)

    def __repr__(self) -> str:
        return f"<throng.Program {self.name} ({self.format})>"


Subject = Union[Program, Path, Model[Any, Any]]


def load(
    path: Path,
    *,
    format: Optional[str] = None,
    init_free: bool = False,
    keep_ended: bool = False,
    defines: Names = (),
    includes: Paths = (),
    flags: Names = (),
    more: Paths = (),
    ilp32: bool = False,
    library: Paths = (),
) -> Program:
    """Reads a file in the format that its extension names, or in `format`.

    `init_free`: mist's reading of nets, what ``init`` does not mention may start with any number of tokens.
    `keep_ended`: under a thread bound, a thread that has ended keeps its slot.

    C: `defines`, macros (``NAME`` or ``NAME=VALUE``); `includes`, folders with headers; `flags`, as the compiler takes them (a string is split as a shell
    does); `more`, further files of the same program; `ilp32`, ``long`` has 32 bits; `library`, files with rows about functions
    that are neither defined nor known.
    """
    opening = _opening(format, init_free, keep_ended)
    compiling = {"defines": _list(defines), "includes": _list(includes), "flags": _flags(flags), "more": _list(more), "ilp32": ilp32, "library": _list(library)}
    return Program(_throng.Loaded.open(path, {**opening, **compiling}))


def load_project(
    path: Path,
    *,
    files: Paths = (),
    main: Optional[Path] = None,
    entries: Names = (),
    flags: Names = (),
    library: Paths = (),
) -> Program:
    """Reads a program in C of a build, as ``compile_commands.json`` describes it, each file with its own flags.

    `files`: these only. `main`: the file whose ``main`` it is, where several have one. `entries`: the functions that will be asked about, in place of
    ``main``. `flags`: added to those of each file. `library`: files with rows about functions that are neither defined nor known.
    """
    choice = {"files": _list(files), "main": main, "entries": _list(entries), "flags": _flags(flags), "library": _list(library)}
    return Program(_throng.Loaded.project(path, choice))


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
    return Program(_throng.Loaded.text(text, called, _opening(format, init_free, keep_ended)))


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
    starvation: Names = (),
    invariant: Names = (),
    data_race: bool = False,
    overflow: bool = False,
    locks: bool = False,
    memory_safety: bool = False,
    assertions: bool = False,
    property: Optional[Path] = None,
    entries: Names = (),
    no_spurious: bool = False,
    whole_statements: bool = False,
    memory_model: Optional[str] = None,
    engine: str = "auto",
    timeout: Optional[float] = None,
    memory: Optional[int] = None,
    jobs: Optional[int] = None,
    max_threads: Optional[int] = None,
    certificate: bool = False,
) -> CheckResult:
    """Is it safe, for any number of threads? With `threads`: for at most so many.

    The properties are those of the options of ``throng check``; without any, those that the input states itself. `data_race` to `property` are about C only,
    and so are `entries` (functions that any number of threads call, `main` is not run), `no_spurious` (a wait ends with a signal only), `whole_statements`
    (a statement without calls is one step) and `memory_model` (``"sc"``: sequential consistency; ``"c11"``: memory orders mean what C says). A model in Python has properties of its own,
    and takes `threads` only. `timeout` is in seconds, `memory` in MiB. `certificate`: the result holds its evidence as a file that ``throng certify`` checks.
    """
    question = _question(subject, locals())
    search = _search(subject, engine, timeout, memory, jobs, max_threads)
    _no_certificate(subject, certificate)
    native = _throng.check(_subject(subject, asks=True), question, search, certificate)
    return CheckResult._of(native)


def reach(
    subject: Subject,
    *,
    initial: Union[str, int, None] = None,
    threads: Optional[int] = None,
    entries: Names = (),
    no_spurious: bool = False,
    whole_statements: bool = False,
    memory_model: Optional[str] = None,
    inside_atomic: bool = False,
    engine: str = "auto",
    timeout: Optional[float] = None,
    memory: Optional[int] = None,
    jobs: Optional[int] = None,
) -> ReachResult:
    """Every thread state that can be reached; `inside_atomic`: also those while a thread is inside an atomic section."""
    question = _question(subject, locals())
    search = _search(subject, engine, timeout, memory, jobs, None)
    return ReachResult._of(_throng.reach(_subject(subject), question, search, inside_atomic))


def cutoff(
    subject: Subject,
    *,
    initial: Union[str, int, None] = None,
    entries: Names = (),
    no_spurious: bool = False,
    whole_statements: bool = False,
    memory_model: Optional[str] = None,
    engine: str = "auto",
    timeout: Optional[float] = None,
    memory: Optional[int] = None,
    jobs: Optional[int] = None,
    certificate: bool = False,
) -> CutoffResult:
    """The smallest number of threads that shows every reachable thread state."""
    question = _question(subject, locals())
    search = _search(subject, engine, timeout, memory, jobs, None)
    _no_certificate(subject, certificate)
    return CutoffResult._of(_throng.cutoff(_subject(subject), question, search, certificate))


def mutate(
    subject: Union[Program, Path],
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
    starvation: Names = (),
    invariant: Names = (),
    data_race: bool = False,
    overflow: bool = False,
    locks: bool = False,
    memory_safety: bool = False,
    assertions: bool = False,
    property: Optional[Path] = None,
    entries: Names = (),
    no_spurious: bool = False,
    whole_statements: bool = False,
    memory_model: Optional[str] = None,
    engine: str = "auto",
    timeout: Optional[float] = 20,
    memory: Optional[int] = None,
    jobs: Optional[int] = None,
    max_threads: Optional[int] = None,
) -> list[Mutant]:
    """What a proof depends on: the same question about the program with one thing changed at a time.

    Of programs in C and Boolean programs, every assertion, lock, atomic section and condition is changed, each alone. A mutant that is still safe says that
    the proof of :func:`check` does not need what was changed. `timeout` is for each mutant.
    """
    question = _question(subject, locals())
    search = _search(subject, engine, timeout, memory, jobs, max_threads)
    return [Mutant._of(*found) for found in _throng.mutate(_program(subject), question, search)]


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
    starvation: Names = (),
    invariant: Names = (),
    data_race: bool = False,
    overflow: bool = False,
    locks: bool = False,
    memory_safety: bool = False,
    assertions: bool = False,
    property: Optional[Path] = None,
    entries: Names = (),
    no_spurious: bool = False,
    whole_statements: bool = False,
    memory_model: Optional[str] = None,
    timeout: Optional[float] = None,
    memory: Optional[int] = None,
) -> CertifyResult:
    """Checks a certificate, without any search, as an answer to what :func:`check` with the same arguments asks."""
    question = _question(subject, locals())
    if isinstance(certificate, Certificate):
        data = certificate.data
    elif isinstance(certificate, bytes):
        data = certificate
    else:
        with open(certificate, "rb") as file:
            data = file.read()
    search = _search(subject, "auto", timeout, memory, None, None)
    return CertifyResult._of(json.loads(_throng.certify(_program(subject), question, search, data)))


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
    "starvation": (),
    "invariant": (),
    "data_race": False,
    "overflow": False,
    "locks": False,
    "memory_safety": False,
    "assertions": False,
    "property": None,
    "entries": (),
    "no_spurious": False,
    "whole_statements": False,
    "memory_model": None,
}


def _question(subject: object, arguments: dict[str, Any]) -> dict[str, Any]:
    """The question among the arguments of a call."""
    question = {name: arguments.get(name, nothing) for name, nothing in _NOTHING.items()}
    if isinstance(subject, Model):
        for name, value in question.items():
            if name != "threads" and value != _NOTHING[name]:
                raise TypeError(f"{name} is about programs, systems and nets; a model in Python has properties of its own")
    if question["initial"] is not None:
        question["initial"] = str(question["initial"])
    return {name: _list(value) if _NOTHING[name] == () else value for name, value in question.items()}


def _list(value: Union[Paths, Names]) -> list[Any]:
    return [value] if isinstance(value, (str, os.PathLike)) else list(value)


def _flags(value: Names) -> list[str]:
    return shlex.split(value) if isinstance(value, str) else list(value)


def _opening(format: Optional[str], init_free: bool, keep_ended: bool) -> dict[str, Any]:
    opening: dict[str, Any] = {"format": format, "init_free": init_free, "keep_ended": keep_ended}
    return {**opening, "defines": [], "includes": [], "flags": [], "more": [], "ilp32": False, "library": []}


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
    return _program(subject)


def _program(subject: Union[Program, Path]) -> _throng.Loaded:
    if isinstance(subject, Model):
        raise TypeError("expected an input in a file or a text, not a model in Python")
    program = subject if isinstance(subject, Program) else load(subject)
    return program._native
