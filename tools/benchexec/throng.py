"""BenchExec tool-info module of Throng, which proves concurrent programs safe for any number of threads.

Use: put this folder on PYTHONPATH and say `<benchmark tool=".throng" ...>` (the dot: not one of BenchExec's own modules), with
`--tool-directory` pointing to the executable; `throng.xml` beside it is an example. A property file that ends in `.prop` is given to
`--prop`, one of SV-COMP that ends in `.prp` to `--property`. Keys of `options` in a task definition that are understood: `initial`, `threads`,
`error_label` (one or a list), `mutex`, `invariant`, `target`, `prop`, and SV-COMP's `data_model` (ILP32 or LP64).
"""

import benchexec.result as result
import benchexec.tools.template

DATA_MODELS = {"ILP32": "--ilp32", "LP64": "--lp64"}
# What a violation of an SV-COMP property is called, by what the report calls it.
VIOLATED = {
    "assertions": result.RESULT_FALSE_REACH,
    "overflow": result.RESULT_FALSE_OVERFLOW,
    "race": result.RESULT_FALSE_DATARACE,
}
ASKED = ["initial", "threads", "prop", "error_label", "mutex", "invariant", "target"]


class Tool(benchexec.tools.template.BaseTool2):
    def name(self):
        return "Throng"

    def executable(self, tool_locator):
        return tool_locator.find_executable("throng")

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="throng")

    def cmdline(self, executable, options, task, rlimits):
        words = [executable, "check", *options]
        asked = task.options if isinstance(task.options, dict) else {}
        for key in ASKED:
            values = asked.get(key, [])
            for value in values if isinstance(values, list) else [values]:
                words += ["--" + key.replace("_", "-"), str(value)]
        if (task.property_file or "").endswith(".prop"):
            words += ["--prop", task.property_file]
        if (task.property_file or "").endswith(".prp"):
            words += ["--property", task.property_file]
        if asked.get("data_model") in DATA_MODELS:
            words += [DATA_MODELS[asked["data_model"]]]
        # Limits of its own let it say UNKNOWN, and why, instead of being killed.
        if rlimits.walltime and "--timeout" not in options:
            words += ["--timeout", str(rlimits.walltime)]
        if rlimits.memory and "--memory" not in options:
            words += ["--memory", str(rlimits.memory * 9 // 10 // (1 << 20))]
        if rlimits.cpu_cores and "--jobs" not in options:
            words += ["--jobs", str(rlimits.cpu_cores)]
        return [*words, "--", task.single_input_file]

    def determine_result(self, run):
        lines = [line for line in run.output if line.strip()]
        first = next((line.split()[0] for line in lines if line.split()[0] in ("SAFE", "UNSAFE", "UNKNOWN")), "")
        verdicts = {("SAFE", 0): result.RESULT_TRUE_PROP, ("UNSAFE", 10): result.RESULT_FALSE_PROP}
        verdict = verdicts.get((first, run.exit_code.value))
        if verdict == result.RESULT_FALSE_PROP and "--property" in run.cmdline:
            line = next(line.split() for line in lines if line.startswith("UNSAFE"))
            return VIOLATED.get(line[1], verdict)
        if verdict:
            return verdict
        if (first, run.exit_code.value) == ("UNKNOWN", 1):
            text = " ".join(lines)
            for reason, word in [("time limit", "TIMEOUT"), ("memory limit", "OUT OF MEMORY")]:
                if reason in text:
                    return f"{result.RESULT_UNKNOWN}({word})"
            return result.RESULT_UNKNOWN
        if run.exit_code.value == 2:
            return f"{result.RESULT_ERROR}(input refused)"
        return result.RESULT_ERROR

    def get_value_from_output(self, output, identifier):
        """`engine`, `configurations` or `steps` of the report."""
        for line in output:
            if identifier == "engine" and line.startswith("engine:"):
                return line.split(":", 1)[1].strip()
            if line.startswith("search:"):
                for part in line.split(":", 1)[1].split(","):
                    number, _, unit = part.strip().partition(" ")
                    if unit == identifier:
                        return number
        return None
