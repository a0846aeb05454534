//! The arguments of a tool file: `name: schema`, with a `?` after the name of what is optional; or one JSON Schema.

use serde_json::Value;

use super::Lowered;
use super::definitions::Definitions;
use crate::diagnostic::{Diagnostic, Severity, Sink};
use crate::load::strict::{Fields, Places, wrong_kind};
use crate::source::child_pointer;

/// Model providers refuse longer names of arguments.
const MAX_NAME: usize = 64;

/// One argument.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::load) struct Input {
    pub(in crate::load) name: String,
    pub(in crate::load) optional: bool,
    pub(in crate::load) schema: Value,
    /// Where the file has it.
    pub(in crate::load) pointer: String,
}

/// All arguments, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Inputs(pub(super) Vec<Input>);

/// Whether a text can name an argument or a setting.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.len() <= MAX_NAME
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

impl Inputs {
    /// Reads `input`. `None` where it cannot be read, which is reported.
    pub(super) fn read(fields: &Fields<'_>, tool: &mut Lowered, places: Places<'_>, sink: &mut Sink) -> Option<Self> {
        let Some(value) = fields.get("input") else { return Some(Self::default()) };
        let Some(members) = value.as_object() else {
            sink.push(wrong_kind("/input", "a mapping of names to schemas", value, places));
            return None;
        };
        let is_schema = members.get("type").is_some_and(Value::is_string) && !members.contains_key("type?");
        let inputs = match is_schema {
            true => whole(fields, places, sink)?,
            false => {
                members.iter().filter(|(key, _)| *key != "$defs").map(|(key, schema)| short(key, schema)).collect()
            }
        };
        let mut inputs = Inputs(inputs);
        let before = sink.count(Severity::Error);
        inputs.check(places, sink);
        let definitions = Definitions::of(Some(value), "/input", "definitions", places, sink);
        definitions.hand_over(tool, places, sink);
        for input in &mut inputs.0 {
            input.schema = definitions.resolved(&input.schema, &tool.name, &input.pointer, places, sink);
        }
        (sink.count(Severity::Error) == before).then_some(inputs)
    }

    fn check(&self, places: Places<'_>, sink: &mut Sink) {
        for (index, input) in self.0.iter().enumerate() {
            let mut report = |code: &'static str, message: String, help: &str| {
                sink.push(Diagnostic::error(code, message).at(places(&input.pointer)).help(help));
            };
            if !is_name(&input.name) {
                let help =
                    "small letters, digits and `_`, first a letter, at most 64 characters; `?` at the end for optional";
                report("argument-name", format!("`{}` is no argument name", input.name.escape_debug()), help);
            } else if self.0.iter().take(index).any(|earlier| earlier.name == input.name) {
                let message = format!("`{}` stands here with and without `?`", input.name);
                report("listed-twice", message, "remove one of the two");
            } else if !input.schema.is_object() && !input.schema.is_boolean() {
                let help = "write a mapping such as `{ type: string, description: What it is. }`";
                report("wrong-value", format!("the schema of `{}` is no mapping", input.name), help);
            }
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Input> {
        self.0.iter().find(|input| input.name == name)
    }

    /// Every argument under its own name.
    pub(super) fn members(&self) -> Vec<(String, Input)> {
        self.0.iter().map(|input| (input.name.clone(), input.clone())).collect()
    }
}

fn short(key: &str, schema: &Value) -> Input {
    let name = key.strip_suffix('?');
    Input {
        name: name.unwrap_or(key).to_owned(),
        optional: name.is_some(),
        schema: schema.clone(),
        pointer: child_pointer("/input", key),
    }
}

/// A JSON Schema of all arguments: a plain object, since nothing else can stand at the root of a tool's input.
fn whole(fields: &Fields<'_>, places: Places<'_>, sink: &mut Sink) -> Option<Vec<Input>> {
    let known = ["type", "properties", "required", "additionalProperties", "description", "$schema", "$defs", "title"];
    let schema = fields.child("input", &known, sink)?;
    let refuse = |key: &str, message: &str, help: &str, sink: &mut Sink| {
        sink.push(Diagnostic::error("input-not-plain", message).at(schema.place(key)).help(help));
    };
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        refuse("type", "arguments are an object", "write `type: object`, or the arguments themselves", sink);
        return None;
    }
    if schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false)) {
        let help = "remove `additionalProperties`; further members can stand in an argument of type object";
        refuse("additionalProperties", "the arguments of a call are closed", help, sink);
    }
    let required = schema.strings("required", sink).unwrap_or_default();
    let inputs: Vec<Input> = schema
        .named("properties", sink)
        .map(|(name, value)| Input {
            name: name.clone(),
            optional: !required.contains(name),
            schema: value.clone(),
            pointer: child_pointer("/input/properties", name),
        })
        .collect();
    for (index, name) in required.iter().enumerate().filter(|(_, name)| !inputs.iter().any(|it| it.name == **name)) {
        let error = Diagnostic::error("unknown-name", format!("`{name}` is required and no property"));
        sink.push(error.at(places(&format!("/input/required/{index}"))).help("declare it under `properties`"));
    }
    Some(inputs)
}
