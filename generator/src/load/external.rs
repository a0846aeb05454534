//! References to other files: what they name is brought into the document, so that everything after
//! this knows one file. A referenced node becomes a component of the document, once, however often it is
//! referred to; path items and components that are nothing but a reference take its place.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::anchors::anchors;
use super::document::Dialect;
use super::files::{Files, join};
use super::origin::Origins;
use super::strict::did_you_mean;
use super::walk::{for_each_node, for_each_node_below};
use crate::diagnostic::{Diagnostic, Severity, Sink};
use crate::source::{Source, child_pointer, decoded, pointer_tokens};

/// More nodes than this are brought in by no honest document.
const MAX_BROUGHT_IN: usize = 10_000;
/// Nodes and their inner nodes that are brought in, counted as often as they are: path items are copied to each place.
const MAX_COPIED: usize = 1_000_000;
/// References to references are followed this far.
const MAX_HOPS: usize = 32;

/// A node of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    file: String,
    pointer: String,
}

impl Target {
    fn reference(&self) -> String {
        format!("{}#{}", self.file, self.pointer)
    }
}

/// A file that was referred to.
struct Opened {
    value: Value,
    /// Pointers of its anchors, by name.
    anchors: BTreeMap<String, String>,
    /// Its number among the sources.
    number: usize,
}

struct Bundle<'a> {
    files: &'a Files,
    root_file: String,
    dialect: Dialect,
    origins: &'a mut Origins,
    sink: &'a mut Sink,
    /// `None` for a file that cannot be read, which was reported when it was opened.
    opened: BTreeMap<String, Option<Opened>>,
    /// Where each target now stands in the document.
    placed: BTreeMap<Target, String>,
    /// Pointers of the document below which references are relative to another file.
    bases: BTreeMap<String, String>,
    /// Components that are still to be put into the document.
    waiting: Vec<(String, Value)>,
    taken: BTreeSet<String>,
    /// The last number that was appended to a name, by the place that had it first.
    numbers: BTreeMap<String, usize>,
    /// Values that were copied out of files.
    copied: usize,
    /// References that stay as they are, and of which it was reported why.
    unread: BTreeSet<String>,
}

/// Brings in everything that references to other files name. What cannot be is reported where the
/// reference stands; these references, as the document then has them, are given back.
pub(super) fn bundle(
    document: &mut Value,
    label: &str,
    files: &Files,
    dialect: Dialect,
    origins: &mut Origins,
    sink: &mut Sink,
) -> BTreeSet<String> {
    let mut bundle = Bundle {
        files,
        root_file: label.to_owned(),
        dialect,
        origins,
        sink,
        opened: BTreeMap::new(),
        placed: BTreeMap::new(),
        bases: BTreeMap::new(),
        waiting: Vec::new(),
        taken: component_pointers(document, dialect),
        numbers: BTreeMap::new(),
        copied: 0,
        unread: BTreeSet::new(),
    };
    bundle.claim_components(document);
    for_each_node(document, &mut |node, pointer| bundle.visit(node, pointer));
    while let Some((pointer, mut value)) = bundle.waiting.pop() {
        for_each_node_below(&mut value, &pointer, &mut |node, pointer| bundle.visit(node, pointer));
        insert(document, &pointer, value);
    }
    bundle.origins.publish();
    bundle.unread
}

/// The sections of reusable nodes of a dialect, as pointers.
fn section(dialect: Dialect, kind: &str) -> Option<String> {
    match (dialect, kind) {
        (Dialect::Swagger2, "schemas") => Some("/definitions".into()),
        (Dialect::Swagger2, "parameters" | "responses") => Some(format!("/{kind}")),
        (Dialect::Swagger2, _) => None,
        _ => Some(format!("/components/{kind}")),
    }
}

const KINDS: &[&str] =
    &["schemas", "parameters", "responses", "headers", "requestBodies", "examples", "links", "callbacks"];

fn component_pointers(document: &Value, dialect: Dialect) -> BTreeSet<String> {
    let sections = KINDS.iter().filter_map(|kind| section(dialect, kind));
    sections
        .flat_map(|section| {
            let members = document.pointer(&section).and_then(Value::as_object);
            let names = members.into_iter().flat_map(|members| members.keys());
            names.map(|name| child_pointer(&section, name)).collect::<Vec<_>>()
        })
        .collect()
}

fn insert(document: &mut Value, pointer: &str, value: Value) {
    let mut node = document;
    for token in pointer_tokens(pointer) {
        if !node.is_object() {
            *node = json!({});
        }
        let Some(members) = node.as_object_mut() else {
            return;
        };
        node = members.entry(token).or_insert(Value::Null);
    }
    *node = value;
}

impl Bundle<'_> {
    /// Components that are nothing but a reference to another file are the place of what they name.
    fn claim_components(&mut self, document: &Value) {
        for pointer in self.taken.clone() {
            let reference = document.pointer(&pointer).and_then(only_reference);
            if let Some(target) = reference.and_then(|reference| self.target(reference, &pointer))
                && target.file != self.root_file
            {
                self.placed.entry(target).or_insert(pointer);
            }
        }
    }

    fn visit(&mut self, node: &mut Value, pointer: &str) {
        self.mapping(node, pointer);
        self.node(node, pointer);
    }

    /// Rewrites what a discriminator maps to, as references are; names of schemas stay names.
    fn mapping(&mut self, node: &mut Value, pointer: &str) {
        for (value, to) in mapping_of(node, pointer).into_iter().flatten() {
            let Some(reference) = to.as_str().filter(|to| is_mapped_reference(to)).map(str::to_owned) else { continue };
            let is_here = reference.starts_with('#') && self.base(pointer) == self.root_file;
            if is_here || self.taken.contains(&child_pointer("/components/schemas", &reference)) {
                continue;
            }
            let at = child_pointer(&child_pointer(pointer, "mapping"), value);
            *to = self.mapped(&reference, &at).into();
        }
    }

    /// The reference that takes the place of one in a mapping.
    fn mapped(&mut self, reference: &str, pointer: &str) -> String {
        let Some(target) = self.target(reference, pointer) else {
            self.refuse(reference, pointer);
            self.unread.insert(reference.to_owned());
            return reference.to_owned();
        };
        let place = self.place_of(target.clone(), reference, pointer);
        place.map_or_else(|| self.left(&target), |place| format!("#{place}"))
    }

    /// Rewrites the reference of a node. What takes its place may be a reference itself.
    fn node(&mut self, node: &mut Value, pointer: &str) {
        for _ in 0..MAX_HOPS {
            let Some(reference) = node.get("$ref").and_then(Value::as_str) else {
                return;
            };
            let reference = reference.to_owned();
            if reference.starts_with('#') && !is_path_item(pointer) && self.base(pointer) == self.root_file {
                return;
            }
            let Some(target) = self.target(&reference, pointer) else {
                self.refuse(&reference, pointer);
                self.unread.insert(reference);
                return;
            };
            if !self.takes_its_place(&target, pointer) {
                let place = self.place_of(target.clone(), &reference, pointer);
                // Without the name of its file it might lead to a node of the document.
                let reference = place.map_or_else(|| self.left(&target), |place| format!("#{place}"));
                return set_reference(node, reference);
            }
            let Some(content) = self.content(&target, pointer, &reference, pointer) else {
                let reference = self.left(&target);
                return set_reference(node, reference);
            };
            *node = content;
            self.bases.insert(pointer.to_owned(), target.file);
        }
        let help = "break the circle: one of these nodes must hold content instead of a `$ref`";
        self.report("reference-loop", "the references lead in a circle".into(), pointer, help.to_owned());
        let reference = node.get("$ref").and_then(Value::as_str);
        self.unread.extend(reference.map(str::to_owned));
    }

    /// The reference to a target that could not be brought in.
    fn left(&mut self, target: &Target) -> String {
        let reference = target.reference();
        self.unread.insert(reference.clone());
        reference
    }

    /// Whether a reference is replaced by what it names: path items have no components, and a component
    /// that is a reference was claimed.
    fn takes_its_place(&self, target: &Target, pointer: &str) -> bool {
        is_path_item(pointer) || self.placed.get(target).is_some_and(|place| place == pointer)
    }

    /// The file that references below a pointer are relative to.
    fn base(&self, pointer: &str) -> &str {
        let mut prefix = pointer;
        loop {
            if let Some(file) = self.bases.get(prefix) {
                return file;
            }
            match prefix.rsplit_once('/') {
                Some((parent, _)) => prefix = parent,
                None => return &self.root_file,
            }
        }
    }

    fn target(&self, reference: &str, pointer: &str) -> Option<Target> {
        let (name, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = self.base(pointer);
        let file = if name.is_empty() { base.to_owned() } else { relative_file(base, name)? };
        Some(Target { file, pointer: percent_decoded(fragment) })
    }

    /// Where a target stands in the document, after making a place for it.
    fn place_of(&mut self, target: Target, reference: &str, pointer: &str) -> Option<String> {
        if target.file == self.root_file {
            return Some(target.pointer);
        }
        if let Some(place) = self.placed.get(&target) {
            return Some(place.clone());
        }
        let Some(section) = section(self.dialect, kind_at(pointer)) else {
            self.refuse(reference, pointer);
            return None;
        };
        if self.placed.len() >= MAX_BROUGHT_IN {
            self.too_many(pointer);
            return None;
        }
        let place = self.free_place(&section, &name_of(&target));
        self.placed.insert(target.clone(), place.clone());
        self.taken.insert(place.clone());
        self.bases.insert(place.clone(), target.file.clone());
        let Some(content) = self.content(&target, &place, reference, pointer) else {
            self.placed.remove(&target);
            return None;
        };
        self.waiting.push((place.clone(), content));
        Some(place)
    }

    fn free_place(&mut self, section: &str, name: &str) -> String {
        let first = child_pointer(section, name);
        if !self.taken.contains(&first) {
            return first;
        }
        let last = self.numbers.entry(first.clone()).or_insert(1);
        let mut free = (*last + 1..).map(|number| (number, child_pointer(section, &format!("{name}_{number}"))));
        let found = free.find(|(_, place)| !self.taken.contains(place));
        let (number, place) = found.unwrap_or((*last, first));
        *last = number;
        place
    }

    /// The node that a target names, which will stand at `place`; `pointer` is where it is referred to.
    fn content(&mut self, target: &Target, place: &str, reference: &str, pointer: &str) -> Option<Value> {
        if !self.opened.contains_key(&target.file) {
            let opened = self.open(&target.file, reference, pointer);
            self.opened.insert(target.file.clone(), opened);
        }
        let opened = self.opened.get(&target.file)?.as_ref()?;
        let at = opened.anchors.get(&target.pointer).unwrap_or(&target.pointer);
        let Some(content) = opened.value.pointer(at) else {
            let message = format!("`{reference}`: there is nothing at {} of {}", target.pointer, target.file);
            let help = "point it at a node of that file, such as `#/components/schemas/Name` after the file's name";
            self.report("dangling-reference", message, pointer, help.to_owned());
            return None;
        };
        self.copied += count(content);
        if self.copied <= MAX_COPIED {
            self.origins.written(place, opened.number, at);
            return Some(content.clone());
        }
        self.too_many(pointer);
        None
    }

    fn open(&mut self, file: &str, reference: &str, pointer: &str) -> Option<Opened> {
        let Some(bytes) = self.files.get(file) else {
            if is_remote(file) {
                self.not_fetched(file, reference, pointer);
                return None;
            }
            let near = did_you_mean(file, self.files.paths());
            let help = near.unwrap_or_else(|| "the path is relative to the file that refers to it".to_owned());
            self.report("missing-file", format!("`{reference}`: there is no file {file}"), pointer, help);
            return None;
        };
        // What is wrong with that file costs what refers to it, and no more.
        let mut found = Sink::new();
        let source = Source::from_bytes(file, bytes, &mut found).map(Arc::new);
        let value = source.as_ref().and_then(|source| source.read_published(&mut found));
        found.iter().for_each(|fault| self.sink.push(Diagnostic { severity: Severity::Warning, ..fault.clone() }));
        let value = value?;
        let first = |(name, found): (&str, Vec<String>)| Some((name.to_owned(), found.into_iter().next()?));
        let anchors = anchors(&value).into_iter().filter_map(first).collect();
        Some(Opened { value, anchors, number: self.origins.add(source?) })
    }

    /// What stands at another address, where nobody fetched it or somebody tried to.
    fn not_fetched(&mut self, file: &str, reference: &str, pointer: &str) {
        let Some(why) = self.files.why_missing(file) else { return self.refuse(reference, pointer) };
        let message = format!("`{reference}` was not brought in: {why}");
        let help =
            "correct the address or try again, or copy the file below the document's folder and refer to it there";
        self.report("external-reference", message, pointer, help.to_owned());
    }

    fn refuse(&mut self, reference: &str, pointer: &str) {
        if split_url(reference).is_some_and(|(origin, _)| has_credentials(origin)) {
            // The address stays out of the message, which may end up in a log.
            let message = "a reference holds a user's name or password in its address, and is not read".to_owned();
            let help = "take them out of the document: what is read is recorded with its address";
            return self.report("reference-with-credentials", message, pointer, help.to_owned());
        }
        let message = format!("`{reference}` leads outside of what is read");
        let help = "only files below the document's folder are read: copy the file there, or fetch what stands at other \
                    addresses once, with `--remote-references` of `new` and `import`";
        self.report("external-reference", message, pointer, help.to_owned());
    }

    /// A document that asks for so much is taken for an attack, and is read no further.
    fn too_many(&mut self, pointer: &str) {
        let message = "the references bring in too many nodes";
        let help = format!(
            "{MAX_BROUGHT_IN} nodes of other files, and {MAX_COPIED} values in them, are brought in; bundle the document into one file"
        );
        let place = self.origins.place(&format!("{pointer}/$ref"));
        self.sink.push(Diagnostic::error("too-many-references", message).at(place).help(help));
    }

    fn report(&mut self, code: &'static str, message: String, pointer: &str, help: String) {
        let place = self.origins.place(&format!("{pointer}/$ref"));
        self.sink.push(Diagnostic::warning(code, message).at(place).help(help));
    }
}

/// How many values a value holds, with itself.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

fn is_path_item(pointer: &str) -> bool {
    pointer.starts_with("/paths/") && pointer_tokens(pointer).count() == 2
}

/// The reference of a node that is nothing else.
fn only_reference(node: &Value) -> Option<&str> {
    let members = node.as_object().filter(|members| members.len() == 1)?;
    members.get("$ref")?.as_str()
}

/// What the values of a discriminator stand for, where a node is one.
fn mapping_of<'n>(node: &'n mut Value, pointer: &str) -> Option<&'n mut Map<String, Value>> {
    if !pointer.ends_with("/discriminator") {
        return None;
    }
    node.get_mut("mapping")?.as_object_mut()
}

/// Whether a value of a mapping is a reference; names of schemas hold neither `/` nor `#`.
fn is_mapped_reference(to: &str) -> bool {
    to.contains(['/', '#']) || [".yaml", ".yml", ".json"].iter().any(|ending| to.ends_with(ending))
}

fn set_reference(node: &mut Value, reference: String) {
    if let Some(members) = node.as_object_mut() {
        members.insert("$ref".into(), reference.into());
    }
}

/// The file that `name` means in `base`: a path from the root, or an http(s) URL; `None` for what lies above the root,
/// and for a URL with credentials, which would be recorded.
fn relative_file(base: &str, name: &str) -> Option<String> {
    if let Some((origin, path)) = split_url(name) {
        // Scheme and host have no case (RFC 3986 section 6.2.2.1).
        let origin = origin.to_ascii_lowercase();
        let is_read = !has_credentials(&origin) && !origin.ends_with('/');
        return if is_read { Some(format!("{origin}/{}", join("", path)?)) } else { None };
    }
    if name.contains("://") {
        return None;
    }
    if let Some((origin, path)) = split_url(base) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = if name.starts_with('/') { "" } else { folder };
        return Some(format!("{origin}/{}", join(folder, name)?));
    }
    if name.starts_with('/') {
        return None;
    }
    let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    join(folder, &percent_decoded(name))
}

/// Scheme and host of an http(s) URL, and its path.
fn split_url(url: &str) -> Option<(&str, &str)> {
    let starts_with = |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let host_at = ["https://", "http://"].into_iter().find(|scheme| starts_with(scheme))?.len();
    let path_at = url.get(host_at..)?.find('/').map_or(url.len(), |at| host_at + at);
    Some((url.get(..path_at)?, url.get(path_at..)?))
}

/// Whether scheme and host of a URL come with a user's name or password (RFC 3986 section 3.2.1).
fn has_credentials(origin: &str) -> bool {
    origin.contains('@')
}

/// Whether a name among the files is the URL of one that was fetched from elsewhere.
#[must_use]
pub fn is_remote(name: &str) -> bool {
    split_url(name).is_some()
}

/// Which components a node at this pointer can refer to.
fn kind_at(pointer: &str) -> &'static str {
    let tokens: Vec<String> = pointer_tokens(pointer).collect();
    let from_end = |back: usize| tokens.len().checked_sub(back).and_then(|at| tokens.get(at));
    let last = from_end(1).map(String::as_str).unwrap_or_default();
    let parent = from_end(2).map(String::as_str).unwrap_or_default();
    if last == "requestBody" {
        return "requestBodies";
    }
    // A property may be named like a section, so its parent decides first.
    if from_end(3).is_some_and(|token| token == "properties") {
        return "schemas";
    }
    KINDS.iter().find(|kind| **kind == parent).copied().unwrap_or("schemas")
}

/// A component name for a target: its last token, else the file's name.
fn name_of(target: &Target) -> String {
    let file = target.file.rsplit('/').next().unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default().to_owned();
    let name = pointer_tokens(&target.pointer).last().unwrap_or(stem);
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

/// `%7B` and the like (RFC 3986 section 2.1); what is not such an escape stays.
pub(crate) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = tail
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The files that a file refers to, by path from the root. For collecting them before a document is read.
#[must_use]
pub fn referenced_files(label: &str, bytes: &[u8]) -> Vec<String> {
    if !may_refer_to_files(bytes) {
        return Vec::new();
    }
    let mut sink = Sink::new();
    let source = Source::from_bytes(label, bytes, &mut sink);
    let Some(mut value) = source.and_then(|source| source.read_published(&mut sink)) else {
        return Vec::new();
    };
    let mut found = BTreeSet::new();
    for_each_node(&mut value, &mut |node, pointer| {
        let mapped = mapping_of(node, pointer).into_iter().flat_map(|mapping| mapping.values());
        let mapped = mapped.filter_map(Value::as_str).filter(|to| is_mapped_reference(to));
        let mut references: Vec<String> = mapped.map(str::to_owned).collect();
        references.extend(node.get("$ref").and_then(Value::as_str).map(str::to_owned));
        let names = references.iter().filter_map(|reference| reference.split('#').next());
        found.extend(names.filter(|name| !name.is_empty()).filter_map(|name| relative_file(label, name)));
    });
    found.into_iter().collect()
}

/// Whether a text may hold a reference to a file. In most none does, and reading those only to see that costs as much as
/// everything that follows. Each `$ref` is followed by a quoted `#` there; an escaped `$` is looked at properly, and so is
/// the mapping of a discriminator.
fn may_refer_to_files(bytes: &[u8]) -> bool {
    let Some(text) = decoded(bytes) else { return false };
    let is_internal = |behind: &str| {
        let value = behind.trim_start_matches(['"', '\'']).trim_start().strip_prefix(':').map(str::trim_start);
        value.is_some_and(|value| value.starts_with("'#") || value.starts_with("\"#"))
    };
    ["\\u0024", "\\x24", "\\U00000024"].iter().any(|dollar| text.contains(dollar))
        || text.split("$ref").skip(1).any(|behind| !is_internal(behind))
        || (text.contains("discriminator") && text.contains("mapping"))
}

/// Whether a value refers to other files, or has path items that are references.
pub(super) fn is_needed(document: &mut Value) -> bool {
    let mut needed = false;
    for_each_node(document, &mut |node, pointer| {
        let mut mapped = mapping_of(node, pointer).into_iter().flat_map(|mapping| mapping.values());
        needed |= mapped.any(|to| to.as_str().is_some_and(|to| !to.starts_with('#') && is_mapped_reference(to)));
        let members: Option<&Map<String, Value>> = node.as_object();
        let reference = members.and_then(|members| members.get("$ref")?.as_str());
        needed |= reference.is_some_and(|reference| !reference.starts_with('#') || is_path_item(pointer));
    });
    needed
}

#[cfg(test)]
mod tests;
