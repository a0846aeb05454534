//! What models really send, put right where the schema leaves no doubt.

use serde_json::{Number, Value};

use super::{push_segment, schema::Schema};
use crate::Member;

/// Removes optional arguments that were given as null though their schema has no null: a client's way of leaving an
/// argument out. Only arguments, never the fields of a body: there null and absent are different things.
pub(super) fn drop_absent(value: &mut Value, schema: Schema<'_>) {
    let Value::Object(members) = value else { return };
    members.retain(|name, value| {
        let Some(property) = schema.property(name) else { return true };
        let types = property.types();
        !value.is_null() || schema.requires(name) || types.is_empty() || types.contains(&"null")
    });
}

/// Fills in the declared defaults of absent arguments, but for those that are left out. A default of null says what being
/// absent means, and is left out as well.
pub(super) fn fill_defaults(value: &mut Value, schema: Schema<'_>, left_out: &[Member]) {
    let Value::Object(members) = value else { return };
    for name in schema.property_names() {
        if members.contains_key(name) || left_out.iter().any(|member| member.argument == name) {
            continue;
        }
        if let Some(default) = schema.property(name).and_then(Schema::default).filter(|default| !default.is_null()) {
            members.insert(name.to_owned(), default.clone());
        }
    }
}

/// The declared defaults of members that an object lacks, those of the parts of an `allOf` among them.
pub(super) fn missing_defaults<'s>(value: Option<&Value>, schema: Schema<'s>) -> Vec<(&'s str, &'s Value)> {
    let Some(Value::Object(members)) = value else { return Vec::new() };
    let of = |part: Schema<'s>| {
        let names = part.property_names().filter(|name| !members.contains_key(*name));
        let told = names.filter_map(move |name| Some((name, part.property(name)?.default()?)));
        told.filter(|(_, default)| !default.is_null()).collect::<Vec<_>>()
    };
    std::iter::once(schema).chain(schema.parts()).flat_map(of).collect()
}

/// What may be read as what it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leniency {
    /// Whatever the schema leaves no doubt about.
    Lossless,
    /// Whole numbers alone that many clients cannot write as numbers: JavaScript rounds what is beyond 2^53 - 1.
    BigIntegers,
}

/// Coerces `value` and everything below it, and says so in `warnings`.
pub(super) fn coerce(
    value: &mut Value,
    schema: Schema<'_>,
    leniency: Leniency,
    pointer: &mut String,
    warnings: &mut Vec<String>,
) {
    let better = coerced(value, schema).filter(|better| leniency == Leniency::Lossless || is_big_integer(better));
    if let Some(better) = better {
        let place = if pointer.is_empty() { "the arguments" } else { pointer.as_str() };
        warnings.push(format!("{place}: text was read as {}", kind(&better)));
        *value = better;
    }
    let length = pointer.len();
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if let Some(property) = schema.member(name) {
                    push_segment(pointer, name);
                    coerce(member, property, leniency, pointer, warnings);
                    pointer.truncate(length);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.items() {
                for (index, item) in items.iter_mut().enumerate() {
                    push_segment(pointer, &index.to_string());
                    coerce(item, schema, leniency, pointer, warnings);
                    pointer.truncate(length);
                }
            }
        }
        _ => {}
    }
}

/// Whether a whole number is beyond those that a double holds each by itself.
fn is_big_integer(value: &Value) -> bool {
    const LARGEST: u64 = (1 << 53) - 1;
    let text = value.as_number().map(Number::to_string).unwrap_or_default();
    let digits = text.trim_start_matches('-');
    let is_whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_whole && digits.parse::<u64>().map_or(true, |number| number > LARGEST)
}

/// How deep branches within branches are looked at: beyond that a schema is read as it stands.
const MOST_BRANCHES_DEEP: usize = 4;

/// More digits than any number of 64-bit floating point has: a longer one is not written out.
const MOST_DIGITS: i64 = 400;

/// Writes whole numbers such as `5.0` and `1e2` as plain integers where the schema asks for an integer. To JSON Schema
/// they are the same (2020-12 core, section 4.2.3); to the parsers behind queries, forms and typed bodies they are not.
pub(super) fn plain_integers(value: &mut Value, schema: Schema<'_>) {
    plain_below(value, schema, MOST_BRANCHES_DEEP);
}

fn plain_below(value: &mut Value, schema: Schema<'_>, branches_deep: usize) {
    match value {
        Value::Number(number) if schema.says_integer() => {
            if let Some(plain) = plain_integer(number) {
                *number = plain;
            }
            return;
        }
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if let Some(property) = schema.member(name) {
                    plain_below(member, property, MOST_BRANCHES_DEEP);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.items() {
                items.iter_mut().for_each(|item| plain_below(item, schema, MOST_BRANCHES_DEEP));
            }
        }
        _ => return,
    }
    if let Some(left) = branches_deep.checked_sub(1).filter(|_| !value.is_number()) {
        schema.branches().for_each(|branch| plain_below(value, branch, left));
    }
}

/// The same number without a fraction or an exponent, digit by digit; `None` where it has neither, is no whole number, or
/// is too long to write out.
fn plain_integer(number: &Number) -> Option<Number> {
    let text = number.to_string();
    let (sign, text) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    if mantissa == text && !text.contains('.') {
        return None;
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let leading = digits.len() - digits.trim_start_matches('0').len();
    let significant = digits.trim_matches('0');
    if significant.is_empty() {
        return Some(Number::from(0));
    }
    // Digits in front of the point, counted from the first that is not zero.
    let point = exponent.checked_add(i64::try_from(whole.len()).ok()? - i64::try_from(leading).ok()?)?;
    let zeros = point - i64::try_from(significant.len()).ok()?;
    let zeros = usize::try_from(zeros).ok().filter(|_| point <= MOST_DIGITS)?;
    serde_json::from_str(&format!("{sign}{significant}{}", "0".repeat(zeros))).ok()
}

/// The value that a text stands for, where the schema allows exactly one other type and no enumeration.
fn coerced(value: &Value, schema: Schema<'_>) -> Option<Value> {
    let Value::String(text) = value else { return None };
    if schema.has_enum() {
        return None;
    }
    let types: Vec<&str> = schema.types().into_iter().filter(|name| *name != "null").collect();
    let [only] = types.as_slice() else { return None };
    let text = text.trim();
    match *only {
        "integer" => integer(text),
        "number" => number(text),
        "boolean" => match text {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        "object" => serde_json::from_str(text).ok().filter(Value::is_object),
        "array" => serde_json::from_str(text).ok().filter(Value::is_array),
        _ => None,
    }
}

/// Keeps every digit: the text becomes a JSON number as it stands.
fn number(text: &str) -> Option<Value> {
    serde_json::from_str::<Number>(text).ok().map(Value::Number)
}

fn integer(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    whole.then(|| number(text)).flatten()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
