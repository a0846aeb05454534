//! Checks a call's arguments before any I/O.
//!
//! [`Checker`] holds one tool's compiled schema. It is made once per tool, on first use, and shared by all calls.
//! A check fills in defaults, coerces what the schema leaves no doubt about, and reports every violation at once.

mod coerce;
mod message;
mod schema;
mod shapes;
mod tag;
mod unknown;

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::{Binding, Code, Envelope, Member, ToolError, ToolSpec};
use coerce::Leniency;
use schema::Schema;

/// How many violations a refusal lists at most: an array of thousands of bad items says nothing new after these.
const MOST_VIOLATIONS: usize = 50;

/// How many warnings an answer carries at most, for the same reason.
const MOST_WARNINGS: usize = 50;

/// One violation of the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// The JSON Schema keyword that was violated, such as `required`.
    pub keyword: String,
    /// JSON pointer (RFC 6901) of the value at fault, within the arguments.
    pub pointer: String,
    /// One sentence: what was given and what is allowed.
    pub message: String,
    /// What was given, cut short where it is long.
    pub input: Value,
}

/// Why arguments were refused: every violation at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The violations, in the order of the schema, at most 50.
    pub violations: Vec<Violation>,
}

/// Arguments that may be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// The arguments, with defaults filled in, coerced where the schema leaves no doubt, and whole numbers written as
    /// plain integers where it asks for integers.
    pub arguments: Map<String, Value>,
    /// What was coerced, dropped, or is unknown to the document.
    pub warnings: Vec<String>,
}

/// One tool's compiled schema.
#[derive(Debug)]
pub struct Checker {
    schema: Value,
    validator: jsonschema::Validator,
    lenient: bool,
    /// Members of a body that need not be sent.
    optional: &'static [Member],
    /// Arguments that are a whole JSON body, whose members have their defaults as arguments do.
    bodies: Vec<&'static str>,
}

/// A schema that cannot be compiled: a fault of the generated crate, never of a call.
#[derive(Debug)]
pub struct BadSchema(String);

impl std::fmt::Display for BadSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the input schema cannot be compiled: {}", self.0)
    }
}

impl std::error::Error for BadSchema {}

impl Checker {
    /// Compiles a row's input schema. Calls of a destructive tool are checked strictly: nothing is coerced but the text of a
    /// whole number that clients cannot write as one.
    ///
    /// # Errors
    /// When the schema is not JSON or not JSON Schema 2020-12.
    pub fn new(spec: &ToolSpec) -> Result<Self, BadSchema> {
        let checker = Checker::from_schema(spec.input_schema, spec.risk != crate::Risk::Destructive)?;
        let Binding::Http(http) = &spec.binding else { return Ok(checker) };
        let (optional, bodies) = (http.body.optional_members(), http.body.whole_json().collect());
        Ok(Checker { optional, bodies, ..checker })
    }

    /// Compiles a schema; `lenient` allows lossless coercion.
    ///
    /// # Errors
    /// As [`Checker::new`].
    pub fn from_schema(schema: &str, lenient: bool) -> Result<Self, BadSchema> {
        let schema: Value = serde_json::from_str(schema).map_err(|error| BadSchema(error.to_string()))?;
        let validator = jsonschema::draft202012::new(&schema).map_err(|error| BadSchema(error.to_string()))?;
        Ok(Checker { schema, validator, lenient, optional: &[], bodies: Vec::new() })
    }

    /// The schema that calls are checked against.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Checks the arguments of one call.
    ///
    /// # Errors
    /// Every violation at once, where there is any.
    pub fn check(&self, arguments: Map<String, Value>) -> Result<Accepted, Refusal> {
        let mut value = Value::Object(arguments);
        let mut warnings = Vec::new();
        let root = Schema::root(&self.schema);
        coerce::drop_absent(&mut value, root);
        let leniency = if self.lenient { Leniency::Lossless } else { Leniency::BigIntegers };
        coerce::coerce(&mut value, root, leniency, &mut String::new(), &mut warnings);

        let mut violations: Vec<Violation> = Vec::new();
        for error in self.validator.iter_errors(&value).take(MOST_VIOLATIONS) {
            message::explain(&error, root, &mut violations);
        }
        unknown::find(&value, root, &mut String::new(), &mut violations, &mut warnings);
        violations.truncate(MOST_VIOLATIONS);
        // Only now: a default that stood in for a misspelt argument would hide what was meant.
        // A default alone makes no body where none has to be sent.
        let is_given = |member: &Member| value.get(member.argument).is_some();
        let left_out = if self.optional.iter().any(is_given) { &[] } else { self.optional };
        coerce::fill_defaults(&mut value, root, left_out);
        if violations.is_empty() {
            self.fill_bodies(&mut value, root);
            coerce::plain_integers(&mut value, root);
        }
        cut(&mut warnings);
        match value {
            Value::Object(arguments) if violations.is_empty() => Ok(Accepted { arguments, warnings }),
            _ => Err(Refusal { violations }),
        }
    }

    /// Fills in the defaults of bodies that are one argument, where one is given. A default that the schema itself refuses is
    /// left out.
    fn fill_bodies(&self, value: &mut Value, root: Schema<'_>) {
        for name in &self.bodies {
            let Some(schema) = root.property(name) else { continue };
            for (member, default) in coerce::missing_defaults(value.get(*name), schema) {
                let Some(Value::Object(members)) = value.get_mut(*name) else { break };
                members.insert(member.to_owned(), default.clone());
                if !self.validator.is_valid(value)
                    && let Some(Value::Object(members)) = value.get_mut(*name)
                {
                    members.shift_remove(member);
                }
            }
        }
    }
}

impl Refusal {
    /// The result of a refused call: the violations and the schema that the next try should follow.
    #[must_use]
    pub fn into_envelope(self, tool_name: &str, input_schema: &Value) -> Envelope {
        let first = self.violations.first().map_or("", |violation| violation.message.as_str());
        let more = match self.violations.len() {
            0 | 1 => String::new(),
            count => format!(" ({} more below)", count - 1),
        };
        let sentence =
            format!("The arguments do not match the schema of {tool_name}, and nothing was sent: {first}{more}");
        let mut envelope = Envelope::failure(ToolError::new(Code::InvalidArguments, sentence));
        let violations: Vec<Value> = self.violations.iter().map(Violation::to_json).collect();
        envelope.extra.insert("tool_name".into(), tool_name.into());
        envelope.extra.insert("validation_errors".into(), violations.into());
        envelope.extra.insert("input_schema".into(), input_schema.clone());
        envelope
    }
}

impl Violation {
    fn to_json(&self) -> Value {
        let loc: Vec<Value> = self.pointer.split('/').skip(1).map(|segment| shown(&unescape(segment)).into()).collect();
        json!({"type": self.keyword, "loc": loc, "msg": self.message, "input": self.input})
    }
}

/// RFC 6901 section 4.
fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

/// RFC 6901 section 3.
fn push_segment(pointer: &mut String, segment: &str) {
    pointer.push('/');
    pointer.push_str(&segment.replace('~', "~0").replace('/', "~1"));
}

/// Keeps the first warnings and says how many are left out.
fn cut(warnings: &mut Vec<String>) {
    if let Some(more) = warnings.len().checked_sub(MOST_WARNINGS).filter(|more| *more > 0) {
        warnings.truncate(MOST_WARNINGS);
        warnings.push(format!("{more} more warnings are left out"));
    }
}

/// A name or a place for a message: callers may give names of any length.
fn shown(name: &str) -> Cow<'_, str> {
    const LONGEST: usize = 120;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{}…", name.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(name),
    }
}

/// A copy for a message: long strings and large containers are cut, so that a refusal stays small.
fn excerpt(value: &Value) -> Value {
    const LONGEST: usize = 120;
    match value {
        Value::String(text) if text.chars().count() > LONGEST => {
            let head: String = text.chars().take(LONGEST).collect();
            Value::String(format!("{head}…"))
        }
        Value::Array(items) if items.len() > 8 => Value::String(format!("an array of {} items", items.len())),
        Value::Object(members) if members.len() > 8 => {
            Value::String(format!("an object with {} members", members.len()))
        }
        Value::Array(items) => items.iter().map(excerpt).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (shown(name).into_owned(), excerpt(value))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
