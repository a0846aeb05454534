"""Count the checks of a conformance run, and hold a server to more than the suite itself does.

    count.py RESULTS NAME (--baseline FILE | --scored FILE) [--explain]

With a baseline, the suite itself fails on an unlisted failure and on a listed check that passes; a scenario that it runs and does
not score is held against the server here. With the list of scored scenarios there is no baseline: every failure and every
warning of one of them fails. `--explain` prints what else did not pass, the optional tasks extension left out.
"""

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path

# The suite took this scenario in after the revision was released; the revision's text asks for all of it.
REQUIRED_TOO = {"http-header-validation"}


def checks(results: Path) -> list[tuple[str, str, str, str]]:
    """Scenario, check, status and message of every check of a run."""
    found = []
    for folder in sorted(results.iterdir()):
        scenario = re.sub(r"^server-(.*)-\d{4}-\d{2}-\d{2}T[\d-]+Z$", r"\1", folder.name)
        if not (folder / "checks.json").exists():
            found.append((scenario, "checks", "FAILURE", "the scenario did not come to an end"))
            continue
        for check in json.loads((folder / "checks.json").read_text()):
            found.append((scenario, check["id"], check["status"], check.get("errorMessage", "")))
    return found


def entries(path: str | None) -> set[str]:
    """The entries of the list `server` of a YAML file."""
    if path is None:
        return set()
    of_server = re.search(r"^server:\n((?:[ #].*\n|\n)*)", Path(path).read_text(), re.MULTILINE)
    return set(re.findall(r"^\s+- ([\w:.-]+)", of_server.group(1) if of_server else "", re.MULTILINE))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=Path)
    parser.add_argument("name")
    parser.add_argument("--baseline")
    parser.add_argument("--scored")
    parser.add_argument("--explain", action="store_true")
    given = parser.parse_args()
    excused_by, required = entries(given.baseline), entries(given.scored) | REQUIRED_TOO
    passed = failed = excused = 0
    unscored: Counter[str] = Counter()
    seen = set()
    for scenario, check, status, message in checks(given.results):
        seen.add(scenario)
        if status == "SUCCESS":
            passed += 1
        elif status not in ("FAILURE", "WARNING"):
            continue
        elif scenario in excused_by or f"{scenario}:{check}" in excused_by:
            excused += 1
        elif scenario in required:
            failed += 1
            print(f"{status} {scenario}:{check}: {message}")
        else:
            unscored[scenario] += 1
            if given.explain and not scenario.startswith("tasks-"):
                print(f"{status} {scenario}:{check}: {message[:400]}")
    # A scenario that did not run has passed nothing.
    for scenario in sorted(entries(given.scored) - seen):
        failed += 1
        print(f"FAILURE {scenario}: it did not run")
    print(f"{given.name}: {passed} checks passed, {excused} need the suite's own fixtures, {unscored.total()} are not scored")
    if unscored:
        print("not scored:", ", ".join(f"{scenario} {count}" for scenario, count in unscored.items()))
    print(f"conformance: {passed} passed, {failed} failed")
    sys.exit(1 if failed or passed == 0 else 0)


if __name__ == "__main__":
    main()
