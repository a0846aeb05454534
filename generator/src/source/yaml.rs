//! YAML 1.2 (core schema) from parser events, plus what OpenAPI documents use beyond it: `<<` merge
//! keys and JSON surrogate escapes. Bounded against nesting and alias bombs.

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};
use serde_json::{Map, Number, Value};

use super::{At, Fault, MAX_DEPTH, Parsed, Position, Positions};

/// Aliases may add values of this many bytes (roughly) to a file.
const MAX_ALIAS_WEIGHT: usize = 64 << 20;
/// Lines of a flow collection that may be under-indented in one file.
const MAX_REPAIRS: usize = 64;
/// Where such a line is moved: to the right of anything that [`MAX_DEPTH`] can indent by.
const REPAIRED_COLUMN: usize = 4 * MAX_DEPTH;
/// What a node weighs besides its text.
const NODE_WEIGHT: usize = 32;

/// Syntax errors show up after the line that caused them.
const SYNTAX_HELP: &str =
    "look at this line and the one before: indentation, a missing quote, or `: ` inside plain text";

/// A tab looks like an indentation and is none (YAML 1.2.2 section 6.1).
const TAB_HELP: &str = "indent this line with spaces instead of the tab";

/// Reads the single document of a YAML text, what is wrong with it, and the place of every node that can be read. When
/// YAML refuses the text, it is read once more after each repair that has a meaning.
pub(super) fn read(text: &str) -> Parsed {
    let first = Composer::new(text).document();
    if first.parsed.value.is_some() {
        return first.parsed;
    }
    let mut joined = join_surrogates(text).unwrap_or_else(|| text.to_owned());
    for _ in 0..MAX_REPAIRS {
        let next = Composer::new(&joined).document();
        match next.under_indented.and_then(|line| indent(&joined, line)) {
            Some(repaired) if next.parsed.value.is_none() => joined = repaired,
            _ if next.parsed.value.is_some() => return next.parsed,
            _ => break,
        }
    }
    first.parsed
}

/// Moves a line to the right. Documents close a flow collection in the column of its key, which
/// YAML 1.2 forbids (section 7.4) and the widespread libyaml takes.
fn indent(text: &str, line: usize) -> Option<String> {
    let start = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let (before, after) = text.split_at_checked(start)?;
    let blank = after.len() - after.trim_start_matches(' ').len();
    (blank < REPAIRED_COLUMN).then(|| format!("{before}{}{after}", " ".repeat(REPAIRED_COLUMN)))
}

/// Turns escaped surrogate pairs (JSON, RFC 8259 section 7) into the one escape that YAML has for them.
/// Only tried on text that YAML refuses, because outside double quotes these are plain characters.
fn join_surrogates(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut changed = false;
    while let Some(at) = rest.find('\\') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        if let Some(c) = surrogate_pair(tail) {
            out.push_str(&format!("\\U{:08X}", u32::from(c)));
            rest = tail.get(12..).unwrap_or_default();
            changed = true;
        } else {
            // A backslash and what it escapes go together, so that `\\ud83d` stays as it is.
            let mut chars = tail.chars();
            out.extend(chars.by_ref().take(2));
            rest = chars.as_str();
        }
    }
    out.push_str(rest);
    changed.then_some(out)
}

fn surrogate_pair(text: &str) -> Option<char> {
    let unit = |from: usize| {
        let escape = text.get(from..from + 6)?;
        u16::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()
    };
    char::decode_utf16([unit(0)?, unit(6)?]).next()?.ok()
}

/// An anchored node, with what its aliases cost.
struct Anchored {
    value: Value,
    weight: usize,
    depth: usize,
}

struct Composer<'t> {
    text: &'t str,
    parser: Parser<'t, StrInput<'t>>,
    positions: Positions,
    anchors: HashMap<usize, Anchored>,
    weight: usize,
    alias_weight: usize,
    /// Depth of the deepest container composed since the last reset.
    deepest: usize,
    faults: Vec<Fault>,
    under_indented: Option<usize>,
}

/// What became of a text.
struct Composed {
    parsed: Parsed,
    /// The line inside a flow collection that stopped the parser by its indentation.
    under_indented: Option<usize>,
}

/// The text cannot be read any further; the reason is among the faults.
struct Unreadable;

impl<'t> Composer<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            parser: Parser::new_from_str(text),
            positions: Positions::default(),
            anchors: HashMap::new(),
            weight: 0,
            alias_weight: 0,
            deepest: 0,
            faults: Vec::new(),
            under_indented: None,
        }
    }

    fn document(mut self) -> Composed {
        let value = self.stream().ok();
        let parsed = Parsed { value, faults: self.faults, positions: self.positions };
        Composed { parsed, under_indented: self.under_indented }
    }

    fn stream(&mut self) -> Result<Value, Unreadable> {
        let mut value = Value::Null;
        let mut documents = 0;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(value),
                Event::DocumentStart(_) if documents > 0 => {
                    return self.refuse(
                        "several-documents",
                        "the file holds more than one YAML document",
                        span,
                        "keep one document per file",
                    );
                }
                Event::DocumentStart(_) => {
                    documents += 1;
                    let (event, span) = self.next()?;
                    self.positions.enter(None, At::Position(position(span)));
                    value = self.node(event, span, 0)?;
                    self.positions.leave();
                }
                _ => {}
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), Unreadable> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let mark = *error.marker();
                // Block structure has no such error: a smaller indentation ends a block.
                if error.info().starts_with("invalid indentation") {
                    self.under_indented = Some(mark.line());
                }
                let message = format!("this is not valid YAML: {}", error.info());
                match tab_behind(self.text, mark.line()).filter(|_| error.info().contains("tab")) {
                    Some(tab) => self.refuse_at("invalid-yaml", message, tab, TAB_HELP),
                    None => self.refuse("invalid-yaml", message, Span::empty(mark), SYNTAX_HELP),
                }
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Value, Unreadable> {
        let before = self.weight;
        let deepest = std::mem::replace(&mut self.deepest, depth);
        self.weight += NODE_WEIGHT;
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.weight += text.len();
                let value = self.scalar(text, style, tag.as_deref(), span);
                (value, anchor)
            }
            Event::SequenceStart(anchor, _) => (self.sequence(span, depth + 1)?, anchor),
            Event::MappingStart(anchor, _) => (self.mapping(span, depth + 1)?, anchor),
            Event::Alias(id) => (self.alias(id, span, depth)?, 0),
            // An empty node has no event of its own in some places; it is null.
            _ => (Value::Null, 0),
        };
        if anchor > 0 {
            let anchored = Anchored { value: value.clone(), weight: self.weight - before, depth: self.deepest - depth };
            self.anchors.insert(anchor, anchored);
        }
        self.deepest = self.deepest.max(deepest);
        Ok(value)
    }

    fn alias(&mut self, id: usize, span: Span, depth: usize) -> Result<Value, Unreadable> {
        let Some(anchored) = self.anchors.get(&id) else {
            return self.refuse(
                "alias-loop",
                "the alias stands inside the node that it names",
                span,
                "write the node out instead of the alias",
            );
        };
        let (weight, inner) = (anchored.weight, anchored.depth);
        let value = anchored.value.clone();
        self.weight += weight;
        self.alias_weight += weight;
        self.deepest = self.deepest.max(depth + inner);
        if self.alias_weight > MAX_ALIAS_WEIGHT {
            return self.refuse(
                "alias-bomb",
                "the aliases of this file expand to more than 64 MiB",
                span,
                "write out what is needed instead of aliases",
            );
        }
        self.check_depth(depth + inner, span)?;
        Ok(value)
    }

    fn sequence(&mut self, span: Span, depth: usize) -> Result<Value, Unreadable> {
        self.enter(span, depth)?;
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd | Event::StreamEnd) {
                return Ok(Value::Array(items));
            }
            self.positions.enter(None, At::Position(position(span)));
            items.push(self.node(event, span, depth)?);
            self.positions.leave();
        }
    }

    fn mapping(&mut self, span: Span, depth: usize) -> Result<Value, Unreadable> {
        self.enter(span, depth)?;
        let mut map = Map::new();
        let mut merged = Vec::new();
        loop {
            let (event, key_span) = self.next()?;
            if matches!(event, Event::MappingEnd | Event::StreamEnd) {
                break;
            }
            let (key, is_merge) = self.key(event, key_span)?;
            self.positions.enter(Some(&key), At::Position(position(key_span)));
            let known = !is_merge && map.contains_key(&key);
            if known {
                self.fault(
                    "duplicate-key",
                    format!("the key `{key}` is already there in this mapping"),
                    key_span,
                    "keep one of the two",
                );
            }
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth)?;
            if known {
                self.positions.forget();
                continue;
            }
            if is_merge {
                self.collect_merge(value, key_span, &mut merged);
            } else {
                map.insert(key, value);
            }
            self.positions.leave();
        }
        for (key, value) in merged {
            map.entry(key).or_insert(value);
        }
        Ok(Value::Object(map))
    }

    /// The key as text (numeric and boolean keys as they are written), and whether it is a merge key.
    fn key(&mut self, event: Event<'t>, span: Span) -> Result<(String, bool), Unreadable> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let is_merge = style == ScalarStyle::Plain && text == "<<";
                let text = text.into_owned();
                if anchor > 0 {
                    let anchored =
                        Anchored { value: Value::String(text.clone()), weight: NODE_WEIGHT + text.len(), depth: 0 };
                    self.anchors.insert(anchor, anchored);
                }
                Ok((text, is_merge))
            }
            Event::Alias(id) => match self.alias(id, span, 0)? {
                Value::String(text) => Ok((text, false)),
                Value::Number(number) => Ok((number.to_string(), false)),
                Value::Bool(flag) => Ok((flag.to_string(), false)),
                _ => self.refuse_key(span),
            },
            _ => self.refuse_key(span),
        }
    }

    fn refuse_key<T>(&mut self, span: Span) -> Result<T, Unreadable> {
        self.refuse("complex-key", "a key must be a scalar", span, "write a plain text before the colon")
    }

    /// `<<` takes a mapping or a list of mappings; earlier ones win (yaml.org/type/merge).
    fn collect_merge(&mut self, value: Value, span: Span, merged: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(map) => merged.extend(map),
            Value::Array(items) if items.iter().all(Value::is_object) => {
                for item in items {
                    self.collect_merge(item, span, merged);
                }
            }
            _ => self.fault(
                "invalid-merge",
                "`<<` merges a mapping or a list of mappings",
                span,
                "name an anchored mapping, as in `<<: *base`",
            ),
        }
    }

    fn scalar(&mut self, text: Cow<'t, str>, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Value {
        let core = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
        let resolved = match (core, style) {
            (Some("str"), _) => None,
            (Some(_), _) | (None, ScalarStyle::Plain) => plain(&text),
            (None, _) => None,
        };
        if style == ScalarStyle::Plain && is_not_finite(&text) {
            self.fault("not-finite", format!("`{text}` is no JSON value"), span, "quote it when the text is meant");
        }
        resolved.unwrap_or_else(|| Value::String(text.into_owned()))
    }

    fn enter(&mut self, span: Span, depth: usize) -> Result<(), Unreadable> {
        self.deepest = self.deepest.max(depth);
        self.check_depth(depth, span)
    }

    fn check_depth(&mut self, depth: usize, span: Span) -> Result<(), Unreadable> {
        if depth <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!("nested deeper than {MAX_DEPTH} levels");
        self.refuse("too-deep", message, span, "flatten it, or refer to inner parts with `$ref`")
    }

    fn fault(&mut self, code: &'static str, message: impl Into<String>, span: Span, help: &'static str) {
        self.fault_at(code, message, position(span), help);
    }

    fn fault_at(&mut self, code: &'static str, message: impl Into<String>, position: Position, help: &'static str) {
        self.faults.push(Fault { code, message: message.into(), position, pointer: self.positions.pointer(), help });
    }

    fn refuse<T>(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        help: &'static str,
    ) -> Result<T, Unreadable> {
        self.refuse_at(code, message, position(span), help)
    }

    fn refuse_at<T>(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        position: Position,
        help: &'static str,
    ) -> Result<T, Unreadable> {
        self.fault_at(code, message, position, help);
        Err(Unreadable)
    }
}

/// The first tab that indents a line, from this line on: the parser names the place before it.
fn tab_behind(text: &str, line: usize) -> Option<Position> {
    let lines = text.lines().enumerate().skip(line.saturating_sub(1));
    let tab = |line: &str| line.chars().take_while(|c| matches!(c, ' ' | '\t')).position(|c| c == '\t');
    lines.filter_map(|(number, line)| Some((number, tab(line)?))).next().map(|(number, column)| Position {
        line: (number + 1).try_into().unwrap_or(u32::MAX),
        column: (column + 1).try_into().unwrap_or(u32::MAX),
    })
}

fn position(span: Span) -> Position {
    Position {
        line: span.start.line().max(1).try_into().unwrap_or(u32::MAX),
        column: (span.start.col() + 1).try_into().unwrap_or(u32::MAX),
    }
}

/// A plain scalar by the core schema (YAML 1.2.2 section 10.3.2); `None` when it is a string.
fn plain(text: &str) -> Option<Value> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Value::Null),
        "true" | "True" | "TRUE" => return Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Value::Bool(false)),
        _ => {}
    }
    number(text).map(Value::Number)
}

/// A number digit by digit. Digits after a leading zero are a string: they are codes, not quantities.
fn number(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(Number::from);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(digits, 8).ok().map(Number::from);
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => digits.split_at(at),
        None => (digits, ""),
    };
    // JSON wants a digit on both sides of the point; YAML does not.
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}{exponent}").parse().ok()
}

fn is_not_finite(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}
