//! Path templates filled with arguments.

use serde_json::{Map, Value};
use toolwright_core::{Location, Parameter, Style, ToolError};

use super::{percent, shape::Shape};

/// The path and, where the template has one, the fixed query behind it.
#[derive(Debug, PartialEq)]
pub(crate) struct Filled {
    pub(crate) path: String,
    pub(crate) query: Option<String>,
}

/// Fills a template. Every segment that an argument has a part in must come out with more than dots in it: URL libraries
/// and servers resolve `.` and `..`, so such a value would call another route.
///
/// # Errors
/// Names the argument that is missing, empty or made of dots only.
pub(crate) fn fill(
    template: &str,
    parameters: &[Parameter],
    arguments: &Map<String, Value>,
) -> Result<Filled, ToolError> {
    let template = template.split('#').next().unwrap_or_default();
    let (path, query) = match template.split_once('?') {
        Some((path, query)) => (path, Some(percent::literal(query))),
        None => (template, None),
    };
    let segments: Vec<String> = path
        .split('/')
        .map(|segment| fill_segment(segment, parameters, arguments))
        .collect::<Result<_, ToolError>>()?;
    Ok(Filled { path: segments.join("/"), query })
}

fn fill_segment(template: &str, parameters: &[Parameter], arguments: &Map<String, Value>) -> Result<String, ToolError> {
    let mut out = String::new();
    let mut last_argument = None;
    let mut rest = template;
    while let Some((literal, name, behind)) = next_placeholder(rest) {
        let parameter = parameters
            .iter()
            .find(|parameter| parameter.location == Location::Path && parameter.wire == name)
            .ok_or_else(|| ToolError::invalid(format!("the path parameter {{{name}}} has no argument")))?;
        out.push_str(&percent::literal(literal));
        out.push_str(&expand(parameter, arguments)?);
        last_argument = Some(parameter.argument);
        rest = behind;
    }
    out.push_str(&percent::literal(rest));
    match last_argument {
        Some(argument) if out.chars().all(|c| c == '.') => Err(dots(argument)),
        _ => Ok(out),
    }
}

fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (literal, opened) = text.split_once('{')?;
    let (name, behind) = opened.split_once('}')?;
    Some((literal, name, behind))
}

fn dots(argument: &str) -> ToolError {
    ToolError::invalid(format!(
        "`{argument}` must hold more than dots: a path segment of dots only would address another route"
    ))
}

fn empty(argument: &str) -> ToolError {
    ToolError::invalid(format!("`{argument}` is part of the path and must not be empty"))
}

/// One path parameter in its style (RFC 6570 sections 3.2.2, 3.2.5 and 3.2.7 by way of OpenAPI's style table).
fn expand(parameter: &Parameter, arguments: &Map<String, Value>) -> Result<String, ToolError> {
    let argument = parameter.argument;
    let value = arguments.get(argument).ok_or_else(|| empty(argument))?;
    if parameter.style == Style::Json {
        return Ok(percent::value(&value.to_string()));
    }
    let shape = Shape::of(value, parameter.send_as);
    if shape == Shape::Absent || is_blank(&shape) {
        return Err(empty(argument));
    }
    if matches!(&shape, Shape::Scalar(text) if text.chars().all(|c| c == '.')) {
        return Err(dots(argument));
    }
    Ok(match parameter.style {
        Style::Label => label(&shape, parameter.explode),
        Style::Matrix => matrix(parameter.wire, &shape, parameter.explode),
        style => simple(&shape, separator(style), parameter.explode),
    })
}

fn is_blank(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar(text) => text.is_empty(),
        Shape::List(texts) => texts.iter().all(String::is_empty),
        Shape::Absent | Shape::Object(_) => false,
    }
}

/// Swagger 2.0 allows its other array formats in paths as well.
fn separator(style: Style) -> &'static str {
    match style {
        Style::Spaces => "%20",
        Style::Pipes => "%7C",
        Style::Tabs => "%09",
        _ => ",",
    }
}

fn simple(shape: &Shape, separator: &str, explode: bool) -> String {
    listed(shape, separator, separator, if explode { "=" } else { separator })
}

fn label(shape: &Shape, explode: bool) -> String {
    let between = if explode { "." } else { "," };
    format!(".{}", listed(shape, between, between, if explode { "=" } else { "," }))
}

fn matrix(wire: &str, shape: &Shape, explode: bool) -> String {
    let name = percent::value(wire);
    match shape {
        Shape::List(texts) if explode => texts.iter().map(|text| format!(";{name}={}", percent::value(text))).collect(),
        Shape::Object(members) if explode => {
            members.iter().map(|(key, text)| format!(";{}={}", percent::value(key), percent::value(text))).collect()
        }
        _ => format!(";{name}={}", listed(shape, ",", ",", ",")),
    }
}

/// Values with `between` between items and members, and `equals` between a member's name and its value.
fn listed(shape: &Shape, between_items: &str, between_members: &str, equals: &str) -> String {
    match shape {
        Shape::Absent => String::new(),
        Shape::Scalar(text) => percent::value(text),
        Shape::List(texts) => texts.iter().map(|text| percent::value(text)).collect::<Vec<_>>().join(between_items),
        Shape::Object(members) => members
            .iter()
            .map(|(key, text)| format!("{}{equals}{}", percent::value(key), percent::value(text)))
            .collect::<Vec<_>>()
            .join(between_members),
    }
}
