"""Tests of the tool-info module: `python3 test_throng.py EXECUTABLE EXAMPLES`. Says so and ends well where BenchExec is not installed."""

import os
import subprocess
import sys
import tempfile
import unittest

try:
    import benchexec.result as result
    from benchexec.tools.template import BaseTool2
    from benchexec.util import ProcessExitCode
except ImportError as why:
    print(f"skipped: {why}")
    sys.exit(0)

sys.dont_write_bytecode = True
import throng  # noqa: E402

EXECUTABLE, EXAMPLES = sys.argv[1:3]


class Throng(unittest.TestCase):
    def setUp(self):
        self.tool = throng.Tool()

    def words(self, file, options=(), asked=None, property_file=None, **limits):
        task = BaseTool2.Task.with_files([os.path.join(EXAMPLES, file)], property_file=property_file, options=asked)
        return self.tool.cmdline(EXECUTABLE, list(options), task, BaseTool2.ResourceLimits(**limits))

    def run_it(self, *arguments, **limits):
        words = self.words(*arguments, **limits)
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = done.stdout.splitlines(keepends=True)
        output = BaseTool2.RunOutput(lines)
        code = ProcessExitCode.create(value=done.returncode)
        return self.tool.determine_result(BaseTool2.Run(words, code, output, None)), output

    def test_general(self):
        folder = os.path.dirname(EXECUTABLE)
        self.assertEqual(self.tool.executable(BaseTool2.ToolLocator(tool_directory=folder)), EXECUTABLE)
        self.assertRegex(self.tool.version(EXECUTABLE), r"^\d+\.\d+\.\d+")
        self.assertEqual(self.tool.name(), "Throng")

    def test_command_lines(self):
        asked = {"threads": 3, "error_label": ["A", "B"]}
        words = self.words("spinlock.bp", ["--engine", "explicit"], asked, walltime=9, memory=1 << 30, cpu_cores=2)
        expected = "check --engine explicit --threads 3 --error-label A --error-label B --timeout 9 --memory 921 --jobs 2 --"
        self.assertEqual(words[1:-1], expected.split())
        self.assertNotIn("--jobs", self.words("spinlock.bp"))
        task = BaseTool2.Task.with_files(["a.tts"], property_file="a.prop")
        words = self.tool.cmdline("throng", [], task, BaseTool2.ResourceLimits())
        self.assertEqual(words, ["throng", "check", "--prop", "a.prop", "--", "a.tts"])

    def test_results(self):
        self.assertEqual(self.run_it("spinlock.bp")[0], result.RESULT_TRUE_PROP)
        found, output = self.run_it("spinlock-broken.bp", ["--engine", "explicit"])
        self.assertEqual(found, result.RESULT_FALSE_PROP)
        self.assertEqual(self.tool.get_value_from_output(output, "engine"), "explicit")
        self.assertTrue(int(self.tool.get_value_from_output(output, "configurations")) > 0)
        self.assertIsNone(self.tool.get_value_from_output(output, "beauty"))
        views = ["--engine", "views"]
        self.assertEqual(self.run_it("spinlock-broken.bp", views)[0], result.RESULT_UNKNOWN)
        self.assertEqual(self.run_it("no-such-file.bp")[0], "ERROR(input refused)")
        short = ["--timeout", "0", "--engine", "explicit"]
        self.assertEqual(self.run_it("spinlock.bp", short)[0], "unknown(TIMEOUT)")

    def test_sv_comp(self):
        asked = {"language": "C", "data_model": "ILP32"}
        words = self.words("c/counter.c", (), asked, property_file="unreach-call.prp")
        self.assertEqual(words[1:-1], "check --property unreach-call.prp --ilp32 --".split())
        formulas = {"race": "data-race", "overflow": "overflow", "reach": "call(reach_error())"}
        expected = [("race", result.RESULT_FALSE_DATARACE), ("overflow", result.RESULT_FALSE_OVERFLOW)]
        program = """typedef unsigned long pthread_t; int x = 2147483647; void reach_error(void) { }
int pthread_create(pthread_t *, void *, void *(*)(void *), void *);
void *f(void *p) { x = 1; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x = x + 1; if (x == 2) reach_error(); return 0; }
"""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "a.i")
            with open(file, "w") as out:
                out.write(program)
            for name, found in [*expected, ("reach", result.RESULT_FALSE_REACH)]:
                prp = os.path.join(folder, name + ".prp")
                with open(prp, "w") as out:
                    out.write(f"CHECK( init(main()), LTL(G ! {formulas[name]}) )\n")
                self.assertEqual(self.run_it(file, ["--timeout", "20"], asked, property_file=prp)[0], found)

    def test_crashes_are_not_verdicts(self):
        for code, text in [(0, "UNSAFE"), (10, "SAFE"), (101, "SAFE"), (0, "")]:
            run = BaseTool2.Run((), ProcessExitCode.create(value=code), BaseTool2.RunOutput([text + "\n"]), None)
            self.assertEqual(self.tool.determine_result(run), result.RESULT_ERROR)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
