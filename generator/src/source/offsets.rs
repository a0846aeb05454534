//! Lines and columns of byte offsets.

use super::Position;

/// Bytes between two marks: a place is found by walking at most this far.
const STEP: usize = 4096;

/// Marks along a text. A document may be one line of many megabytes, and a place in it be asked for a thousand times.
#[derive(Debug)]
pub(super) struct Offsets {
    marks: Vec<(usize, Position)>,
}

impl Offsets {
    pub(super) fn of(text: &str) -> Self {
        let mut marks = Vec::new();
        let mut position = Position { line: 1, column: 1 };
        for (offset, c) in text.char_indices() {
            if offset >= marks.len() * STEP {
                marks.push((offset, position));
            }
            position = behind(position, c);
        }
        Self { marks }
    }

    /// Line and column of a byte of the same text.
    pub(super) fn position(&self, text: &str, offset: usize) -> Position {
        let after = self.marks.partition_point(|(mark, _)| *mark <= offset);
        let mark = after.checked_sub(1).and_then(|at| self.marks.get(at)).copied();
        let (start, position) = mark.unwrap_or((0, Position { line: 1, column: 1 }));
        text.get(start..offset).unwrap_or_default().chars().fold(position, behind)
    }
}

/// Where the next character stands.
fn behind(position: Position, c: char) -> Position {
    match c {
        '\n' => Position { line: position.line.saturating_add(1), column: 1 },
        _ => Position { column: position.column.saturating_add(1), ..position },
    }
}

#[cfg(test)]
mod tests {
    use super::{Offsets, Position};

    #[test]
    fn places_beyond_the_first_mark_are_right() {
        let text = format!("é{}\n{}é x", "y".repeat(5000), "z".repeat(9000));
        let offset = text.len() - 1;
        assert_eq!(Offsets::of(&text).position(&text, offset), Position { line: 2, column: 9003 });
        assert_eq!(Offsets::of("").position("", 0), Position { line: 1, column: 1 });
    }
}
