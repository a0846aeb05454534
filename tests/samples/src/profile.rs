//! Whether a tool's schema in a profile keeps the profile's rules.

use serde_json::Value;
use toolwright_core::{Profile, ToolSpec, arguments::Checker};

use crate::{Extent, arguments, schema};

/// What clients with a strict reading refuse.
const NOT_PLAIN: [&str; 16] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "allOf",
    "const",
    "default",
    "dependentRequired",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "propertyNames",
];

/// What is wrong with the tool's schema in that profile: a keyword that it must not have, or a sample of the full schema
/// that it refuses.
#[must_use]
pub fn profile_faults(spec: &ToolSpec, profile: Profile) -> Vec<String> {
    let Value::Object(full) = schema(spec) else { return vec!["the schema is no object".to_owned()] };
    let written = Value::Object(profile.apply(&full));
    let mut faults = Vec::new();
    if profile != Profile::Standard {
        walk(&written, profile, "", &mut faults);
    }
    match Checker::from_schema(&written.to_string(), false) {
        Err(error) => faults.push(format!("does not compile: {error}")),
        Ok(checker) => {
            for extent in [Extent::Minimal, Extent::Full] {
                let mut sample = Value::Object(arguments(spec, extent));
                if profile == Profile::Plain {
                    drop_nulls(&mut sample);
                }
                let Value::Object(sample) = sample else { continue };
                if let Err(refusal) = checker.check(sample) {
                    faults.push(format!("refuses the {extent:?} sample: {refusal:?}"));
                }
            }
        }
    }
    faults
}

/// A plain schema does not show that null is taken: what may be null may as well be left out.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(drop_nulls);
        }
        _ => {}
    }
}

fn walk(schema: &Value, profile: Profile, at: &str, faults: &mut Vec<String>) {
    let Some(members) = schema.as_object() else { return };
    for (keyword, value) in members {
        let banned = match profile {
            Profile::Standard => false,
            Profile::Inlined => matches!(keyword.as_str(), "$defs" | "$ref"),
            Profile::Plain => NOT_PLAIN.contains(&keyword.as_str()),
        };
        if banned {
            faults.push(format!("{at}/{keyword} is there"));
        }
        if profile == Profile::Plain && (keyword == "type" && value.is_array() || keyword == "enum" && !is_text(value))
        {
            faults.push(format!("{at}/{keyword} is {value}"));
        }
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties", Value::Object(inner)) => {
                inner.iter().for_each(|(name, inner)| walk(inner, profile, &format!("{at}/{keyword}/{name}"), faults));
            }
            ("enum" | "const" | "default" | "required", _) => {}
            (_, Value::Array(inner)) => {
                inner.iter().for_each(|inner| walk(inner, profile, &format!("{at}/{keyword}"), faults));
            }
            (_, inner) => walk(inner, profile, &format!("{at}/{keyword}"), faults),
        }
    }
}

fn is_text(list: &Value) -> bool {
    list.as_array().is_some_and(|values| values.iter().all(Value::is_string))
}
