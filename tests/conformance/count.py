"""Count the checks of a conformance run and hold the server to one scenario that the suite runs but does not score.

    count.py RESULTS BASELINE REVISION [--explain]

`--explain` prints what no baseline lists, those of the optional tasks extension left out. The suite itself fails on an unlisted failure and on a listed check that passes. What it does not score is reported here.
"""

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
        for check in json.loads((folder / "checks.json").read_text()):
            found.append((scenario, check["id"], check["status"], check.get("errorMessage", "")))
    return found


def main() -> None:
    results, baseline, revision = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    listed = set(re.findall(r"^\s+- ([\w:.-]+)", baseline.read_text(), re.MULTILINE))
    explain = "--explain" in sys.argv
    passed = failed = excused = 0
    unscored: Counter[str] = Counter()
    for scenario, check, status, message in checks(results):
        if status == "SUCCESS":
            passed += 1
        elif status not in ("FAILURE", "WARNING"):
            continue
        elif scenario in listed or f"{scenario}:{check}" in listed:
            excused += 1
        elif scenario in REQUIRED_TOO:
            failed += 1
            print(f"FAILED {scenario}:{check}: {message}")
        else:
            unscored[scenario] += 1
            if explain and not scenario.startswith("tasks-"):
                print(f"{status} {scenario}:{check}: {message[:400]}")
    print(f"{revision}: {passed} checks passed, {excused} need the suite's own fixtures, {unscored.total()} are not scored")
    if unscored:
        print("not scored:", ", ".join(f"{scenario} {count}" for scenario, count in unscored.items()))
    print(f"conformance: {passed} passed, {failed} failed")
    sys.exit(1 if failed or passed == 0 else 0)


if __name__ == "__main__":
    main()
