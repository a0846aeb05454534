//! YAML 1.2 (core schema) from parser events, plus what OpenAPI documents use beyond it: `<<` merge
//! keys and JSON surrogate escapes. Bounded against nesting and alias bombs.

mod scalar;
mod surrogate;

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};
use serde_json::{Map, Value};

use self::scalar::{is_not_finite, plain};
use self::surrogate::{Joined, join_surrogates};
use super::{At, DEEP_HELP, Fault, MAX_DEPTH, MAX_FAULTS, Offsets, Parsed, Position, Positions};

/// Anchors and aliases may add values of this many bytes to a file.
const MAX_ALIAS_WEIGHT: usize = 64 << 20;
/// Lines of a flow collection that may be under-indented in one file.
const MAX_REPAIRS: usize = 64;
/// Where such a line is moved: to the right of anything that [`MAX_DEPTH`] can indent by.
const REPAIRED_COLUMN: usize = 4 * MAX_DEPTH;
/// What a node weighs in memory besides its text.
const NODE_WEIGHT: usize = size_of::<Value>() + 8;
/// What a member weighs besides its key and its node.
const MEMBER_WEIGHT: usize = size_of::<String>() + 40;

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
    let mut repaired = join_surrogates(text).unwrap_or_else(|| Joined { text: text.to_owned(), lone: Vec::new() });
    for _ in 0..MAX_REPAIRS {
        let mut next = Composer::new(&repaired.text).document();
        match next.under_indented.and_then(|line| indent(&repaired.text, line)) {
            Some(indented) if next.parsed.value.is_none() => repaired.text = indented,
            _ if next.parsed.value.is_some() => {
                next.parsed.faults.extend(lone_surrogates(text, &repaired.lone));
                return next.parsed;
            }
            _ => break,
        }
    }
    first.parsed
}

fn lone_surrogates(text: &str, found: &[usize]) -> Vec<Fault> {
    let offsets = Offsets::of(text);
    let listed = found.iter().take(MAX_FAULTS);
    let told = listed.map(|at| Fault::lone_surrogate(offsets.position(text, *at)));
    told.chain(Fault::unlisted(found.len().saturating_sub(MAX_FAULTS))).collect()
}

/// Moves a line to the right. Documents close a flow collection in the column of its key, which
/// YAML 1.2 forbids (section 7.4) and the widespread libyaml takes.
fn indent(text: &str, line: usize) -> Option<String> {
    let start = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let (before, after) = text.split_at_checked(start)?;
    let blank = after.len() - after.trim_start_matches(' ').len();
    (blank < REPAIRED_COLUMN).then(|| format!("{before}{}{after}", " ".repeat(REPAIRED_COLUMN)))
}

/// An anchored node, with what its aliases cost.
struct Anchored {
    /// `None` where the node was left out.
    value: Option<Value>,
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
    /// Faults beyond those that are listed.
    unlisted: usize,
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
            unlisted: 0,
            under_indented: None,
        }
    }

    fn document(mut self) -> Composed {
        let value = self.stream().ok();
        self.faults.extend(Fault::unlisted(self.unlisted));
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
                    value = self.node(event, span, 0)?.unwrap_or_default();
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
                // The parser's own limit, far above ours, counts flow collections alone.
                if error.info().starts_with("recursion limit") {
                    let message = "this file is nested too deeply to be read";
                    return self.refuse("too-deep", message, Span::empty(mark), DEEP_HELP);
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

    /// The value of a node; `None` where it is left out, which was reported.
    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Option<Value>, Unreadable> {
        let before = self.weight;
        let deepest = std::mem::replace(&mut self.deepest, depth);
        self.weight += NODE_WEIGHT;
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.weight += text.len();
                (self.scalar(text, style, tag.as_deref(), span), anchor)
            }
            Event::SequenceStart(anchor, _) => (Some(self.sequence(span, depth + 1)?), anchor),
            Event::MappingStart(anchor, _) => (Some(self.mapping(span, depth + 1)?), anchor),
            Event::Alias(id) => (self.alias(id, span, depth)?, 0),
            // An empty node has no event of its own in some places; it is null.
            _ => (Some(Value::Null), 0),
        };
        if anchor > 0 {
            let weight = self.weight - before;
            self.copy(weight, span)?;
            self.anchors.insert(anchor, Anchored { value: value.clone(), weight, depth: self.deepest - depth });
        }
        self.deepest = self.deepest.max(deepest);
        Ok(value)
    }

    fn alias(&mut self, id: usize, span: Span, depth: usize) -> Result<Option<Value>, Unreadable> {
        let Some(Anchored { weight, depth: inner, .. }) = self.anchors.get(&id) else {
            return self.refuse(
                "alias-loop",
                "the alias stands inside the node that it names",
                span,
                "write the node out instead of the alias",
            );
        };
        let (weight, inner) = (*weight, *inner);
        if depth + inner > MAX_DEPTH {
            self.fault("too-deep", super::too_deep(), span, DEEP_HELP);
            return Ok(Some(Value::Object(Map::new())));
        }
        self.copy(weight, span)?;
        self.weight += weight;
        self.deepest = self.deepest.max(depth + inner);
        Ok(self.anchors.get(&id).and_then(|anchored| anchored.value.clone()))
    }

    /// Counts what is about to be copied.
    fn copy(&mut self, weight: usize, span: Span) -> Result<(), Unreadable> {
        self.alias_weight = self.alias_weight.saturating_add(weight);
        if self.alias_weight <= MAX_ALIAS_WEIGHT {
            return Ok(());
        }
        let message =
            format!("the anchors and aliases of this file expand to more than {} MiB", MAX_ALIAS_WEIGHT >> 20);
        self.refuse("alias-bomb", message, span, "write out what is needed instead of aliases")
    }

    fn sequence(&mut self, span: Span, depth: usize) -> Result<Value, Unreadable> {
        let mut items = Vec::new();
        if !self.enter(span, depth)? {
            return Ok(Value::Array(items));
        }
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd | Event::StreamEnd) {
                return Ok(Value::Array(items));
            }
            self.positions.enter(None, At::Position(position(span)));
            match self.node(event, span, depth)? {
                Some(item) => {
                    items.push(item);
                    self.positions.leave();
                }
                None => self.positions.forget(),
            }
        }
    }

    fn mapping(&mut self, span: Span, depth: usize) -> Result<Value, Unreadable> {
        let mut map = Map::new();
        if !self.enter(span, depth)? {
            return Ok(Value::Object(map));
        }
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
                    format!("the key `{key}` is already there in this mapping; the first one counts"),
                    key_span,
                    "keep one of the two",
                );
            }
            let (event, span) = self.next()?;
            self.weight += MEMBER_WEIGHT + key.len();
            let Some(value) = self.node(event, span, depth)?.filter(|_| !known) else {
                self.positions.forget();
                continue;
            };
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
                    let weight = NODE_WEIGHT + text.len();
                    self.copy(weight, span)?;
                    let value = Some(Value::String(text.clone()));
                    self.anchors.insert(anchor, Anchored { value, weight, depth: 0 });
                }
                Ok((text, is_merge))
            }
            Event::Alias(id) => match self.alias(id, span, 0)? {
                Some(Value::String(text)) => Ok((text, false)),
                Some(Value::Number(number)) => Ok((number.to_string(), false)),
                Some(Value::Bool(flag)) => Ok((flag.to_string(), false)),
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
                "`<<` merges a mapping or a list of mappings; this one was left out",
                span,
                "name an anchored mapping, as in `<<: *base`",
            ),
        }
    }

    fn scalar(&mut self, text: Cow<'t, str>, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Option<Value> {
        if style == ScalarStyle::Plain && is_not_finite(&text) {
            let message = format!("`{text}` is no JSON value, and was left out");
            self.fault("not-finite", message, span, "quote it where the text is meant, else leave the key out");
            return None;
        }
        let core = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
        let resolved = match (core, style) {
            (Some("str"), _) => None,
            (Some(_), _) | (None, ScalarStyle::Plain) => plain(&text),
            (None, _) => None,
        };
        Some(resolved.unwrap_or_else(|| Value::String(text.into_owned())))
    }

    /// Enters a collection, or steps over one that is nested too deeply and says so by `false`.
    fn enter(&mut self, span: Span, depth: usize) -> Result<bool, Unreadable> {
        if depth <= MAX_DEPTH {
            self.deepest = self.deepest.max(depth);
            return Ok(true);
        }
        self.fault("too-deep", super::too_deep(), span, DEEP_HELP);
        let mut open = 1;
        while open > 0 {
            let anchor = match self.next()?.0 {
                Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                    open += 1;
                    anchor
                }
                Event::Scalar(_, _, anchor, _) => anchor,
                Event::SequenceEnd | Event::MappingEnd => {
                    open -= 1;
                    0
                }
                Event::StreamEnd => break,
                _ => 0,
            };
            if anchor > 0 {
                self.anchors.insert(anchor, Anchored { value: None, weight: 0, depth: 0 });
            }
        }
        Ok(false)
    }

    fn fault(&mut self, code: &'static str, message: impl Into<String>, span: Span, help: &'static str) {
        if self.faults.len() < MAX_FAULTS {
            self.fault_at(code, message, position(span), help);
        } else {
            self.unlisted += 1;
        }
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
