"""Models written in Python: a class with states and moves, verified for any number of threads.

    class SpinLock(throng.Model[bool, str]):
        def start(self):
            return throng.Start(shared=False, any=["out"])

        def moves(self, taken, at):
            if at == "out" and not taken:
                yield throng.Move(True, "in", "take the lock")
            if at == "in":
                yield throng.Move(False, "out", "release")

        @throng.never_two
        def mutual_exclusion(self, taken, a, b):
            return a == b == "in"

    throng.check(SpinLock())

States are any hashable objects: strings, members of enumerations, tuples, frozen dataclasses. What Python takes for equal is one state.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable, Generic, Optional, TypeVar, Union

S = TypeVar("S", bound=Hashable)
L = TypeVar("L", bound=Hashable)
F = TypeVar("F", bound=Callable[..., object])


class _Exit:
    def __repr__(self) -> str:
        return "throng.EXIT"


EXIT = _Exit()
"""As the local state of a :class:`Move`: the thread ends."""


@dataclass(frozen=True)
class Start(Generic[S, L]):
    """Where a system starts."""

    shared: S
    """The shared state."""
    any: Sequence[L] = ()
    """Any number of threads starts in each of these states."""
    threads: Sequence[L] = ()
    """One thread starts in each of these."""

    def __post_init__(self) -> None:
        _no_string("any", self.any)
        _no_string("threads", self.threads)


@dataclass(frozen=True)
class Move(Generic[S, L]):
    """One step of a thread, in one indivisible moment."""

    shared: S
    """The shared state afterwards."""
    local: Union[L, _Exit]
    """Where the thread is afterwards; ``EXIT``: it ends."""
    name: str = "move"
    """What traces call it."""
    spawn: Sequence[L] = ()
    """Starts a thread in each of these states."""
    partners: Sequence[tuple[L, L]] = ()
    """Needs another thread in each first state, which goes to the second one in the same moment."""
    carry: Optional[Callable[[L], L]] = None
    """Takes every other thread from where it is to where this says: a broadcast. Partners and new threads are not carried."""

    def __post_init__(self) -> None:
        _no_string("spawn", self.spawn)
        _no_string("partners", self.partners)


def _no_string(field: str, value: object) -> None:
    """A string is a sequence of its letters, which is never what was meant."""
    if isinstance(value, str):
        raise TypeError(f"{field}: expected a list of states, not the string {value!r}")


class Model(Generic[S, L]):
    """One thread of a system. Define :meth:`start`, :meth:`moves` and what must never happen, and ask :func:`throng.check`."""

    def start(self) -> Start[S, L]:
        """Where the system starts."""
        raise NotImplementedError("define start()")

    def moves(self, shared: S, local: L) -> Iterable[Move[S, L]]:
        """What a thread at `local` can do in shared state `shared`, always the same. No move: it cannot move for now."""
        raise NotImplementedError("define moves()")

    def never_together(self) -> Mapping[str, tuple[S, Sequence[L]]]:
        """Threads that must never be together, and perhaps with more, in a shared state, by name of the property.

        Unlike the decorators this needs no list of all thread states, so it can be asked about models that have too many.
        """
        return {}


def _mark(kind: str) -> Callable[[F], F]:
    def mark(method: F) -> F:
        method._throng_never = kind  # type: ignore[attr-defined]
        return method

    return mark


def never(method: F) -> F:
    """Decorates ``def name(self, shared, local) -> bool``: no thread may ever be so. The method's name is the property's."""
    return _mark("one")(method)


def never_two(method: F) -> F:
    """Decorates ``def name(self, shared, a, b) -> bool``: no two threads may ever be so at the same time, in this order or the other."""
    return _mark("two")(method)


def never_shared(method: F) -> F:
    """Decorates ``def name(self, shared) -> bool``: the shared state may never be so."""
    return _mark("shared")(method)


def properties(model: Model[Any, Any]) -> list[dict[str, object]]:
    """What must never happen to a model, as the native module takes it, in the order of definition."""
    names: dict[str, None] = {}
    for base in reversed(type(model).__mro__):
        names.update(dict.fromkeys(vars(base)))
    found: list[dict[str, object]] = []
    for name in names:
        kind = getattr(getattr(type(model), name, None), "_throng_never", None)
        if kind is not None:
            found.append({"kind": kind, "name": name.replace("_", " "), "bad": getattr(model, name)})
    for name, (shared, locals_) in model.never_together().items():
        _no_string(name, locals_)
        found.append({"kind": "together", "name": name, "bad": (shared, locals_)})
    return found
