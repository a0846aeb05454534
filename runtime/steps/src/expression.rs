//! Runtime expressions (Arazzo 1.0 section "Runtime Expressions"), as far as a server of tools can give them a meaning.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// What a runtime expression speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// `$inputs.name`: an argument of the tool.
    Input {
        /// Its name.
        name: String,
        /// JSON pointer inside it; empty for the whole.
        pointer: String,
    },
    /// `$steps.id.outputs.name`: an output of an earlier step.
    Output {
        /// The step.
        step: String,
        /// The output's name.
        name: String,
        /// JSON pointer inside it; empty for the whole.
        pointer: String,
    },
    /// `$statusCode`: the HTTP status of the answer.
    StatusCode,
    /// `$response.header.Name`: a header of the answer, its name in lower case.
    Header(String),
    /// `$response.body#/pointer`: the answer's JSON, or its text.
    Body(String),
}

/// Why a text is no expression or condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to write.
    pub help: String,
    /// Whether it lacks nothing but its closing brace.
    pub is_unclosed: bool,
}

impl SyntaxError {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        SyntaxError { message: message.into(), help: help.into(), is_unclosed: false }
    }
}

/// The answer of a step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// HTTP status, where there is one.
    pub status: Option<u16>,
    /// Headers by lower-case name.
    pub headers: Vec<(String, String)>,
    /// The JSON, or the text; null where there is none.
    pub body: Value,
}

/// What expressions can speak of at a point of a run.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'s> {
    /// The tool's arguments.
    pub inputs: &'s Map<String, Value>,
    /// Outputs of the steps so far, by step.
    pub steps: &'s BTreeMap<String, Map<String, Value>>,
    /// The answer of the step at hand.
    pub answer: Option<&'s Answer>,
}

/// What the words after `$` can be, for people.
const FORMS: &str = "write `$inputs.name`, `$steps.id.outputs.name`, `$statusCode`, `$response.header.Name` or `$response.body#/pointer`";

impl Expression {
    /// Reads an expression, the whole text of it.
    ///
    /// # Errors
    /// Where it has none of the forms, or one that needs what no server of tools has, such as `$url`.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let unknown = || SyntaxError::new(format!("`{text}` is no runtime expression"), FORMS);
        let (path, pointer) = match text.split_once('#') {
            Some((path, pointer)) => (path, Some(pointer)),
            None => (text, None),
        };
        if pointer.is_some_and(|pointer| !pointer.is_empty() && !pointer.starts_with('/')) {
            let help = "after `#` stands a JSON pointer, such as `#/items/0/id`";
            return Err(SyntaxError::new(format!("`{text}` has no JSON pointer after `#`"), help));
        }
        let pointer = pointer.unwrap_or_default();
        let whole = |expression| if pointer.is_empty() { Ok(expression) } else { Err(unknown()) };
        if let Some(rest) = path.strip_prefix("$inputs.") {
            let (name, inner) = member(rest).ok_or_else(unknown)?;
            return Ok(Expression::Input { name, pointer: inner + pointer });
        }
        if let Some(rest) = path.strip_prefix("$steps.") {
            let (step, rest) = rest.split_once('.').ok_or_else(unknown)?;
            let rest = rest.strip_prefix("outputs.").ok_or_else(unknown)?;
            let (name, inner) = member(rest).ok_or_else(unknown)?;
            return Ok(Expression::Output { step: step.to_owned(), name, pointer: inner + pointer });
        }
        match path {
            "$statusCode" => whole(Expression::StatusCode),
            "$response.body" => Ok(Expression::Body(pointer.to_owned())),
            header if header.strip_prefix("$response.header.").is_some_and(|name| !name.is_empty()) => {
                whole(Expression::Header(header.trim_start_matches("$response.header.").to_ascii_lowercase()))
            }
            body if body.starts_with("$response.body.") => {
                let inside = body.trim_start_matches("$response.body.").replace('.', "/");
                let help = format!("write `$response.body#/{inside}`");
                Err(SyntaxError::new(format!("`{text}` is no runtime expression"), help))
            }
            _ => Err(unknown()),
        }
    }

    /// The value, where there is one.
    #[must_use]
    pub fn evaluate(&self, scope: &Scope<'_>) -> Option<Value> {
        match self {
            Expression::Input { name, pointer } => scope.inputs.get(name)?.pointer(pointer).cloned(),
            Expression::Output { step, name, pointer } => scope.steps.get(step)?.get(name)?.pointer(pointer).cloned(),
            Expression::StatusCode => Some(scope.answer?.status?.into()),
            Expression::Header(name) => {
                let header = scope.answer?.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
                header.map(|(_, value)| value.as_str().into())
            }
            Expression::Body(pointer) => scope.answer?.body.pointer(pointer).cloned(),
        }
    }

    /// Whether it speaks of the answer of the step at hand.
    #[must_use]
    pub fn is_of_answer(&self) -> bool {
        matches!(self, Expression::StatusCode | Expression::Header(_) | Expression::Body(_))
    }
}

/// `name`, and `.member` or `[0]` after it as a JSON pointer.
fn member(text: &str) -> Option<(String, String)> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let rest = rest.replace('[', ".").replace(']', "");
    let inner: Vec<&str> = rest.split('.').skip(1).collect();
    (is_name(name) && inner.iter().all(|name| is_name(name)))
        .then(|| (name.to_owned(), inner.iter().map(|name| format!("/{name}")).collect()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(text: &str) -> Option<Value> {
        let inputs = json!({"city": {"name": "Oslo", "tags": ["a", "b"]}});
        let steps = BTreeMap::from([("find".to_owned(), json!({"id": 7}).as_object().unwrap().clone())]);
        let headers = vec![("x-total-count".to_owned(), "3".to_owned())];
        let answer = Answer { status: Some(201), headers, body: json!({"items": [{"id": "x"}], "a/b": 1}) };
        let scope = Scope { inputs: inputs.as_object().unwrap(), steps: &steps, answer: Some(&answer) };
        Expression::parse(text).unwrap().evaluate(&scope)
    }

    #[test]
    fn each_form_has_its_value() {
        for (text, expected) in [
            ("$inputs.city.name", json!("Oslo")),
            ("$inputs.city#/name", json!("Oslo")),
            ("$inputs.city.tags[1]", json!("b")),
            ("$steps.find.outputs.id", json!(7)),
            ("$statusCode", json!(201)),
            ("$response.header.X-Total-Count", json!("3")),
            ("$response.body#/items/0/id", json!("x")),
            ("$response.body#/a~1b", json!(1)),
        ] {
            assert_eq!(value(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_there_has_no_value() {
        for text in ["$inputs.other", "$steps.find.outputs.other", "$response.header.x", "$response.body#/items/9"] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn what_has_no_meaning_here_is_refused() {
        for text in ["$url", "$method", "$request.body", "$input.x", "$inputs", "$steps.a.b", "$statusCode#/a", "$"] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_dot_in_a_body_is_told_as_a_pointer() {
        assert_eq!(Expression::parse("$response.body.a.b").unwrap_err().help, "write `$response.body#/a/b`");
    }
}
