//! Values that hold runtime expressions: a text that is one, or texts with some in braces (`/users/{$inputs.id}`).

use serde_json::{Map, Value};

use crate::expression::{Expression, Scope, SyntaxError};

/// An expression inside a text had no value, so that there is no text either.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` has no value")]
pub struct Missing(pub String);

/// A text in parts.
enum Part<'t> {
    Text(&'t str),
    Expression(&'t str),
}

/// A text that begins with `$` and a letter is an expression; any other may hold some in braces.
fn is_expression(text: &str) -> bool {
    text.strip_prefix('$').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn parts(text: &str) -> Vec<Part<'_>> {
    if is_expression(text) {
        return vec![Part::Expression(text)];
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{$") {
        let Some((_, behind)) = after.split_once('}') else { break };
        let length = after.len() - behind.len();
        // With the `$`, without the brace.
        let from = before.len() + 1;
        parts.push(Part::Text(before));
        parts.push(Part::Expression(rest.get(from..from + length).unwrap_or_default()));
        rest = behind;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    parts
}

/// The expression of a text that begins with `{$inputs.` or `{$steps.` and that no brace closes, without its brace.
#[must_use]
pub fn unclosed(text: &str) -> Option<&str> {
    let at = text.rfind("{$").filter(|_| !is_expression(text))?;
    let opened = text.get(at + 1..)?;
    let is_meant = opened.starts_with("$inputs.") || opened.starts_with("$steps.");
    let ends = |c: char| !c.is_ascii_alphanumeric() && !"$._-#/".contains(c);
    let expression = opened.split(ends).next()?.trim_end_matches('.');
    (is_meant && !opened.contains('}')).then_some(expression)
}

/// Calls `found` with each expression of a value, closed or not, and the JSON pointer of the text that holds it.
pub fn expressions(value: &Value, pointer: &str, found: &mut dyn FnMut(&str, Result<Expression, SyntaxError>)) {
    match value {
        Value::String(text) => {
            for part in parts(text) {
                if let Part::Expression(text) = part {
                    found(pointer, Expression::parse(text));
                }
            }
            if let Some(text) = unclosed(text) {
                let message = format!("`{{{text}` has no end, and is text here");
                let help = format!("write `{{{text}}}`");
                found(pointer, Err(SyntaxError { message, help, is_unclosed: true }));
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| expressions(item, &format!("{pointer}/{index}"), found));
        }
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                expressions(member, &format!("{pointer}/{name}"), found);
            }
        }
        _ => {}
    }
}

/// The value with its expressions evaluated. Members and elements without a value are left out; `None` where the value as a
/// whole is an expression without one.
///
/// # Errors
/// Where an expression inside a longer text has no value.
pub fn render(value: &Value, scope: &Scope<'_>) -> Result<Option<Value>, Missing> {
    Ok(match value {
        Value::String(text) => return self::text(text, scope),
        Value::Array(items) => {
            let items: Vec<Option<Value>> = items.iter().map(|item| render(item, scope)).collect::<Result<_, _>>()?;
            Some(items.into_iter().flatten().collect())
        }
        Value::Object(members) => {
            let mut made = Map::new();
            for (name, member) in members {
                if let Some(member) = render(member, scope)? {
                    made.insert(name.clone(), member);
                }
            }
            Some(Value::Object(made))
        }
        other => Some(other.clone()),
    })
}

/// A path with its expressions evaluated, each written by `encode`. An empty value is none: the path would be another.
///
/// # Errors
/// Where an expression has no value.
pub fn render_path(path: &str, scope: &Scope<'_>, encode: fn(&str) -> String) -> Result<String, Missing> {
    let missing = |text: &str| Err(Missing(text.to_owned()));
    joined(path, scope, |text, value| if value.is_empty() { missing(text) } else { Ok(encode(&value)) })
}

/// A text with its expressions written by `written`, which gets each expression as it stands and its value, if there is one.
///
/// # Errors
/// The first that `written` gives.
pub fn render_text<E>(
    text: &str,
    scope: &Scope<'_>,
    mut written: impl FnMut(&str, Option<Value>) -> Result<String, E>,
) -> Result<String, E> {
    let mut made = String::new();
    for part in parts(text) {
        match part {
            Part::Text(text) => made.push_str(text),
            Part::Expression(text) => made.push_str(&written(text, evaluated(text, scope))?),
        }
    }
    Ok(made)
}

fn evaluated(text: &str, scope: &Scope<'_>) -> Option<Value> {
    Expression::parse(text).ok()?.evaluate(scope)
}

fn text(text: &str, scope: &Scope<'_>) -> Result<Option<Value>, Missing> {
    if is_expression(text) {
        return Ok(evaluated(text, scope));
    }
    joined(text, scope, |_, value| Ok(value)).map(|text| Some(text.into()))
}

fn joined(
    text: &str,
    scope: &Scope<'_>,
    written: impl Fn(&str, String) -> Result<String, Missing>,
) -> Result<String, Missing> {
    render_text(text, scope, |text, value| match value {
        None | Some(Value::Null) => Err(Missing(text.to_owned())),
        Some(Value::String(value)) => written(text, value),
        Some(value) => written(text, value.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn rendered(value: Value) -> Result<Option<Value>, Missing> {
        let inputs = json!({"id": 7, "name": "Ada"});
        let scope = Scope { inputs: inputs.as_object().unwrap(), steps: &BTreeMap::new(), answer: None };
        render(&value, &scope)
    }

    #[test]
    fn an_expression_keeps_the_type_of_its_value() {
        assert_eq!(rendered(json!({"id": "$inputs.id", "fixed": true})), Ok(Some(json!({"id": 7, "fixed": true}))));
    }

    #[test]
    fn expressions_in_braces_become_text() {
        assert_eq!(rendered(json!("{$inputs.name} is {$inputs.id}")), Ok(Some(json!("Ada is 7"))));
    }

    #[test]
    fn what_has_no_value_is_left_out() {
        assert_eq!(rendered(json!({"a": "$inputs.no", "b": ["$inputs.no", 1]})), Ok(Some(json!({"b": [1]}))));
        assert_eq!(rendered(json!("$inputs.no")), Ok(None));
    }

    #[test]
    fn a_text_cannot_be_made_around_nothing() {
        assert_eq!(rendered(json!("/a/{$inputs.no}")), Err(Missing("$inputs.no".to_owned())));
    }

    #[test]
    fn values_in_a_path_are_encoded_and_never_empty() {
        let inputs = json!({"id": "a/b", "none": ""});
        let scope = Scope { inputs: inputs.as_object().unwrap(), steps: &BTreeMap::new(), answer: None };
        let path = |path: &str| render_path(path, &scope, |text| text.replace('/', "%2F"));
        assert_eq!(path("/x/{$inputs.id}"), Ok("/x/a%2Fb".to_owned()));
        assert_eq!(path("/x/{$inputs.none}/y"), Err(Missing("$inputs.none".to_owned())));
    }

    #[test]
    fn an_expression_that_is_never_closed_is_found() {
        assert_eq!(unclosed("{$inputs.a} and {$inputs.b, too."), Some("$inputs.b"));
        assert_eq!(unclosed("Say {$steps.s.outputs.o."), Some("$steps.s.outputs.o"));
        for text in ["{$inputs.a}", "{$unclosed", "{$5", "$inputs.a", "a $inputs.a"] {
            assert_eq!(unclosed(text), None, "{text}");
        }
    }

    #[test]
    fn dollars_and_braces_of_other_texts_are_text() {
        for text in ["$5", "costs $", "{a}", "{$unclosed", "a $inputs.id"] {
            assert_eq!(rendered(json!(text)), Ok(Some(json!(text))), "{text}");
        }
    }

    #[test]
    fn each_expression_is_found_at_its_pointer() {
        let mut found = Vec::new();
        let value = json!({"a/b": ["x{$inputs.id}y{$url}"]});
        expressions(&value, "", &mut |pointer, it| found.push((pointer.to_owned(), it.is_ok())));
        assert_eq!(found, [("/a~1b/0".to_owned(), true), ("/a~1b/0".to_owned(), false)]);
    }
}
