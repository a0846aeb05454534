"""What counts as an example, and what passes as its output."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import pages  # noqa: E402


def read(text: str) -> list[pages.Block]:
    return pages.blocks("page.md", text)


class Blocks(unittest.TestCase):
    def test_a_block_that_no_rule_covers_is_an_error_with_its_place(self):
        with self.assertRaisesRegex(pages.PageError, "page.md:2: no rule for a block of `yaml`"):
            read("text\n```yaml\na: 1\n```\n")

    def test_a_block_that_does_not_end_is_an_error(self):
        with self.assertRaisesRegex(pages.PageError, "does not end"):
            read("```text\n")

    def test_a_file_must_be_named_by_the_text_before_it(self):
        with self.assertRaisesRegex(pages.PageError, "names `a.yaml`"):
            read("Write this:\n```yaml specs/a.yaml\na: 1\n```\n")

    def test_the_sign_before_a_path_says_what_becomes_of_the_file(self):
        signs = {"": pages.WRITES, "+=": pages.APPENDS, "~=": pages.REPLACES}
        for sign, action in signs.items():
            [block] = read(f"`a.yaml`:\n```yaml {sign}a.yaml\na: 1\n```\n")
            self.assertEqual((block.action, block.path, block.text), (action, "a.yaml", "a: 1\n"))

    def test_a_block_in_a_list_loses_its_indent(self):
        [block] = read("- `a.yaml`:\n  ```yaml a.yaml\n  a:\n    b: 1\n  ```\n")
        self.assertEqual(block.text, "a:\n  b: 1\n")


class Commands(unittest.TestCase):
    def test_lines_below_a_command_are_its_output(self):
        [block] = read("```console\n$ one \\\n  more\nout\n$ two &\n```\n")
        one, two = pages.commands(block)
        self.assertEqual((one.place, one.line, one.expected), ("page.md:2", "one \\\n  more", ["out"]))
        self.assertEqual((two.place, two.stays), ("page.md:5", True))

    def test_output_without_a_command_is_an_error(self):
        [block] = read("```console\nout\n```\n")
        with self.assertRaises(pages.PageError):
            pages.commands(block)


class Outputs(unittest.TestCase):
    def test_lines_must_be_those_printed(self):
        self.assertTrue(pages.fits(["a", "b"], ["a", "b"]))
        self.assertFalse(pages.fits(["a"], ["a", "b"]))
        self.assertFalse(pages.fits(["b", "a"], ["a", "b"]))

    def test_a_line_of_dots_stands_for_any_lines(self):
        self.assertTrue(pages.fits(["...", "b", "..."], ["a", "b"]))
        self.assertFalse(pages.fits(["...", "c"], ["a", "b"]))

    def test_dots_in_a_line_stand_for_any_text_of_that_line(self):
        self.assertTrue(pages.fits(["in ... ms"], ["in 12 ms"]))
        self.assertFalse(pages.fits(["in ... ms"], ["in 12", " ms"]))

    def test_other_characters_stand_for_themselves(self):
        self.assertFalse(pages.fits(["a.c"], ["abc"]))


class Keys(unittest.TestCase):
    def test_a_key_is_replaced_where_it_stands(self):
        self.assertEqual(pages.with_keys_replaced("a:\n  x: 1\nb: 2\n", "a: 3\n"), "a: 3\nb: 2\n")

    def test_a_new_key_comes_last(self):
        self.assertEqual(pages.with_keys_replaced("a: 1\n", "b: 2\n"), "a: 1\nb: 2\n")

    def test_comments_stay(self):
        self.assertEqual(pages.with_keys_replaced("a: 1\n# why b\nb: 2\n", "a: 3\n"), "a: 3\n# why b\nb: 2\n")


if __name__ == "__main__":
    unittest.main()
