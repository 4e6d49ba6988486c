"""Not run, but checked by mypy: the package is typed for those who use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

import throng


class Lock(throng.Model[bool, str]):
    def start(self) -> throng.Start[bool, str]:
        return throng.Start(False, any=["out"])

    def moves(self, shared: bool, local: str) -> Iterator[throng.Move[bool, str]]:
        if local == "out" and not shared:
            yield throng.Move(True, "in")
        if local == "in":
            yield throng.Move(False, throng.EXIT)

    @throng.never_two
    def mutual_exclusion(self, shared: bool, a: str, b: str) -> bool:
        return a == b == "in"


def threads(result: throng.CheckResult) -> Optional[int]:
    return None if result.trace is None else result.trace.threads


assert threads(throng.check(Lock())) is None
assert throng.check("lock.bp", mutex="CRITICAL", threads=3).verdict is throng.Verdict.SAFE
assert all(mutant.verdict is throng.Verdict.UNSAFE for mutant in throng.mutate("lock.c", entries="worker", data_race=True))
assert throng.check(throng.load("lock.c", defines=["N=2"], more="other.c"), memory_model="sc").replay() is None
