"""`python -m tests.crash`: kill a process at every point of every story, and count.

`--postgres` adds PostgreSQL, on a server of its own. `--every N` takes every Nth point only. `--serve` answers requests
on standard input instead: what the test suite uses, so that the processes to be killed are forked from one that has
nothing but this in it.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from tests.crash.harness import COMBINATIONS, Combination, Scene, warm
from tests.kit import postgres


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return 1 if anything was wrong after a kill."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description="Kill a process at every point.")
    parser.add_argument("--all", action="store_true", help="every point of every story (the default)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth point only")
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL too")
    parser.add_argument("--only", default="", metavar="TEXT", help="combinations with this in their name")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    warm()
    if given.serve:
        serve()
        return 0
    chosen = [each for each in COMBINATIONS if given.postgres or each.database == "sqlite"]
    chosen = [each for each in chosen if given.only in str(each)]
    hold = postgres.Run() if given.postgres else None
    try:
        return enumerate_all(chosen, given.every, postgres.server() if hold else "")
    finally:
        if hold is not None:
            hold.end()


def enumerate_all(chosen: list[Combination], every: int, server: str) -> int:
    """Kill at every point of these combinations, and print a line for each."""
    began, points, kills, wrong = time.monotonic(), 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="forkpoint-crash-") as folder:
        for number, combination in enumerate(chosen):
            scene = Scene(combination, Path(folder) / str(number), server)
            outcomes = [scene.at(fatal) for fatal in range(1, len(scene.points) + 1, every)]
            killed = sum(outcome.killed for outcome in outcomes)
            problems = [problem for outcome in outcomes for problem in outcome.problems]
            print(f"{combination}: {len(scene.points)} points, {killed} kills, {len(problems)} wrong", flush=True)
            for problem in problems:
                print(f"    {problem}", flush=True)
            points, kills, wrong = points + len(scene.points), kills + killed, wrong + len(problems)
    seconds = time.monotonic() - began
    print(f"{len(chosen)} combinations, {points} points, {kills} kills, {wrong} wrong, {seconds:.0f} s")
    return 1 if wrong else 0


def serve() -> None:
    """A combination and how many points to kill at, a line each; its number of points, kills, and problems back."""
    with tempfile.TemporaryDirectory(prefix="forkpoint-crash-") as folder:
        for number, line in enumerate(sys.stdin):
            combination, most, server = json.loads(line)
            scene = Scene(Combination(*combination), Path(folder) / str(number), server)
            step = max(1, len(scene.points) / most)
            chosen = sorted({1 + int(step * (turn + 0.5)) for turn in range(most)})
            outcomes = [scene.at(min(fatal, len(scene.points))) for fatal in chosen]
            killed = sum(outcome.killed for outcome in outcomes)
            problems = [problem for outcome in outcomes for problem in outcome.problems]
            print(json.dumps([len(scene.points), killed, problems]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
