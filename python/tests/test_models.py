"""Models written in Python."""

import enum
from dataclasses import dataclass, replace

import pytest
import throng
from throng import EXIT, Model, Move, Start


class At(enum.Enum):
    OUTSIDE = 0
    WAITING = 1
    CRITICAL = 2


@dataclass(frozen=True)
class Counters:
    next: int = 0
    serving: int = 0


class TicketLock(Model):
    """Tickets wrap around; a careful thread waits before it draws the last free number."""

    tickets = 4

    def __init__(self, careful=True):
        self.careful = careful
        self.asked = 0

    def start(self):
        return Start(Counters(), any=[(At.OUTSIDE, None)])

    def moves(self, now, local):
        self.asked += 1
        (at, ticket) = local
        after = lambda n: (n + 1) % self.tickets  # noqa: E731
        if at is At.OUTSIDE and not (self.careful and after(now.next) == now.serving):
            yield Move(replace(now, next=after(now.next)), (At.WAITING, now.next), "draw a ticket")
        if at is At.WAITING and ticket == now.serving:
            yield Move(now, (At.CRITICAL, None), "enter")
        if at is At.CRITICAL:
            yield Move(replace(now, serving=after(now.serving)), (At.OUTSIDE, None), "leave")

    @throng.never_two
    def mutual_exclusion(self, now, a, b):
        return a[0] is b[0] is At.CRITICAL


def test_a_proof_for_any_number_of_threads():
    model = TicketLock()
    result = throng.check(model)
    assert result.safe and result.scope == "for any number of threads", result
    assert [t.name for t in result.targets] == ["mutual exclusion"] and result.targets[0].checked
    asked = model.asked
    throng.check(TicketLock(), engine="backward")
    assert asked <= 4 * 4 * 6, "each thread state is asked for once"


def test_the_careless_one_needs_one_thread_more_than_there_are_tickets():
    result = throng.check(TicketLock(careful=False))
    assert result.unsafe and result.trace.threads == TicketLock.tickets + 1, result
    table = result.trace.table()
    assert table.columns == ("step", "thread", "statement", "changes", "next", "serving")
    assert {row["statement"] for row in table.dicts()} == {"draw a ticket", "enter"}
    assert {str(row["serving"]) for row in table.dicts()} <= {"0", "1", "2", "3"}
    assert "draw a ticket" in result.html()
    assert throng.check(TicketLock(careful=False), threads=4).safe


@pytest.mark.parametrize("engine", ["explicit", "backward", "karp-miller", "auto"])
def test_engines_agree(engine):
    assert throng.check(TicketLock(careful=False), engine=engine).unsafe
    if engine != "explicit":
        assert throng.check(TicketLock(), engine=engine).safe


def test_thread_states_and_cutoffs():
    class Once(Model):
        def start(self):
            return Start(False, any=["out"])

        def moves(self, taken, at):
            return [Move(True, "in", "take")] if at == "out" and not taken else []

    found = throng.reach(Once())
    assert found.complete
    assert {(s.shared["shared"], s.local.name) for s in found.states} == {
        ("False", "out"),
        ("True", "in"),
        ("True", "out"),
    }
    assert throng.cutoff(Once()).cutoff == 2


class Team(Model):
    """A leader hires workers, meets one of them, and sends all of them home at the end."""

    def start(self):
        return Start(0, threads=["lead"])

    def moves(self, day, at):
        if (day, at) == (0, "lead"):
            yield Move(0, "lead", "hire", spawn=["work"])
            yield Move(1, "lead", "meet", partners=[("work", "met")])
        elif (day, at) == (1, "lead"):
            yield Move(2, "home", "close", carry=lambda l: "home" if l == "work" else l)
        elif (day, at) == (2, "home"):
            yield Move(2, EXIT, "leave")

    @throng.never
    def work_at_night(self, day, at):
        return day == 2 and at == "work"

    @throng.never_two
    def two_meetings(self, day, a, b):
        return a == b == "met"

    @throng.never_shared
    def night(self, day):
        return day == 2

    def never_together(self):
        return {"met and two at home": (2, ["met", "home", "home"])}


@pytest.mark.parametrize("name", ["deadlock", "stuck work", "assertions"])
def test_names_mean_nothing(name):
    class Named(Team):
        def never_together(self):
            return {name: (2, ["met", "home", "home"])}

    targets = {t.name: t for t in throng.check(Named()).targets}
    assert targets[name].verdict.name == "UNSAFE" and targets[name].trace.threads == 3


def test_spawn_rendezvous_broadcast_and_exit():
    result = throng.check(Team())
    verdicts = {t.name: t.verdict.name for t in result.targets}
    assert verdicts == {
        "work at night": "SAFE",
        "two meetings": "SAFE",
        "night": "UNSAFE",
        "met and two at home": "UNSAFE",
    }
    runs = {t.name: t.trace for t in result.targets}
    assert runs["met and two at home"].threads == 3


def test_a_class_may_inherit_properties():
    class Late(Team):
        @throng.never
        def is_met(self, day, at):
            return at == "met"

    names = [t.name for t in throng.check(Late()).targets]
    assert names == ["work at night", "two meetings", "night", "is met", "met and two at home"]


class Broken(Model):
    def start(self):
        return Start(0, any=["a"])

    def moves(self, shared, local):
        return []

    @throng.never
    def never(self, shared, local):
        return False


def broken(**methods):
    return type("Broken", (Broken,), methods)()


@pytest.mark.parametrize(
    "model, error, message",
    [
        (broken(moves=lambda self, s, l: None), TypeError, "returned None"),
        (broken(moves=lambda self, s, l: ["b"]), TypeError, "throng.Move objects, not 'b'"),
        (broken(moves=lambda self, s, l: 7), TypeError, "not iterable"),
        (broken(moves=lambda self, s, l: [Move([], "b")]), TypeError, "unhashable"),
        (broken(moves=lambda self, s, l: [Move(0, {})]), TypeError, "unhashable"),
        (broken(moves=lambda self, s, l: 1 / 0), ZeroDivisionError, "division"),
        (broken(moves=lambda self, s, l: [Move(0, "b", carry=lambda l: 1 / 0)]), ZeroDivisionError, "division"),
        (broken(moves=lambda self, s, l: [Move(0, "b", spawn="cd")]), TypeError, "list of states"),
        (broken(moves=lambda self, s, l: iter(lambda: Move(0, "a"), 1)), ValueError, "more than 65536"),
        (broken(never=throng.never(lambda self, s, l: 1 / 0)), ZeroDivisionError, "division"),
        (broken(never=throng.never(lambda self, s: True)), TypeError, "positional argument"),
        (broken(start=lambda self: "a"), TypeError, "throng.Start, not 'a'"),
        (broken(start=lambda self: Start([], any=["a"])), TypeError, "unhashable"),
        (broken(never_together=lambda self: {"x": (0, "ab")}), TypeError, "list of states"),
    ],
)
def test_a_mistake_is_an_exception_and_never_a_verdict(model, error, message):
    with pytest.raises(error, match=message):
        throng.check(model)


def test_wrong_calls():
    class Silent(Model):
        start = Broken.start
        moves = Broken.moves

    with pytest.raises(TypeError, match="Silent has no property"):
        throng.check(Silent())
    with pytest.raises(TypeError, match="not its class"):
        throng.check(TicketLock)
    with pytest.raises(TypeError, match="mutex is about programs"):
        throng.check(TicketLock(), mutex="L")
    with pytest.raises(TypeError, match="certificates"):
        throng.check(TicketLock(), certificate=True)
    with pytest.raises(TypeError, match="list of states"):
        Start(0, any="outside")
    with pytest.raises(NotImplementedError):
        throng.reach(Model())


class Counter(Model):
    """Counts for ever."""

    def start(self):
        return Start(0, any=[None])

    def moves(self, n, _):
        return [Move(n + 1, None)]


def test_models_with_too_many_states():
    class Nine(Counter):
        def never_together(self):
            return {"nine": (9, [])}

    class Large(Counter):
        @throng.never_shared
        def large(self, n):
            return n > 1 << 40

    assert throng.check(Nine()).unsafe
    with pytest.raises(throng.ThrongError):
        throng.check(Large())
    stopped = throng.check(Large(), timeout=0.1)
    assert stopped.verdict is throng.Verdict.UNKNOWN and stopped.reason and stopped.targets == ()
    assert str(stopped).startswith("UNKNOWN")


def test_equal_objects_are_one_state():
    class Mixed(Model):
        def start(self):
            return Start(0, any=[0])

        def moves(self, shared, local):
            return [Move(False, 1.0), Move(0.0, True)]

        @throng.never_two
        def both(self, shared, a, b):
            return a == b == 1

    assert len(throng.reach(Mixed()).states) == 2
    assert throng.check(Mixed()).trace.threads == 2


def test_a_model_may_ask_throng_itself():
    class Nested(Broken):
        def moves(self, shared, local):
            inner = throng.check(TicketLock())
            return [Move(1, "b")] if inner.safe and local == "a" else []

    assert len(throng.reach(Nested()).states) == 3
