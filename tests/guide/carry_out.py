"""Carries out the guide: writes its files and runs its commands in a fresh project, and holds what is printed against the page."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from pages import APPENDS, PICTURE, REPLACES, WRITES, Block, Command, PageError, blocks, commands, fits, pages_in_order
from pages import with_keys_replaced

REPOSITORY = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ["CARGO_TARGET_DIR"]).resolve()
PLACE = TARGET / "guide"
HOME = PLACE / "home"
PROJECT = HOME / "servers"
# Addresses of the pages; each run takes free ports in their place.
PORTS = ("4010", "8000")
# Pages that another suite runs.
ELSEWHERE = {"outside.md"}
# A command may compile everything once.
LONGEST_SECONDS = 1800
STARTS_WITHIN_SECONDS = 20


class Failed(Exception):
    """An example that is not as the page says."""


def out_of_time(*_):
    raise PageError(f"a command did not end within {LONGEST_SECONDS} s")


class Reader:
    """Somebody who follows the guide in one shell."""

    def __init__(self, verbose: bool):
        self.verbose = verbose
        self.ports = {port: free_port() for port in PORTS}
        self.out = PLACE / "output"
        self.shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, cwd=PROJECT, env=environment(), text=True, start_new_session=True,
        )

    def write(self, block: Block):
        path = PROJECT / block.path
        text = self.here(block.text)
        if block.action != WRITES and not path.is_file():
            raise Failed(f"{block.path} is not there yet")
        path.parent.mkdir(parents=True, exist_ok=True)
        if block.action == APPENDS:
            text = path.read_text(encoding="utf-8") + text
        elif block.action == REPLACES:
            text = with_keys_replaced(path.read_text(encoding="utf-8"), text)
        path.write_text(text, encoding="utf-8")

    def run(self, command: Command):
        line = self.here(command.line)
        if command.stays:
            status = self.start(line)
        else:
            status = self.status_of(f"{{ {line}\n}} </dev/null >{self.out} 2>&1")
        printed = self.on_page(self.out.read_text(encoding="utf-8", errors="replace")).splitlines()
        if self.verbose:
            print("\n".join([f"{command.place}: $ {command.line}", *printed]), flush=True)
        if status != 0:
            raise Failed("\n".join([f"exit code {status} of: {command.line}", *printed]))
        if not fits(command.expected, printed):
            raise Failed("\n".join([f"{command.line}", "--- the page", *command.expected, "--- printed", *printed]))

    def start(self, line: str) -> int:
        """Starts a program that stays, and waits for its first line."""
        self.wait_until_free(line)
        log = PLACE / "background"
        log.unlink(missing_ok=True)
        status = self.status_of(f"{line.removesuffix('&')} </dev/null >{log} 2>&1 &")
        end = time.monotonic() + STARTS_WITHIN_SECONDS
        while not (log.exists() and "\n" in log.read_text(errors="replace")):
            if time.monotonic() > end:
                raise Failed(f"it prints nothing: {line}")
            time.sleep(0.05)
        self.out.write_bytes(log.read_bytes())
        return status

    def wait_until_free(self, line: str):
        """Waits until a program that was told to stop has left the port that the next one takes."""
        end = time.monotonic() + STARTS_WITHIN_SECONDS
        for port in (port for port in self.ports.values() if port in line):
            while is_taken(port) and time.monotonic() < end:
                time.sleep(0.05)
        self.status_of("jobs >/dev/null")

    def status_of(self, script: str) -> int:
        self.shell.stdin.write(script + "\necho $?\n")
        self.shell.stdin.flush()
        signal.alarm(LONGEST_SECONDS)
        answer = self.shell.stdout.readline().strip()
        signal.alarm(0)
        if not answer.isdigit():
            raise Failed(f"the shell ended at: {script}")
        return int(answer)

    def here(self, text: str) -> str:
        """The text of a page with this run's ports and the real checkout."""
        for port, real in self.ports.items():
            text = re.sub(rf"\b{port}\b", real, text)
        return text.replace("../toolwright", os.path.relpath(REPOSITORY, PROJECT))

    def on_page(self, text: str) -> str:
        """What was printed with the ports and folders of the page."""
        for port, real in self.ports.items():
            text = re.sub(rf"\b{real}\b", port, text)
        folders = [(PROJECT, "/home/you/servers"), (HOME, "/home/you"), (TARGET, "/home/you/servers/target")]
        for folder, name in [*folders, (REPOSITORY, "/home/you/toolwright")]:
            text = text.replace(str(folder), name)
        return text

    def leave(self):
        """Ends the shell and whatever it started."""
        os.killpg(self.shell.pid, signal.SIGTERM)
        self.shell.wait()


def environment() -> dict[str, str]:
    """A reader's environment: an empty home, no settings of this machine's, the programs installed."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TERM") if name in os.environ}
    home = Path(os.environ.get("HOME", "/"))
    return kept | {
        "HOME": str(HOME),
        "PATH": os.pathsep.join([str(TARGET / "xtask"), str(TARGET / "debug"), kept.get("PATH", os.defpath)]),
        "CARGO_HOME": os.environ.get("CARGO_HOME", str(home / ".cargo")),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(home / ".rustup")),
        "CARGO_TARGET_DIR": str(TARGET),
        "CARGO_INCREMENTAL": "0",
        "CARGO_TERM_QUIET": "true",
        "NO_COLOR": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def free_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def is_taken(port: str) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", int(port))) == 0


def prepare():
    shutil.rmtree(PLACE, ignore_errors=True)
    PROJECT.mkdir(parents=True)
    (HOME / ".gitconfig").write_text("[user]\nname = Reader\nemail = reader@example.com\n[init]\ndefaultBranch = main\n")
    # The versions that everything else here is tested with, so that dependencies are compiled once.
    shutil.copy(REPOSITORY / "Cargo.lock", PROJECT / "Cargo.lock")


def carry_out(reader: Reader, page: Path, keep_going: bool) -> tuple[int, int]:
    passed = failed = 0
    for block in blocks(page.name, page.read_text(encoding="utf-8")):
        examples = [] if block.action == PICTURE else commands(block) if not block.path else [block]
        for example in examples:
            try:
                reader.run(example) if isinstance(example, Command) else reader.write(example)
                passed += 1
            except Failed as error:
                failed += 1
                print(f"FAILED: {example.place}: {error}", flush=True)
                if not keep_going:
                    return passed, failed
    return passed, failed


def main() -> int:
    keep_going = "--keep-going" in sys.argv
    signal.signal(signal.SIGALRM, out_of_time)
    pages = pages_in_order(REPOSITORY / "docs" / "guide", ELSEWHERE)
    prepare()
    reader = Reader("--verbose" in sys.argv)
    passed = failed = 0
    try:
        for page in pages:
            began = time.monotonic()
            good, bad = carry_out(reader, page, keep_going)
            passed, failed = passed + good, failed + bad
            print(f"{page.name}: {good} examples in {time.monotonic() - began:.0f} s", flush=True)
            if bad and not keep_going:
                break
    finally:
        reader.leave()
    print(f"guide: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PageError as error:
        print(f"FAILED: {error}\nguide: 0 passed, 1 failed")
        sys.exit(1)
