"""Programs, systems and nets from files and texts: verdicts, runs, thread states, cutoffs, certificates, errors."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import throng

SPIN = """decl lock := 0;
void main() begin
  while * do
    lock := 1 constrain !lock;
    CRITICAL: skip;
    lock := 0;
  od
end
"""


def test_a_proof(examples):
    result = throng.check(examples / "spinlock.bp")
    assert result.verdict is throng.Verdict.SAFE and result.safe and not result.unsafe
    assert result.scope == "for any number of threads" and result.threads is None
    assert result.initial == "any number of threads at the entry of main"
    assert [t.name for t in result.targets] == ["assertions"] and result.targets[0].checked
    assert result.trace is None and result.reason is None
    assert any("lock = 1" in line.facts for line in result.facts)
    assert str(result).startswith("SAFE  assertions  for any number of threads\n")
    assert repr(result) == "<throng.CheckResult SAFE  assertions  for any number of threads>"
    with pytest.raises(TypeError, match="one of three"):
        bool(result)


def test_a_run_as_a_table(examples):
    result = throng.check(examples / "spinlock-broken.bp", jobs=1)
    trace = result.trace
    assert result.unsafe and trace.threads == 2 and len(trace) == 8
    table = trace.table()
    assert table.columns == ("step", "thread", "line", "statement", "changes", "lock", "busy")
    assert len(table) == 8
    [taken] = [row for row in table.dicts() if row["changes"] == "busy: 0 -> 1"]
    assert taken["statement"] == "busy := 1" and taken["busy"] == "1"
    assert str(trace).splitlines()[0].split() == list(table.columns)
    assert trace.start.shared == {"lock": "0", "busy": "0"}
    assert [count for count, _ in trace.start.threads] == [2]
    [(_, culprit)] = trace.violation.threads
    assert culprit.line == 13 and culprit.statement == "assert(!busy)"
    assert result.document["verdict"] == "unsafe"


def test_questions_of_the_command_line():
    program = throng.loads(SPIN)
    assert (program.format, program.name, program.text) == ("bp", "<bp>", SPIN)
    assert repr(program) == "<throng.Program <bp> (bp)>"
    assert throng.check(program, mutex="CRITICAL").safe
    both = throng.check(program, mutex=["CRITICAL"], error_label=["CRITICAL"])
    assert [t.verdict.name for t in both.targets].count("UNSAFE") == 1
    assert throng.check(program, invariant="lock").unsafe
    bounded = throng.check(program, mutex="CRITICAL", threads=3)
    assert bounded.safe and bounded.threads == 3 and bounded.scope == "for at most 3 threads"
    one = throng.check(program, mutex="CRITICAL", initial=1)
    assert one.safe and "1 thread" in one.initial


def test_systems_and_nets(examples):
    tts = throng.loads("2 3\n0 0 -> 1 1\n1 1 -> 0 2\n", "tts")
    assert throng.check(tts, target="1|1,1").safe
    assert throng.check(tts, target="0|2,2").trace.threads == 2
    assert throng.load(examples / "winner.tts").format == "tts"


def test_what_is_odd_is_said():
    result = throng.check(throng.loads("void main() begin skip; end"))
    assert result.safe and result.warnings and all(note.message for note in result.warnings)


def test_thread_states(examples):
    found = throng.reach(examples / "spinlock.bp")
    assert found.complete and found.reason is None and len(found.states) == 13
    assert len(found.table()) == 13 and found.table().columns == ("lock", "busy", "thread")
    assert found.states[0].shared.keys() == {"lock", "busy"}
    assert len(throng.reach(examples / "spinlock.bp", threads=1).states) == 7
    dead = throng.reach(throng.loads("void main() begin\n skip; assume(0);\n skip; end"))
    assert [s.line for s in dead.unreached] == [3]


def test_cutoffs_and_their_certificates(examples):
    file = examples / "rwlock.bp"
    found = throng.cutoff(file, certificate=True)
    assert found.cutoff == 4 and found.checked and found.thread_states == 40
    assert [level.new for level in found.levels] == [11, 17, 7, 5]
    assert found.table().columns[:3] == ("threads", "new", "steps")
    done = throng.certify(file, found.certificate)
    assert done.valid and done.cutoff == 4 and done.smallest
    assert throng.cutoff(file).certificate is None


def test_certificates(examples, tmp_path):
    file = examples / "ticketlock.bp"
    assert throng.check(file).certificate is None
    certificate = throng.check(file, certificate=True).certificate
    certificate.save(tmp_path / "cert.json")
    for given in [certificate, certificate.data, tmp_path / "cert.json", throng.Certificate.read(tmp_path / "cert.json")]:
        done = throng.certify(file, given)
        assert done.valid and [a.verdict for a in done.answers] == [throng.Verdict.SAFE]
    wrong = throng.certify(examples / "ticketlock-broken.bp", certificate)
    assert wrong.valid is False and wrong.reason
    forged = certificate.json()
    forged["evidence"] = []
    assert throng.certify(file, json.dumps(forged).encode()).valid is False
    with pytest.raises(throng.ThrongError, match="not a certificate"):
        throng.certify(file, b"\xff\x00")


def test_what_is_wrong_is_said_with_its_place(tmp_path):
    with pytest.raises(throng.ThrongError, match="<bp>:1:"):
        throng.loads("decl x; void main() begin y := 1; end")
    with pytest.raises(throng.ThrongError):
        throng.load(tmp_path / "missing.bp")
    (tmp_path / "bytes.bp").write_bytes(bytes(range(256)))
    with pytest.raises(throng.ThrongError):
        throng.check(tmp_path / "bytes.bp")
    with pytest.raises(ValueError, match="format: expected one of"):
        throng.loads("", "nonsense")


def test_messages_name_keyword_arguments():
    program = throng.loads(SPIN)
    with pytest.raises(ValueError, match="engine: expected one of auto, explicit"):
        throng.check(program, engine="fastest")
    with pytest.raises(ValueError, match="timeout"):
        throng.check(program, timeout=-1)
    with pytest.raises(ValueError, match="jobs"):
        throng.check(program, jobs=0)
    with pytest.raises(throng.ThrongError) as raised:
        throng.check(throng.loads("2 2\n", "tts"), mutex="L")
    assert "`mutex` does not apply" in str(raised.value) and "--mutex" not in str(raised.value)
    with pytest.raises(throng.ThrongError, match="NOWHERE"):
        throng.check(program, mutex="NOWHERE")


def test_limits_make_it_unknown(examples):
    result = throng.check(examples / "rockall.bp", engine="explicit", timeout=0)
    assert result.verdict is throng.Verdict.UNKNOWN and result.reason
    assert str(result).startswith("UNKNOWN")
    found = throng.cutoff(examples / "rockall.bp", timeout=0)
    assert found.cutoff is None and found.reason


def test_other_python_threads_run_meanwhile(examples):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    ticker = threading.Thread(target=tick)
    ticker.start()
    throng.check(examples / "rockall.bp", engine="explicit", timeout=0.5)
    stop.set()
    ticker.join()
    assert len(ticks) > 5


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_stops_a_search(examples):
    code = f"""
        import throng
        print("ready", flush=True)
        try:
            throng.check({str(examples / "rockall.bp")!r}, engine="explicit")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=30)[0] == "interrupted\n"


def test_pages(examples, tmp_path):
    result = throng.check(examples / "spinlock-broken.bp")
    page = result.html()
    assert page.startswith("<!doctype html>") and "busy := 1" in page
    shown = result._repr_html_()
    assert shown.startswith("<iframe sandbox") and "allow-same-origin" not in shown and "<script" not in shown
    result.save_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    for listing in [throng.reach(examples / "spinlock.bp"), throng.cutoff(examples / "spinlock.bp")]:
        assert "<iframe" in listing._repr_html_()
    assert "<td>lock := 1</td>" in result.trace._repr_html_()
    assert throng.Table(("a",), (("<b>",),))._repr_html_().count("&lt;b&gt;") == 1
