//! Simple conditions (Arazzo 1.0 section "Criterion Object"): literals, runtime expressions and operators.

use serde_json::{Number, Value};

use crate::expression::{Expression, Scope, SyntaxError};

/// As deep as parentheses and `!` may nest.
const MAX_DEPTH: usize = 64;

/// A condition that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition(Node);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Literal(Value),
    Expression(Expression),
    Not(Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
    Compare(Box<Node>, Comparison, Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Longer operators first, since others begin them.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Different),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// Where it does not parse, or holds an expression that has no meaning.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut reader = Reader { rest: text, text };
        let node = reader.any(0)?;
        match reader.ahead() {
            "" => Ok(Condition(node)),
            rest => Err(reader.fault(&format!("`{}` is not expected", first_word(rest)))),
        }
    }

    /// Whether it holds. What has no value is null.
    #[must_use]
    pub fn holds(&self, scope: &Scope<'_>) -> bool {
        is_true(&self.0.evaluate(scope))
    }

    /// Calls `found` with each expression in it.
    pub fn expressions(&self, found: &mut dyn FnMut(&Expression)) {
        self.0.expressions(found);
    }
}

impl Node {
    fn evaluate(&self, scope: &Scope<'_>) -> Value {
        match self {
            Node::Literal(value) => value.clone(),
            Node::Expression(expression) => expression.evaluate(scope).unwrap_or(Value::Null),
            Node::Not(inner) => (!is_true(&inner.evaluate(scope))).into(),
            Node::All(nodes) => nodes.iter().all(|node| is_true(&node.evaluate(scope))).into(),
            Node::Any(nodes) => nodes.iter().any(|node| is_true(&node.evaluate(scope))).into(),
            Node::Compare(left, comparison, right) => {
                compare(&left.evaluate(scope), *comparison, &right.evaluate(scope)).into()
            }
        }
    }

    fn expressions(&self, found: &mut dyn FnMut(&Expression)) {
        match self {
            Node::Literal(_) => {}
            Node::Expression(expression) => found(expression),
            Node::Not(inner) => inner.expressions(found),
            Node::All(nodes) | Node::Any(nodes) => nodes.iter().for_each(|node| node.expressions(found)),
            Node::Compare(left, _, right) => {
                left.expressions(found);
                right.expressions(found);
            }
        }
    }
}

fn is_true(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

/// Texts are compared without regard to case, as Arazzo wants it. Only numbers and texts are less or greater.
fn compare(left: &Value, comparison: Comparison, right: &Value) -> bool {
    let order = match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left.as_f64().zip(right.as_f64()).and_then(|(l, r)| l.partial_cmp(&r))
        }
        (Value::String(left), Value::String(right)) => Some(left.to_lowercase().cmp(&right.to_lowercase())),
        _ => None,
    };
    let is_equal = order.map_or(left == right, std::cmp::Ordering::is_eq);
    match comparison {
        Comparison::Equal => is_equal,
        Comparison::Different => !is_equal,
        Comparison::Less => order.is_some_and(std::cmp::Ordering::is_lt),
        Comparison::LessOrEqual => order.is_some_and(std::cmp::Ordering::is_le),
        Comparison::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
        Comparison::GreaterOrEqual => order.is_some_and(std::cmp::Ordering::is_ge),
    }
}

struct Reader<'t> {
    text: &'t str,
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn ahead(&mut self) -> &'t str {
        self.rest = self.rest.trim_start();
        self.rest
    }

    fn take(&mut self, token: &str) -> bool {
        match self.ahead().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn fault(&self, what: &str) -> SyntaxError {
        let help = "such as `$statusCode == 200 && $response.body#/status != 'failed'`; texts stand in single quotes";
        SyntaxError::new(format!("`{}` is no condition: {what}", self.text), help)
    }

    fn any(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        let mut nodes = vec![self.all(depth)?];
        while self.take("||") {
            nodes.push(self.all(depth)?);
        }
        Ok(only(nodes, Node::Any))
    }

    fn all(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        let mut nodes = vec![self.comparison(depth)?];
        while self.take("&&") {
            nodes.push(self.comparison(depth)?);
        }
        Ok(only(nodes, Node::All))
    }

    fn comparison(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        let left = self.operand(depth)?;
        let found = COMPARISONS.iter().find(|(token, _)| self.take(token));
        match found {
            Some((_, comparison)) => {
                let right = self.operand(depth)?;
                Ok(Node::Compare(Box::new(left), *comparison, Box::new(right)))
            }
            None => Ok(left),
        }
    }

    fn operand(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        if depth > MAX_DEPTH {
            return Err(self.fault("it nests too deep"));
        }
        if self.take("(") {
            let inner = self.any(depth + 1)?;
            return if self.take(")") { Ok(inner) } else { Err(self.fault("a `)` is missing")) };
        }
        if self.take("!") {
            return Ok(Node::Not(Box::new(self.operand(depth + 1)?)));
        }
        if self.take("'") {
            return self.quoted();
        }
        let ahead = self.ahead();
        let end = ahead.find(|c: char| c.is_whitespace() || "()=!<>&|'".contains(c)).unwrap_or(ahead.len());
        let (word, rest) = ahead.split_at(end);
        self.rest = rest;
        match word {
            "" => Err(self.fault("a value is missing")),
            "true" => Ok(Node::Literal(true.into())),
            "false" => Ok(Node::Literal(false.into())),
            "null" => Ok(Node::Literal(Value::Null)),
            expression if expression.starts_with('$') => Ok(Node::Expression(Expression::parse(expression)?)),
            number => match number.parse::<Number>() {
                Ok(number) => Ok(Node::Literal(Value::Number(number))),
                Err(_) => {
                    Err(self.fault(&format!("`{number}` is neither a number, true, false, null nor an expression")))
                }
            },
        }
    }

    /// The rest of a text; two quotes stand for one.
    fn quoted(&mut self) -> Result<Node, SyntaxError> {
        let mut text = String::new();
        loop {
            let Some((part, rest)) = self.rest.split_once('\'') else {
                return Err(self.fault("a text does not end"));
            };
            text.push_str(part);
            self.rest = rest;
            match rest.strip_prefix('\'') {
                Some(rest) => {
                    text.push('\'');
                    self.rest = rest;
                }
                None => return Ok(Node::Literal(text.into())),
            }
        }
    }
}

fn only(mut nodes: Vec<Node>, several: fn(Vec<Node>) -> Node) -> Node {
    match nodes.len() {
        1 => nodes.pop().unwrap_or(Node::Literal(Value::Null)),
        _ => several(nodes),
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Map, json};

    use super::*;
    use crate::Answer;

    fn holds(condition: &str) -> bool {
        let answer = Answer {
            status: Some(200),
            headers: Vec::new(),
            body: json!({"count": 3, "state": "Done", "empty": null, "it's": 1, "list": [1]}),
        };
        let scope = Scope { inputs: &Map::new(), steps: &BTreeMap::new(), answer: Some(&answer) };
        Condition::parse(condition).unwrap().holds(&scope)
    }

    #[test]
    fn operators_mean_what_they_say() {
        for (condition, expected) in [
            ("$statusCode == 200", true),
            ("$statusCode==200", true),
            ("$statusCode != 200", false),
            ("$response.body#/count >= 3", true),
            ("$response.body#/count < 3", false),
            ("$response.body#/state == 'done'", true),
            ("$response.body#/empty", false),
            ("!$response.body#/nothing", true),
            ("$response.body#/nothing == null", true),
            ("$statusCode > 'a'", false),
            ("false || ($statusCode == 200 && !false)", true),
            ("true && false || true", true),
            ("'it''s' == 'IT''S'", true),
        ] {
            assert_eq!(holds(condition), expected, "{condition}");
        }
    }

    #[test]
    fn what_does_not_parse_is_refused() {
        for condition in ["", "$statusCode = 200", "(true", "'a", "done", "true true", "$url == 1", "1 =="] {
            assert!(Condition::parse(condition).is_err(), "{condition}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_not_followed() {
        assert!(Condition::parse(&"(".repeat(100_000)).is_err());
        assert!(Condition::parse(&"!".repeat(100_000)).is_err());
    }
}
