#!/usr/bin/env python3
"""Throng as a tool of the Model Checking Contest.

Usage: contest.py [FOLDER]

Reads FOLDER/model.pnml (default: the current folder) and the formulas of the examination that the environment variable BK_EXAMINATION names,
FOLDER/$BK_EXAMINATION.xml, and prints a line for each, in the form that the contest asks for:
  FORMULA id TRUE|FALSE|number TECHNIQUES ...
  CANNOT_COMPUTE                     if some formula is not decided
  DO_NOT_COMPETE                     for other examinations, and coloured nets
BK_TIME_CONFINEMENT (seconds), BK_MEMORY_CONFINEMENT (MiB) are limits; THRONG is the program (default: throng).
"""

import json
import os
import subprocess
import sys

EXAMINATIONS = ("ReachabilityCardinality", "ReachabilityFireability", "ReachabilityDeadlock", "UpperBounds")
# What evidence there is says how it was found.
TECHNIQUES = {"run": "EXPLICIT", "closed set": "EXPLICIT", "refutation": "STATE_EQUATION"}


def main(folder):
    examination = os.environ.get("BK_EXAMINATION", "")
    net, formulas = (os.path.join(folder, name) for name in ("model.pnml", examination + ".xml"))
    if examination not in EXAMINATIONS:
        print("DO_NOT_COMPETE")
        return 0
    command = [os.environ.get("THRONG", "throng"), "check", net, "--prop", formulas, "--json", "--jobs", "1"]
    seconds, memory = os.environ.get("BK_TIME_CONFINEMENT"), os.environ.get("BK_MEMORY_CONFINEMENT")
    if seconds:
        command += ["--timeout", str(max(1, int(seconds) - 5))]
    if memory:
        command += ["--memory", memory]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1, 10):
        sys.stderr.write(done.stderr)
        print("DO_NOT_COMPETE" if "E505" in done.stderr else "CANNOT_COMPUTE")
        return 0
    undecided = False
    for target in json.loads(done.stdout)["targets"]:
        evidence = target["evidence"]
        technique = TECHNIQUES.get(evidence["kind"], "TOPOLOGICAL") if evidence else ""
        if "bound" in target:
            print("FORMULA %s %d TECHNIQUES %s" % (target["name"], target["bound"], technique))
        elif "holds" in target:
            print("FORMULA %s %s TECHNIQUES %s" % (target["name"], str(target["holds"]).upper(), technique))
        elif target["verdict"] == "unknown":
            undecided = True
    if undecided:
        print("CANNOT_COMPUTE")
    return 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:2] or ["."])))
