"""Makes the documents of `tests/corpus/scale`, measures, and prints. Runs in the folder of its project."""

import json
import os
import subprocess
import sys
import time

TOOLWRIGHT = sys.argv[1]
SIZES = [100, 200, 500, 1000, 2000, 5000]
# Each time is the least of this many runs: all else is the machine.
RUNS = 3
BUILT = 1000


# Records refer to each other within groups of so many: what an operation reaches is its own area, whatever the size of the API.
GROUP = 8
# With the option `--connected`, all records are one group: each reaches each, which few APIs of people do.
CONNECTED = "--connected" in sys.argv[2:]


def schema(number, count):
    """A record of a few fields that refers to two others, as most do."""
    group = count if CONNECTED else GROUP
    first = number - number % group
    size = min(group, count - first)
    near = [f"#/components/schemas/Record{first + (number * step + 1) % size}" for step in (7, 3)]
    return {
        "type": "object",
        "description": f"Record {number}.",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "description": "Name of the record.", "maxLength": 80},
            "state": {"type": "string", "enum": ["open", "closed"], "description": "Whether it is open."},
            "amount": {"type": "integer", "minimum": 0, "description": "How much of it."},
            "parent": {"$ref": near[0]},
            "parts": {"type": "array", "items": {"$ref": near[1]}},
        },
    }


def operation(number, record, writes):
    """Reads or writes a record."""
    reference = {"$ref": f"#/components/schemas/Record{record}"}
    made = {
        "operationId": f"{'update' if writes else 'read'}Record{number}",
        "summary": f"{'Update' if writes else 'Read'} record {number} of its area.",
        "tags": [f"area{number % 20}"],
        "parameters": [
            {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}, "description": "The record."},
            {"name": "expand", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
        ],
        "responses": {"200": {"description": "The record.", "content": {"application/json": {"schema": reference}}}},
    }
    if writes:
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": reference}}}
    return made


def document(operations):
    records = max(operations // 4, 1)
    paths = {}
    for number in range(operations // 2):
        paths[f"/areas/{number}/records/{{id}}"] = {
            "get": operation(number, number % records, False),
            "put": operation(number, number % records, True),
        }
    schemas = {f"Record{number}": schema(number, records) for number in range(records)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Wide", "version": "1", "description": "An API of many operations."},
        "servers": [{"url": "https://api.example"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }


def run(*command):
    """Seconds and MiB of a command; it ends the whole where it fails."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - started
    if status != 0:
        sys.exit(f"FAILED: {' '.join(command)}\n{output.decode(errors='replace')[-4000:]}")
    return seconds, usage.ru_maxrss / 1024


def fit(points):
    """Slope, intercept and R squared of the straight line by least squares."""
    count = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    intercept = mean_y - slope * mean_x
    left = sum((y - slope * x - intercept) ** 2 for x, y in points)
    return slope, intercept, 1 - left / sum((y - mean_y) ** 2 for _, y in points)


def met(holds):
    return "met" if holds else "NOT MET"


def regenerate():
    times, sizes = [], []
    for operations in SIZES:
        name = f"wide{operations}"
        with open(f"{name}.json", "w", encoding="utf-8") as file:
            json.dump(document(operations), file)
        run(TOOLWRIGHT, "new", name, "--document", f"{name}.json")
        runs = [run(TOOLWRIGHT, "regenerate", name) for _ in range(RUNS)]
        seconds, mebibytes = min(seconds for seconds, _ in runs), max(size for _, size in runs)
        times.append((operations, seconds))
        sizes.append((operations, mebibytes))
        print(f"regenerate of {operations:5} operations: {seconds:6.3f} s, {mebibytes:5.0f} MiB resident", flush=True)
    slope, intercept, likeness = fit(times)
    print(
        f"time: {slope * 1000:.3f} ms an operation, {intercept * 1000:.0f} ms besides, R^2 {likeness:.4f}"
        f" (target: linear, R^2 >= 0.99): {met(likeness >= 0.99)}"
    )
    slope, intercept, likeness = fit(sizes)
    print(f"memory: {slope * 1024:.0f} KiB an operation, {intercept:.0f} MiB besides, R^2 {likeness:.4f}")


def build():
    server = f"wide{BUILT}-server"
    run("cargo", "build", "--package", server)
    run("cargo", "clean", "--package", server, "--package", f"wide{BUILT}-tools")
    seconds, mebibytes = run("cargo", "build", "--package", server)
    print(
        f"debug build of a server of {BUILT} operations after its dependencies: {seconds:.1f} s,"
        f" {mebibytes:.0f} MiB resident (target <= 15 s): {met(seconds <= 15)}"
    )


regenerate()
if not CONNECTED:
    build()
