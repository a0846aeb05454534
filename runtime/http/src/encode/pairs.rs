//! Names and values of query strings, cookies and form bodies (OpenAPI 3.1 section 4.8.12.3 and its style table).

use serde_json::Value;
use toolwright_core::Style;

use super::{
    percent,
    shape::{SendAs, Shape, text},
};

/// Whether names and values are percent-encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// As in a query string.
    Percent,
    /// As in a query string, values with the reserved characters that may stay.
    Reserved,
    /// As in a multipart body, where bytes need no escape.
    None,
}

impl Escape {
    /// As `self`, or with reserved characters where percent-encoding leaves a choice.
    pub(crate) fn allowing(self, reserved: bool) -> Self {
        if reserved && self == Escape::Percent { Escape::Reserved } else { self }
    }

    fn name(self, text: &str) -> String {
        match self {
            Escape::Percent | Escape::Reserved => percent::value(text),
            Escape::None => text.to_owned(),
        }
    }

    fn value(self, text: &str) -> String {
        match self {
            Escape::Reserved => percent::reserved(text),
            _ => self.name(text),
        }
    }

    /// One of several values that a separator joins.
    fn item(self, text: &str) -> String {
        match self {
            Escape::Reserved => percent::reserved(text).replace(',', "%2C"),
            _ => self.name(text),
        }
    }

    /// The separator of a style. The comma stays bare, so that it differs from a comma inside a value.
    fn separator(self, style: Style) -> &'static str {
        match (style, self) {
            (Style::Spaces, Escape::None) => " ",
            (Style::Spaces, _) => "%20",
            (Style::Pipes, Escape::None) => "|",
            (Style::Pipes, _) => "%7C",
            (Style::Tabs, Escape::None) => "\t",
            (Style::Tabs, _) => "%09",
            _ => ",",
        }
    }
}

/// The pairs that one value becomes; none where there is nothing to send.
pub(crate) fn pairs(
    wire: &str,
    value: &Value,
    style: Style,
    explode: bool,
    send_as: SendAs<'_>,
    escape: Escape,
) -> Vec<(String, String)> {
    match style {
        Style::Json if value.is_null() => Vec::new(),
        Style::Json => vec![(escape.name(wire), escape.value(&value.to_string()))],
        Style::Deep => deep(wire, value, send_as, escape),
        // No style says how objects are joined; a comma inside one would end it. What takes them reads JSON.
        _ if !explode && holds_nested(value) => vec![(escape.name(wire), escape.value(&value.to_string()))],
        _ => flat(wire, Shape::of(value, send_as), style, explode, escape),
    }
}

fn holds_nested(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().any(|item| item.is_object() || item.is_array()))
}

fn flat(wire: &str, shape: Shape, style: Style, explode: bool, escape: Escape) -> Vec<(String, String)> {
    let name = escape.name(wire);
    let separator = escape.separator(style);
    match shape {
        Shape::Absent => Vec::new(),
        Shape::Scalar(text) => vec![(name, escape.value(&text))],
        Shape::List(texts) if explode => texts.iter().map(|text| (name.clone(), escape.value(text))).collect(),
        Shape::List(texts) => vec![(name, join(texts.iter(), separator, escape))],
        Shape::Object(members) if explode => {
            members.iter().map(|(key, text)| (escape.name(key), escape.value(text))).collect()
        }
        Shape::Object(members) => {
            vec![(name, join(members.iter().flat_map(|(key, text)| [key, text]), separator, escape))]
        }
    }
}

fn join<'a>(texts: impl Iterator<Item = &'a String>, separator: &str, escape: Escape) -> String {
    texts.map(|text| escape.item(text)).collect::<Vec<_>>().join(separator)
}

/// `filter[price][gte]=5`. OpenAPI leaves arrays below `deepObject` open; indexed brackets (`tags[0]=a`) are what the
/// common bracket parsers read.
fn deep(name: &str, value: &Value, send_as: SendAs<'_>, escape: Escape) -> Vec<(String, String)> {
    let mut out = Vec::new();
    descend(name.to_owned(), value, send_as, &mut out);
    out.into_iter().map(|(name, text)| (escape.name(&name), escape.value(&text))).collect()
}

fn descend(name: String, value: &Value, send_as: SendAs<'_>, out: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Object(members) => {
            for (key, member) in members {
                descend(format!("{name}[{key}]"), member, send_as, out);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                descend(format!("{name}[{index}]"), item, send_as, out);
            }
        }
        scalar => out.push((name, text(scalar, send_as))),
    }
}
