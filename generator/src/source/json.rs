//! JSON: values by `serde_json`, then a scan of the text for what serde_json does not tell:
//! duplicate keys and places.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use serde_json::{Value, json};

use super::repair::{self, Cause, MAX_TAKEN_OUT, Repaired, Stop};
use super::{At, DEEP_HELP, Fault, MAX_DEPTH, MAX_FAULTS, Offsets, Parsed, Position, Positions, pointer_tokens};

/// Reads a value, the faults that do not stop it from being read, and the place of every node.
pub(super) fn read(text: &str) -> Result<Parsed, Fault> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(scanned(text, value, Repaired::default())),
        Err(_) => {
            let mut repaired = repair::repair(text).map_err(|stop| stopped(text, stop))?;
            let text = std::mem::take(&mut repaired.text);
            let value = serde_json::from_str(&text).map_err(syntax_fault)?;
            Ok(scanned(&text, value, repaired))
        }
    }
}

/// What a text says that serde_json reads.
fn scanned(text: &str, mut value: Value, repaired: Repaired) -> Parsed {
    let mut scanner = Scanner {
        text,
        at: 0,
        positions: Positions::default(),
        duplicates: Vec::new(),
        repeated: Vec::new(),
        taken_out: &repaired.taken_out,
        gone: Vec::new(),
        unlisted: 0,
    };
    // What serde_json reads, this walk reads to its end.
    let _ = scanner.document();
    let Scanner { duplicates, repeated, gone, positions, unlisted, .. } = scanner;
    if !repeated.is_empty() {
        value = serde_json::from_str(&without(text, repeated)).unwrap_or(value);
    }
    let has_faults = !duplicates.is_empty() || !gone.is_empty() || !repaired.surrogates.is_empty();
    if !has_faults {
        return Parsed { value: Some(value), faults: Vec::new(), positions };
    }
    let offsets = Offsets::of(text);
    let place = |offset: usize| offsets.position(text, offset);
    let mut faults: Vec<Fault> = duplicates.into_iter().map(|(pointer, at)| duplicate(pointer, place(at))).collect();
    for (pointer, offset, cause) in gone {
        take_out(&mut value, &pointer, cause);
        faults.push(taken_out(pointer, place(offset), cause));
    }
    let listed = repaired.surrogates.iter().take(MAX_FAULTS);
    faults.extend(listed.map(|at| Fault::lone_surrogate(place(*at))));
    let unlisted = unlisted + repaired.surrogates.len().saturating_sub(MAX_FAULTS);
    faults.extend(Fault::unlisted(unlisted));
    Parsed { value: Some(value), faults, positions }
}

/// The text with spaces in these places: serde_json keeps the last of the members of one name, and we the first.
fn without(text: &str, places: Vec<Range<usize>>) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for place in places {
        bytes.get_mut(place).unwrap_or_default().fill(b' ');
    }
    // Whole members were overwritten, and with them whole characters.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn duplicate(pointer: String, position: Position) -> Fault {
    Fault {
        code: "duplicate-key",
        message: format!(
            "the key `{}` is already there in this object; the first one counts",
            pointer_tokens(&pointer).last().unwrap_or_default()
        ),
        position,
        pointer,
        help: "keep one of the two",
    }
}

fn taken_out(pointer: String, position: Position, cause: Cause) -> Fault {
    let (code, message, help) = match cause {
        Cause::TooDeep => ("too-deep", super::too_deep(), DEEP_HELP),
        Cause::NotFinite(word) => (
            "not-finite",
            format!("`{word}` is no JSON value, and was left out"),
            "write a number, or leave the key out",
        ),
    };
    Fault { code, message, position, pointer, help }
}

/// A node that is too deep is empty; a number that is none is not there, or null in a list.
fn take_out(value: &mut Value, pointer: &str, cause: Cause) {
    if let Some(node) = value.pointer_mut(pointer).filter(|_| cause == Cause::TooDeep) {
        *node = json!({});
        return;
    }
    let (parent, _) = pointer.rsplit_once('/').unwrap_or_default();
    let last = pointer_tokens(pointer).last().unwrap_or_default();
    match value.pointer_mut(parent) {
        Some(Value::Object(members)) if !pointer.is_empty() => _ = members.shift_remove(&last),
        _ => {
            if let Some(node) = value.pointer_mut(pointer) {
                *node = Value::Null;
            }
        }
    }
}

fn stopped(text: &str, stop: Stop) -> Fault {
    let (code, message, offset, help) = match stop {
        Stop::Comment(at) => (
            "json-comment",
            "this is a comment, and JSON has none".to_owned(),
            at,
            "remove the comments; in YAML they begin with `#`",
        ),
        Stop::TooMany(at) => (
            "too-many-faults",
            format!("more than {MAX_TAKEN_OUT} nodes of this file are nested too deeply or no JSON values"),
            at,
            "correct the file first",
        ),
    };
    Fault { code, message, position: Offsets::of(text).position(text, offset), pointer: String::new(), help }
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
    /// Where these members stand, with the commas before them.
    repeated: Vec<Range<usize>>,
    /// What the repair took out and this walk did not reach yet, by offset.
    taken_out: &'a [(usize, Cause)],
    /// Pointers, offsets and causes of what was taken out.
    gone: Vec<(String, usize, Cause)>,
    /// Duplicates beyond those that are listed.
    unlisted: usize,
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
        if depth > MAX_DEPTH {
            return None;
        }
        if let [(offset, cause), rest @ ..] = self.taken_out
            && *offset == self.at
        {
            self.gone.push((self.positions.pointer(), *offset, *cause));
            self.taken_out = rest;
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
        let mut comma = self.at;
        loop {
            self.space();
            let offset = self.at;
            let key = self.string()?;
            self.space();
            self.take(b':').then_some(())?;
            self.space();
            self.positions.enter(Some(&key), At::Offset(offset));
            let is_duplicate = seen.contains(&key);
            if !is_duplicate {
                seen.insert(key);
            } else if self.duplicates.len() < MAX_FAULTS {
                self.duplicates.push((self.positions.pointer(), offset));
            } else {
                self.unlisted += 1;
            }
            let before = self.gone.len();
            self.value(depth + 1)?;
            if is_duplicate {
                self.gone.truncate(before);
                self.repeated.push(comma..self.at);
                self.positions.forget();
            } else {
                self.positions.leave();
            }
            self.space();
            if self.take(b'}') {
                return Some(());
            }
            comma = self.at;
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
