//! An argument's value as the texts that a style arranges.

use serde_json::Value;

/// A value seen by a style: nothing, one text, a list of texts or pairs of texts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// Nothing to send: null, an empty array, an empty object.
    Absent,
    /// One text.
    Scalar(String),
    /// The texts of an array.
    List(Vec<String>),
    /// The members of an object, in their order.
    Object(Vec<(String, String)>),
}

/// Accepted values that are written differently on the wire.
pub(crate) type SendAs<'a> = &'a [(&'a str, &'a str)];

impl Shape {
    /// The texts of a value. Null items of arrays and objects have no text (RFC 6570 section 2.3) and are left out; what
    /// lies deeper than a style reaches is written as compact JSON.
    pub(crate) fn of(value: &Value, send_as: SendAs<'_>) -> Self {
        match value {
            Value::Null => Shape::Absent,
            Value::Array(items) => {
                let texts: Vec<String> =
                    items.iter().filter(|item| !item.is_null()).map(|item| text(item, send_as)).collect();
                if texts.is_empty() { Shape::Absent } else { Shape::List(texts) }
            }
            Value::Object(members) => {
                let pairs: Vec<(String, String)> = members
                    .iter()
                    .filter(|(_, member)| !member.is_null())
                    .map(|(name, member)| (name.clone(), text(member, send_as)))
                    .collect();
                if pairs.is_empty() { Shape::Absent } else { Shape::Object(pairs) }
            }
            scalar => Shape::Scalar(text(scalar, send_as)),
        }
    }
}

/// One value as text: strings as they are, numbers digit by digit, the rest as compact JSON.
pub(crate) fn text(value: &Value, send_as: SendAs<'_>) -> String {
    let plain = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match send_as.iter().find(|(accepted, _)| *accepted == plain) {
        Some((_, sent)) => (*sent).to_owned(),
        None => plain,
    }
}
