//! JSON: values by `serde_json`, then a scan of the text for what serde_json does not tell:
//! duplicate keys and places.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Fault, Position, Positions, push_token};

/// Reads a value, and the faults that do not stop it from being read.
pub(super) fn read(text: &str) -> Result<(Value, Vec<Fault>), Fault> {
    let value = serde_json::from_str(text).map_err(syntax_fault)?;
    let mut duplicates = Vec::new();
    scan(text, &mut |event| {
        if let Event::Duplicate { pointer, offset } = event {
            duplicates.push((pointer.to_owned(), offset));
        }
    });
    let lines = Lines::of(text);
    let faults = duplicates
        .into_iter()
        .map(|(pointer, offset)| Fault {
            code: "duplicate-key",
            message: format!(
                "the key `{}` is already there in this object",
                super::pointer_tokens(&pointer).last().unwrap_or_default()
            ),
            position: lines.position(offset),
            pointer,
            help: "keep one of the two",
        })
        .collect();
    Ok((value, faults))
}

/// The place of every node, or `None` when the text is not JSON.
pub(super) fn positions(text: &str) -> Option<Positions> {
    let lines = Lines::of(text);
    let mut positions = HashMap::new();
    let complete = scan(text, &mut |event| {
        if let Event::Node { pointer, offset } = event {
            positions.entry(pointer.to_owned()).or_insert_with(|| lines.position(offset));
        }
    });
    complete.then_some(positions)
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

/// Byte offsets of line starts.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or_default();
        Position {
            line: line.try_into().unwrap_or(u32::MAX),
            column: (before.chars().count() + 1).try_into().unwrap_or(u32::MAX),
        }
    }
}

enum Event<'p> {
    /// A value starts here (its key, when it is a member).
    Node { pointer: &'p str, offset: usize },
    /// A key that its object already has.
    Duplicate { pointer: &'p str, offset: usize },
}

/// Walks JSON text. Returns false when it is not JSON as far as this walk needs to know.
fn scan(text: &str, visit: &mut dyn FnMut(Event<'_>)) -> bool {
    let mut scanner = Scanner { text, at: 0, pointer: String::new(), visit };
    scanner.space();
    scanner.node(scanner.at);
    scanner.value(0).is_some()
}

struct Scanner<'a, 'v> {
    text: &'a str,
    at: usize,
    pointer: String,
    visit: &'v mut dyn FnMut(Event<'_>),
}

impl<'a> Scanner<'a, '_> {
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

    fn node(&mut self, offset: usize) {
        let pointer = &self.pointer;
        (self.visit)(Event::Node { pointer, offset });
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
            let parent = self.pointer.len();
            push_token(&mut self.pointer, &key);
            let pointer = &self.pointer;
            if seen.insert(key) {
                (self.visit)(Event::Node { pointer, offset });
            } else {
                (self.visit)(Event::Duplicate { pointer, offset });
            }
            self.value(depth + 1)?;
            self.pointer.truncate(parent);
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
        for index in 0.. {
            self.space();
            let parent = self.pointer.len();
            push_token(&mut self.pointer, &index.to_string());
            self.node(self.at);
            self.value(depth + 1)?;
            self.pointer.truncate(parent);
            self.space();
            if self.take(b']') {
                return Some(());
            }
            self.take(b',').then_some(())?;
        }
        None
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
