//! JSON: values by `serde_json`, then a scan of the text for what serde_json does not tell:
//! duplicate keys and places.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{At, Fault, Offsets, Parsed, Position, Positions, pointer_tokens};

/// Reads a value, the faults that do not stop it from being read, and the place of every node.
pub(super) fn read(text: &str) -> Result<Parsed, Fault> {
    let value = serde_json::from_str(text).map_err(syntax_fault)?;
    let mut scanner = Scanner { text, at: 0, positions: Positions::default(), duplicates: Vec::new() };
    // What serde_json reads, this walk reads to its end.
    let _ = scanner.document();
    let faults = match scanner.duplicates.is_empty() {
        true => Vec::new(),
        false => duplicate_faults(text, scanner.duplicates),
    };
    Ok(Parsed { value: Some(value), faults, positions: scanner.positions })
}

fn duplicate_faults(text: &str, duplicates: Vec<(String, usize)>) -> Vec<Fault> {
    let offsets = Offsets::of(text);
    let fault = |(pointer, offset): (String, usize)| Fault {
        code: "duplicate-key",
        message: format!(
            "the key `{}` is already there in this object",
            pointer_tokens(&pointer).last().unwrap_or_default()
        ),
        position: offsets.position(text, offset),
        pointer,
        help: "keep one of the two",
    };
    duplicates.into_iter().map(fault).collect()
}

fn syntax_fault(error: serde_json::Error) -> Fault {
    let text = error.to_string();
    // serde_json appends " at line L column C", which the place says already.
    let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
    Fault {
        code: "invalid-json",
        message: format!("this is not valid JSON: {message}"),
        position: Position {
            line: error.line().try_into().unwrap_or(u32::MAX),
            column: error.column().max(1).try_into().unwrap_or(u32::MAX),
        },
        pointer: String::new(),
        help: "look at what stands just before this place: a comma, a quote or a bracket is often missing there",
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    positions: Positions,
    /// Pointers and offsets of keys that their objects already have.
    duplicates: Vec<(String, usize)>,
}

impl<'a> Scanner<'a> {
    /// Walks the text; `None` where it is not JSON as far as this walk needs to know.
    fn document(&mut self) -> Option<()> {
        self.space();
        self.positions.enter(None, At::Offset(self.at));
        self.value(0)?;
        self.positions.leave();
        Some(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Steps over `byte`, and says whether it was there.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > super::MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string().map(drop),
            _ => {
                while !matches!(self.peek(), None | Some(b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r')) {
                    self.at += 1;
                }
                Some(())
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        let mut seen = HashSet::new();
        self.space();
        if self.take(b'}') {
            return Some(());
        }
        loop {
            self.space();
            let offset = self.at;
            let key = self.string()?;
            self.space();
            self.take(b':').then_some(())?;
            self.space();
            self.positions.enter(Some(&key), At::Offset(offset));
            let is_duplicate = seen.contains(&key);
            if is_duplicate {
                self.duplicates.push((self.positions.pointer(), offset));
            } else {
                seen.insert(key);
            }
            self.value(depth + 1)?;
            if is_duplicate {
                self.positions.forget();
            } else {
                self.positions.leave();
            }
            self.space();
            if self.take(b'}') {
                return Some(());
            }
            self.take(b',').then_some(())?;
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        self.space();
        if self.take(b']') {
            return Some(());
        }
        loop {
            self.space();
            self.positions.enter(None, At::Offset(self.at));
            self.value(depth + 1)?;
            self.positions.leave();
            self.space();
            if self.take(b']') {
                return Some(());
            }
            self.take(b',').then_some(())?;
        }
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        self.take(b'"').then_some(())?;
        let mut escaped = false;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    self.at += 2;
                }
                _ => self.at += 1,
            }
        }
        self.at += 1;
        let quoted = self.text.get(start..self.at)?;
        if escaped {
            return serde_json::from_str(quoted).ok().map(Cow::Owned);
        }
        quoted.get(1..quoted.len() - 1).map(Cow::Borrowed)
    }
}
