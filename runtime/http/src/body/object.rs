//! A JSON object, each of whose members is an argument.

use bytes::Bytes;
use serde_json::{Map, Value};
use toolwright_core::{Member, ToolError};

use crate::plan::PlannedBody;

/// The object of the members that are given, digit by digit as they are; null is a value. Without any, a required body is
/// `{}` and an optional one is not sent.
///
/// # Errors
/// `invalid_arguments` where an optional body is given, and a member of it is missing that it cannot be sent without.
pub(crate) fn plan(
    media_type: &str,
    required: bool,
    members: &[Member],
    arguments: &Map<String, Value>,
) -> Result<PlannedBody, ToolError> {
    let given = members.iter().filter_map(|member| Some((member.wire.to_owned(), arguments.get(member.argument)?)));
    let object: Map<String, Value> = given.map(|(wire, value)| (wire, value.clone())).collect();
    if object.is_empty() && !required {
        return Ok(PlannedBody::None);
    }
    let missing = members.iter().filter(|member| member.required && !arguments.contains_key(member.argument));
    let missing: Vec<String> = missing.map(|member| format!("`{}`", member.argument)).collect();
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        let message = format!("{} {verb} required where any member of the body is given", missing.join(", "));
        return Err(ToolError::invalid(message));
    }
    let bytes = Bytes::from(Value::Object(object).to_string());
    Ok(PlannedBody::Bytes { media_type: media_type.to_owned(), bytes })
}
