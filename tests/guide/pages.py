"""Reads the examples of the guide's pages: the fenced blocks, and what each asks for."""

import re
from dataclasses import dataclass
from pathlib import Path

WRITES, APPENDS, REPLACES, RUNS, PICTURE = "writes", "appends to", "replaces keys of", "runs", "is a picture"
FENCE = re.compile(r"^( *)```(.*)$")
LINK = re.compile(r"\]\(([a-z-]+\.md)\)")


class PageError(Exception):
    """A page that does not follow the rules, with its place."""


@dataclass
class Block:
    place: str  # page:line
    action: str
    path: str  # of a file; empty otherwise
    text: str  # with a line end


@dataclass
class Command:
    place: str
    line: str
    expected: list[str]

    @property
    def stays(self) -> bool:
        """Whether it goes on in the background."""
        return self.line.endswith(" &")


def pages_in_order(folder: Path, elsewhere: set[str]) -> list[Path]:
    """The index, then the pages in the order in which the index links them first. A page that is not linked is an error."""
    index = folder / "README.md"
    names = list(dict.fromkeys(LINK.findall(index.read_text(encoding="utf-8"))))
    there = {path.name for path in folder.glob("*.md")} - {"README.md"}
    for name in sorted(there.symmetric_difference(names)):
        raise PageError(f"README.md: {name} is {'not linked' if name in there else 'linked and not there'}")
    return [index] + [folder / name for name in names if name not in elsewhere]


def blocks(name: str, text: str) -> list[Block]:
    """All fenced blocks of a page. Every one must be covered by a rule."""
    found: list[Block] = []
    prose: list[str] = []
    lines = enumerate(text.splitlines(), 1)
    for number, line in lines:
        fence = FENCE.match(line)
        if not fence:
            prose.append(line)
            continue
        indent, words = len(fence[1]), fence[2].split()
        body: list[str] = []
        for _, line in lines:
            if line.strip() == "```":
                break
            body.append(line[indent:])
        else:
            raise PageError(f"{name}:{number}: the block does not end")
        found.append(block(f"{name}:{number}", words, body, " ".join(prose)))
        prose = []
    return found


def block(place: str, words: list[str], body: list[str], prose: str) -> Block:
    text = "\n".join(body) + "\n"
    match words:
        case ["text"]:
            return Block(place, PICTURE, "", text)
        case ["console"]:
            return Block(place, RUNS, "", text)
        case [_, target]:
            action = {"+=": APPENDS, "~=": REPLACES}.get(target[:2], WRITES)
            path = target if action == WRITES else target[2:]
            # The info string is not shown: readers know the file from the sentence before.
            if Path(path).name not in prose:
                raise PageError(f"{place}: no sentence before the block names `{Path(path).name}`")
            return Block(place, action, path, text)
    raise PageError(f"{place}: no rule for a block of `{' '.join(words)}`; see tests/guide/README.md")


def commands(block: Block) -> list[Command]:
    """The commands of a console block, each with the lines that it prints."""
    page, first = block.place.split(":")
    found: list[Command] = []
    goes_on = False
    for number, line in enumerate(block.text.splitlines(), int(first) + 1):
        if goes_on:
            found[-1].line += "\n" + line
        elif line.startswith("$ "):
            found.append(Command(f"{page}:{number}", line[2:], []))
        elif found:
            found[-1].expected.append(line)
        else:
            raise PageError(f"{page}:{number}: a console block begins with a command")
        goes_on = line.endswith("\\") and (goes_on or line.startswith("$ "))
    return found


def fits(expected: list[str], printed: list[str]) -> bool:
    """Whether this is what was printed: a line `...` stands for any lines, `...` in a line for any text."""
    if not expected:
        return True
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def with_keys_replaced(text: str, keys: str) -> str:
    """A YAML file with its top-level keys replaced by those of the block; new ones come last, comments stay."""
    parts = top_level(text)
    for name, lines in top_level(keys).items():
        if name and not name.startswith("#"):
            parts[name] = lines
    return "".join("".join(lines) for lines in parts.values())


def top_level(text: str) -> dict[str, list[str]]:
    """The lines of each top-level key. Comments stay with what they follow, so that none is taken for the next key's."""
    parts: dict[str, list[str]] = {"": []}
    key = ""
    for line in text.splitlines(keepends=True):
        named = re.match(r"([A-Za-z_][\w-]*):", line)
        if named:
            key = named[1]
            parts[key] = []
        elif line.startswith("#"):
            # Between keys: it belongs to neither, and stays where it is.
            key = f"# {len(parts)}"
            parts[key] = []
        parts[key].append(line)
    return parts
