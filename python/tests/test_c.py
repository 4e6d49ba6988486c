"""Programs in C: the shipped examples, options of the reader, certificates, replays, mutants, refusals."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
import throng

pytestmark = pytest.mark.skipif(
    shutil.which((os.environ.get("CC") or "cc").split()[0]) is None, reason="there is no C preprocessor"
)

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "c"
FLAGS = {"--race": "data_race", "--assertions": "assertions", "--deadlock": "deadlock", "--memory-safety": "memory_safety"}
VALUES = {"--entry": "entries", "--mutex": "mutex", "--stuck": "stuck", "--starvation": "starvation"}
BUG = """#include <assert.h>
int main(void) { assert(LIMIT == 1); return 0; }
"""


def asked(file):
    """What the first line of an example asks, and the verdict that it states."""
    first = file.read_text().splitlines()[0]
    options, verdict = re.fullmatch(rf"// throng check examples/c/{file.name}((?: \S+)*) : (SAFE|UNSAFE)", first).groups()
    question, words = {}, iter(options.split())
    for word in words:
        if word in FLAGS:
            question[FLAGS[word]] = True
        else:
            question[VALUES[word]] = next(words).split(",") if word == "--entry" else next(words)
    return question, verdict


@pytest.mark.parametrize("name", sorted(file.name for file in FOLDER.glob("*.c")))
def test_examples(name):
    question, verdict = asked(FOLDER / name)
    result = throng.check(FOLDER / name, **question)
    assert str(result.verdict) == verdict, result
    assert all(target.checked for target in result.targets) and result.assumptions
    if not result.safe and "syscall" in (FOLDER / name).read_text():
        with pytest.raises(throng.ThrongError, match="`syscall` is not supported"):
            result.replay()
    else:
        assert (result.replay() is None) == result.safe


def test_a_program_in_c():
    program = throng.load(FOLDER / "spinlock.c")
    assert program.format == "c" and "atomic_exchange" in program.text
    result = throng.check(program, entries="worker", data_race=True, assertions=True)
    assert result.safe and [t.name for t in result.targets] == ["assertions", "race"]
    assert result.scope == "for any number of threads"
    text = throng.loads(program.text, "c", name="other.c")
    assert throng.check(text, entries=["worker"]).safe


@pytest.mark.parametrize(
    "name, question, proved",
    [
        ("spinlock.c", {"entries": "worker"}, "assertions"),
        ("total.c", {"data_race": True}, "race"),
        ("stack.c", {}, "assertions"),
    ],
)
def test_a_proof_is_certified(name, question, proved):
    file = FOLDER / name
    certificate = throng.check(file, **question, certificate=True).certificate
    done = throng.certify(file, certificate, **question)
    assert done.valid and [a.name for a in done.answers] == [proved] and done.assumptions
    assert throng.certify(FOLDER / "counter.c", certificate).valid is False
    more = throng.certify(file, certificate, **question, overflow=True)
    assert more.valid is False and more.reason
    with pytest.raises(throng.ThrongError, match="not a certificate"):
        throng.certify(file, b"\xff\x00", **question)


def test_why_there_is_no_certificate():
    result = throng.check(FOLDER / "spinlock-broken.c", entries="worker", certificate=True)
    assert result.unsafe and result.certificate is None
    assert any(remark.startswith("no certificate: there is a run") for remark in result.remarks)
    with pytest.raises(throng.ThrongError, match="`certificate` of a cutoff is not for C"):
        throng.cutoff(FOLDER / "spinlock.c", entries="worker", certificate=True)


def test_a_run_is_replayed():
    result = throng.check(FOLDER / "spinlock-broken.c", entries="worker", jobs=1)
    assert result.unsafe and result.trace.threads == 2
    program = result.replay()
    assert "Compile it with: cc -pthread" in program and "pthread_create" in program
    assert throng.check(FOLDER.parent / "spinlock-broken.bp").replay() is None


def test_thread_states():
    found = throng.reach(FOLDER / "spinlock.c", entries="worker", threads=2)
    assert found.complete and found.states[0].shared.keys() == {"lock", "inside"}
    cutoff = throng.cutoff(FOLDER / "spinlock.c", entries="worker")
    assert cutoff.cutoff == 2 and cutoff.checked and cutoff.certificate is None


def test_mutants():
    file = FOLDER / "spinlock.c"
    mutants = throng.mutate(file, entries="worker")
    assert {m.change for m in mutants} >= {"assertion negated", "atomic operation split"}
    assert all(m.verdict is m.result.verdict and m.reason is None for m in mutants)
    [split] = [m for m in mutants if m.change == "atomic operation split"]
    assert split.verdict is throng.Verdict.UNSAFE and split.result.replay() and split.lines == (10,)
    boolean = throng.mutate(FOLDER.parent / "spinlock.bp")
    assert boolean and {m.verdict for m in boolean} == {throng.Verdict.UNSAFE}
    with pytest.raises(throng.ThrongError, match="NOWHERE"):
        throng.mutate(FOLDER.parent / "spinlock.bp", mutex="NOWHERE")
    with pytest.raises(throng.ThrongError, match="mutants are made of"):
        throng.mutate(FOLDER.parent / "winner.tts")
    assert throng.mutate(file, entries="worker", timeout=0)[0].verdict is throng.Verdict.UNKNOWN


def test_how_it_is_compiled(tmp_path):
    file = tmp_path / "bug.c"
    file.write_text(BUG)
    assert throng.check(throng.load(file, defines="LIMIT=1")).safe
    assert throng.check(throng.load(file, defines=["LIMIT=2"])).unsafe
    with pytest.raises(throng.ThrongError, match="LIMIT"):
        throng.check(file)
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "limit.h").write_text("#define LIMIT (sizeof(long) == 8 ? limit() : 2)\nint limit(void);\n")
    file.write_text('#include "limit.h"\n' + BUG)
    (tmp_path / "limit.c").write_text("int limit(void) { return 1; }\n")
    read = {"includes": tmp_path / "headers", "more": "limit.c"}
    assert throng.check(throng.load(file, **read)).safe
    assert throng.check(throng.load(file, **read, ilp32=True)).unsafe
    assert throng.check(throng.load(file, **read, flags="-O2 -m32")).unsafe
    with pytest.raises(ValueError, match="-fshort-enums"):
        throng.load(file, flags=["-fshort-enums"])


def test_a_build(tmp_path):
    (tmp_path / "bug.c").write_text(BUG)
    (tmp_path / "other.c").write_text("int main(void) { return 0; }")
    commands = [{"directory": str(tmp_path), "file": "bug.c", "arguments": ["cc", "-DLIMIT=2", "bug.c"]}, {"directory": str(tmp_path), "file": "other.c", "command": "cc other.c"}]
    build = tmp_path / "compile_commands.json"
    build.write_text(json.dumps(commands))
    assert throng.check(throng.load_project(build, main="bug.c")).unsafe
    assert throng.check(throng.load_project(build, files="other.c")).safe
    with pytest.raises(throng.ThrongError, match="2 programs"):
        throng.load_project(build)


def test_what_does_not_apply_is_refused_by_name(examples):
    def refusal(ask, *arguments, **more):
        with pytest.raises(throng.ThrongError) as raised:
            ask(*arguments, **more)
        assert not re.search("--[a-z]", str(raised.value))
        return str(raised.value)

    broken = FOLDER / "spinlock-broken.c"
    for name, value in {"invariant": "lock", "initial": 2, "target": "1|"}.items():
        assert f"`{name}` does not apply" in refusal(throng.check, broken, **{name: value})
    flags = ["data_race", "overflow", "locks", "memory_safety", "assertions", "no_spurious", "whole_statements"]
    values = {**dict.fromkeys(flags, True), "entries": "main", "property": "p.prp"}
    for name, value in values.items():
        assert f"`{name}` is for C" in refusal(throng.check, examples / "spinlock.bp", **{name: value})
    for name, value in {"defines": "A", "includes": ".", "flags": "-DA", "more": "b.c", "ilp32": True, "init_free": True}.items():
        assert f"`{name}` is for " in refusal(throng.load, examples / "spinlock.bp", **{name: value})
    assert "`keep_ended` is for Boolean programs" in refusal(throng.load, broken, keep_ended=True)
    with pytest.raises(ValueError, match="memory_model"):
        throng.check(broken, memory_model="tso")
