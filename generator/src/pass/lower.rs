//! Lowers JSON schemas of the document into the model, from the JSON values themselves.

mod fit;
mod reference;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub(super) use self::reference::name_of;
use self::reference::{pointer_of, uri_fragment};
use super::discriminator::Families;
use super::join;
use crate::diagnostic::{Diagnostic, Place, Sink};
use crate::ledger::{Outcome, Part};
use crate::load::strict::shortened;
use crate::load::tool_file::is_of_file;
use crate::load::{Document, did_you_mean, extension};
use crate::model::Model;
use crate::model::operation::Operation;
use crate::model::schema::{Additional, JsonType, Schema};

/// Deeper than any document that people write; nested further, a schema is taken for an attack.
const MAX_DEPTH: usize = 64;

const DEFINITIONS: &str = "/components/schemas/";

/// Keywords that bound a value. They are carried over as they are.
const BOUNDS: [&str; 17] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "contentEncoding",
    "dependentRequired",
];

/// Keywords with one subschema that are carried over as they are.
const APPLIED: [&str; 8] =
    ["not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems"];

/// Words that say nothing about which values match.
const SILENT: [&str; 16] = [
    "title",
    "example",
    "examples",
    "externalDocs",
    "xml",
    "discriminator",
    "deprecated",
    "$comment",
    "$schema",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$defs",
    "definitions",
    "contentSchema",
];

pub(super) fn lower(model: &mut Model, sink: &mut Sink) {
    let mut lowering = Lowering {
        document: &model.loaded.document,
        sink,
        wanted: BTreeMap::new(),
        done: BTreeSet::new(),
        via: Vec::new(),
        anchors: OnceCell::new(),
        told_definitions: false,
    };
    for schema in model.operations.iter_mut().flat_map(Operation::schemas_mut) {
        *schema = lowering.at(&schema.origin, 0);
    }
    let families = Families::of(&model.loaded.document);
    while let Some((name, via)) = lowering.wanted.pop_first() {
        lowering.done.insert(name.clone());
        lowering.via = via;
        let schema = lowering.at(&pointer_of(&name), 0);
        // Nothing refers to the subtypes of a type with a discriminator, which stands for them.
        for subtype in families.subtypes(&name).filter(|subtype| !lowering.done.contains(*subtype)) {
            lowering.wanted.entry(subtype.to_owned()).or_insert_with(|| lowering.via.clone());
        }
        model.types.insert(name, schema);
    }
    definitions(model);
}

/// Records named schemas and their properties; `prune` finds those that nothing refers to.
fn definitions(model: &mut Model) {
    let base = DEFINITIONS.trim_end_matches('/');
    let Some(Value::Object(schemas)) = model.loaded.document.get(base) else { return };
    for (name, schema) in schemas {
        let pointer = join(base, name);
        model.ledger.record(Part::Definition, &pointer, Outcome::Mapped);
        properties_of(schema, &pointer, &mut |pointer| {
            model.ledger.record(Part::Property, pointer, Outcome::Mapped);
        });
    }
}

/// Calls `found` with the pointer of every property inside a schema value.
pub(super) fn properties_of(schema: &Value, pointer: &str, found: &mut dyn FnMut(String)) {
    let Value::Object(keywords) = schema else { return };
    for (keyword, value) in keywords {
        let at = join(pointer, keyword);
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    let at = join(&at, name);
                    properties_of(property, &at, found);
                    found(at);
                }
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(members)) => {
                for (index, member) in members.iter().enumerate() {
                    properties_of(member, &join(&at, &index.to_string()), found);
                }
            }
            ("items" | "additionalProperties" | "not", Value::Object(_)) => properties_of(value, &at, found),
            _ => {}
        }
    }
}

/// What the value of a keyword must be (JSON Schema 2020-12).
fn wanted(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => "a number",
        "multipleOf" => "a number above 0",
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minContains" | "maxContains" | "minProperties"
        | "maxProperties" => "a whole number, 0 or more",
        "pattern" => "a regular expression",
        "uniqueItems" | "readOnly" | "writeOnly" => "true or false",
        "$ref" | "$recursiveRef" | "$dynamicRef" | "description" | "format" | "contentEncoding"
        | "contentMediaType" => "a text",
        "enum" | "required" | "prefixItems" | "allOf" | "anyOf" | "oneOf" => "a list",
        "properties" | "patternProperties" | "dependentRequired" => "a mapping",
        "items" | "additionalProperties" => "a schema",
        applied if APPLIED.contains(&applied) => "a schema",
        _ => return None,
    })
}

/// Whether a bound has a value that validators take.
fn fits(bound: &str, value: &Value) -> bool {
    match wanted(bound) {
        Some("a number") => value.is_number(),
        Some("a number above 0") => value.as_f64().is_some_and(|number| number > 0.0),
        Some("a whole number, 0 or more") => {
            value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
        }
        Some("a regular expression") => value.as_str().is_some_and(is_pattern),
        Some("true or false") => value.is_boolean(),
        Some("a mapping") => value.is_object(),
        _ => value.is_string(),
    }
}

/// Whether the validator of the runtime compiles a pattern: the same two crates decide there.
fn is_pattern(pattern: &str) -> bool {
    jsonschema_regex::to_rust_regex(pattern).is_ok_and(|pattern| fancy_regex::Regex::new(&pattern).is_ok())
}

fn near_type(word: &str) -> Option<String> {
    let names = ["array", "boolean", "integer", "null", "number", "object", "string"];
    did_you_mean(&word.to_lowercase(), names)
}

fn near_keyword(word: &str) -> Option<String> {
    let more = ["$ref", "type", "description", "format", "enum", "const", "default", "readOnly", "required"];
    let rest = ["properties", "patternProperties", "additionalProperties", "items", "prefixItems"];
    let combined = ["allOf", "anyOf", "oneOf"];
    did_you_mean(word, more.into_iter().chain(rest).chain(combined).chain(BOUNDS).chain(APPLIED))
}

struct Lowering<'l> {
    document: &'l Document,
    sink: &'l mut Sink,
    /// Types that something refers to and that are not lowered yet, with the references that led there first.
    wanted: BTreeMap<String, Vec<String>>,
    done: BTreeSet<String>,
    /// The references that led to the type that is being lowered, outermost first.
    via: Vec<String>,
    /// Pointers of the schemas that have a name of their own, found when the first of them is asked for.
    anchors: OnceCell<BTreeMap<&'l str, Vec<String>>>,
    /// Whether a reference in the form of Swagger 2.0 was told.
    told_definitions: bool,
}

impl Lowering<'_> {
    /// Lowers the node at a pointer; nothing there means any value.
    fn at(&mut self, pointer: &str, depth: usize) -> Schema {
        match self.document.get(pointer) {
            None => Schema::unread(pointer),
            Some(_) if depth > MAX_DEPTH => {
                self.warn(
                    "nested-too-deep",
                    pointer,
                    "this schema nests too deep and was read as any value".to_owned(),
                    format!("move its inner schemas to `components.schemas`; {MAX_DEPTH} levels are read"),
                );
                Schema::unread(pointer)
            }
            Some(Value::Bool(allowed)) => Schema { never: !allowed, ..Schema::unread(pointer) },
            Some(Value::Object(keywords)) => {
                let mut schema = Schema::unread(pointer);
                for (keyword, value) in keywords {
                    self.keyword(&mut schema, keyword, value, depth);
                }
                for change in fit::fit(&mut schema) {
                    let at = join(pointer, change.keyword);
                    self.warn(change.code, &at, change.message, change.help.to_owned());
                }
                self.described_fields(&mut schema);
                schema
            }
            Some(_) => {
                self.warn(
                    "bad-schema",
                    pointer,
                    "a schema is an object or a boolean; this was read as any value".to_owned(),
                    "write a mapping such as `{type: string}`".to_owned(),
                );
                Schema::unread(pointer)
            }
        }
    }

    fn keyword(&mut self, schema: &mut Schema, keyword: &str, value: &Value, depth: usize) {
        let pointer = join(&schema.origin, keyword);
        match (keyword, value) {
            // Which of several dynamic anchors is meant depends on where a check began; the nearest is what people write.
            ("$ref" | "$dynamicRef", Value::String(reference)) => self.reference(schema, reference, &pointer),
            ("$recursiveRef", Value::String(reference)) if reference == "#" => {
                let target = self.recursive_anchor(&schema.origin);
                self.reference(schema, &format!("#{}", uri_fragment(&target)), &pointer);
            }
            ("type", value) => self.types(schema, value, &pointer),
            ("description", Value::String(text)) => schema.description = Some(text.clone()),
            ("format", Value::String(format)) => schema.format = Some(format.clone()),
            ("enum", Value::Array(values)) => schema.enumeration.clone_from(values),
            ("const", value) => schema.constant = Some(value.clone()),
            ("default", value) => schema.default = Some(value.clone()),
            ("readOnly", Value::Bool(read_only)) => schema.read_only = *read_only,
            ("writeOnly", Value::Bool(write_only)) => schema.write_only = *write_only,
            ("contentMediaType", Value::String(media_type)) => schema.media_type = Some(media_type.clone()),
            ("required", Value::Array(names)) => {
                schema.required = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            }
            ("properties", Value::Object(properties)) => {
                let lower = |name: &String| (name.clone(), self.at(&join(&pointer, name), depth + 1));
                schema.properties = properties.keys().map(lower).collect();
            }
            ("patternProperties", Value::Object(patterns)) => {
                let lower = |name: &String| (name.clone(), self.at(&join(&pointer, name), depth + 1));
                schema.patterns = patterns.keys().map(lower).collect();
            }
            ("additionalProperties", Value::Bool(false)) => schema.additional = Additional::Closed,
            ("additionalProperties", Value::Bool(true)) => schema.says_open = true,
            ("additionalProperties", Value::Object(_)) => {
                let of = self.at(&pointer, depth + 1);
                match of.is_any() {
                    true => schema.says_open = true,
                    false => schema.additional = Additional::Of(Box::new(of)),
                }
            }
            ("items", Value::Object(_) | Value::Bool(_)) => schema.items = Some(Box::new(self.at(&pointer, depth + 1))),
            ("prefixItems", Value::Array(items)) => schema.prefix_items = self.members(items.len(), &pointer, depth),
            ("allOf", Value::Array(items)) => schema.all_of = self.members(items.len(), &pointer, depth),
            ("anyOf", Value::Array(items)) => schema.any_of = self.members(items.len(), &pointer, depth),
            ("oneOf", Value::Array(items)) => schema.one_of = self.members(items.len(), &pointer, depth),
            (applied, Value::Object(_) | Value::Bool(_)) if APPLIED.contains(&applied) => {
                let lowered = self.at(&pointer, depth + 1);
                schema.applied.insert(applied.to_owned(), lowered);
            }
            (bound, value) if BOUNDS.contains(&bound) && fits(bound, value) => {
                schema.bounds.insert(bound.to_owned(), value.clone());
            }
            (silent, _) if SILENT.contains(&silent) || silent.starts_with("x-") => {}
            (known, value) if wanted(known).is_some() => {
                let what = wanted(known).unwrap_or_default();
                let given = shortened(&value.to_string());
                let message = format!("`{known}` must be {what}, not {given}, and was left out of the schema");
                let help = format!("correct it in an overlay, or remove `{known}` there");
                self.warn("bad-keyword", &pointer, message, help);
            }
            _ => {
                let message = format!("`{keyword}` is no keyword of JSON Schema and was left out of the schema");
                let help = near_keyword(keyword)
                    .unwrap_or_else(|| "remove it in an overlay; keys of one's own begin with `x-`".to_owned());
                self.warn("unknown-keyword", &pointer, message, help);
            }
        }
    }

    fn members(&mut self, count: usize, pointer: &str, depth: usize) -> Vec<Schema> {
        (0..count).map(|index| self.at(&format!("{pointer}/{index}"), depth + 1)).collect()
    }

    fn types(&mut self, schema: &mut Schema, value: &Value, pointer: &str) {
        let names: Vec<&Value> = match value {
            Value::Array(names) => names.iter().collect(),
            single => vec![single],
        };
        for name in names {
            match name.as_str().and_then(JsonType::parse) {
                Some(kind) if schema.types.contains(&kind) => {}
                Some(kind) => schema.types.push(kind),
                None => {
                    let help = name.as_str().and_then(near_type).unwrap_or_else(|| {
                        "the types are: array, boolean, integer, null, number, object, string".to_owned()
                    });
                    self.warn("unknown-type", pointer, format!("{name} is not a JSON type and was left out"), help);
                }
            }
        }
    }

    /// Descriptions that an overlay gives for the properties of this schema.
    fn described_fields(&mut self, schema: &mut Schema) {
        for (field, text) in extension::schema(self.document, &schema.origin).fields {
            if let Some(property) = schema.properties.get_mut(&field) {
                property.description = Some(text);
            }
        }
    }

    /// Where a node is, and through which references it was found.
    fn place(&self, pointer: &str) -> Place {
        self.via.iter().fold(self.document.place(pointer), Place::through)
    }

    /// What a document has wrong costs a part of its schema. In a file of ours it is for its author to correct.
    fn warn(&mut self, code: &'static str, pointer: &str, message: String, help: String) {
        let is_ours = is_of_file(pointer);
        let finding = match message.split_once(" and was ").filter(|_| is_ours) {
            // Nothing is made of a file with an error, so that nothing was left out either.
            Some((what, _)) => Diagnostic::error(code, what),
            None if is_ours => Diagnostic::error(code, message),
            None => Diagnostic::warning(code, message),
        };
        let help = if is_ours { help.replace(" in an overlay", "") } else { help };
        self.sink.push(finding.at(self.place(pointer)).help(help));
    }
}
