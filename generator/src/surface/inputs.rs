//! Whether what callers send to one schema is still accepted by another (JSON Schema 2020-12).

use std::cell::Cell;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::InputChange;

/// Every difference, those that break callers first.
pub(super) fn compare(old: &Value, new: &Value) -> Vec<InputChange> {
    let budget = Cell::new(MAX_TRIALS);
    let mut comparison = Comparison { roots: (old, new), found: BTreeSet::new(), open: Vec::new(), budget: &budget };
    comparison.schema(old, new, "");
    let mut found: Vec<InputChange> = comparison.found.into_iter().collect();
    found.sort_by(|left, right| (!left.breaks, &left.path, &left.what).cmp(&(!right.breaks, &right.path, &right.what)));
    found
}

struct Comparison<'v, 'b> {
    roots: (&'v Value, &'v Value),
    found: BTreeSet<InputChange>,
    /// Pairs of references being compared: a cycle is equal as far as it was seen.
    open: Vec<(&'v Value, &'v Value)>,
    /// How many more shapes of unions may be compared with one another.
    budget: &'b Cell<usize>,
}

/// Unions in unions multiply; beyond this many trials only equal shapes count as accepted.
const MAX_TRIALS: usize = 20_000;

/// Bounds where more is stricter, then those where less is.
const LOWER: [&str; 5] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const UPPER: [&str; 5] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/// Keywords whose every change may refuse what was accepted.
const STRICT: [&str; 9] =
    ["pattern", "multipleOf", "const", "not", "if", "then", "else", "propertyNames", "dependentRequired"];

impl<'v> Comparison<'v, '_> {
    fn note(&mut self, breaks: bool, path: &str, what: impl Into<String>) {
        let path = if path.is_empty() { "arguments".to_owned() } else { path.to_owned() };
        self.found.insert(InputChange { breaks, path, what: what.into() });
    }

    fn schema(&mut self, old: &'v Value, new: &'v Value, path: &str) {
        let (old, new) = (resolved(self.roots.0, old), resolved(self.roots.1, new));
        let is_open = self.open.iter().any(|(left, right)| std::ptr::eq(*left, old) && std::ptr::eq(*right, new));
        if old == new && self.roots.0.get("$defs") == self.roots.1.get("$defs") || is_open {
            return;
        }
        let (Value::Object(was), Value::Object(is)) = (old, new) else {
            if old != new {
                self.note(
                    *new == Value::Bool(false),
                    path,
                    if *new == Value::Bool(false) { "is refused" } else { "changed" },
                );
            }
            return;
        };
        self.open.push((old, new));
        self.types(was, is, path);
        self.values(was, is, path);
        self.bounds(was, is, path);
        self.properties(was, is, path);
        self.inner(was, is, path);
        self.unions(old, new, path);
        self.open.pop();
    }

    fn types(&mut self, was: &Map<String, Value>, is: &Map<String, Value>, path: &str) {
        // Where alternatives say which types there are, they are compared instead.
        let by_shape = |schema: &Map<String, Value>| {
            !schema.contains_key("type")
                && ["anyOf", "oneOf", "allOf"].iter().any(|keyword| schema.contains_key(*keyword))
        };
        if by_shape(was) || by_shape(is) {
            return;
        }
        let (was, is) = (types(was), types(is));
        let lost: Vec<&str> = was.iter().filter(|kind| !accepts(&is, kind)).copied().collect();
        let gained: Vec<&str> = is.iter().filter(|kind| !accepts(&was, kind)).copied().collect();
        if !lost.is_empty() {
            self.note(true, path, format!("no longer accepts {}", lost.join(", ")));
        } else if !gained.is_empty() {
            self.note(false, path, format!("also accepts {}", gained.join(", ")));
        }
    }

    fn values(&mut self, was: &Map<String, Value>, is: &Map<String, Value>, path: &str) {
        let list = |schema: &Map<String, Value>| schema.get("enum").and_then(Value::as_array).cloned();
        match (list(was), list(is)) {
            (None, Some(_)) => self.note(true, path, "accepts only fixed values now"),
            (Some(_), None) => self.note(false, path, "accepts any value now"),
            (Some(was), Some(is)) => {
                let lost: Vec<String> = was.iter().filter(|value| !is.contains(value)).map(Value::to_string).collect();
                let gained: Vec<String> =
                    is.iter().filter(|value| !was.contains(value)).map(Value::to_string).collect();
                if !lost.is_empty() {
                    self.note(true, path, format!("no longer accepts {}", lost.join(", ")));
                }
                if !gained.is_empty() {
                    self.note(false, path, format!("also accepts {}", gained.join(", ")));
                }
            }
            (None, None) => {}
        }
        if was.get("default") != is.get("default") {
            let told = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
            let text = format!("default: {} instead of {}", told(is.get("default")), told(was.get("default")));
            self.note(false, path, text);
        }
    }

    fn bounds(&mut self, was: &Map<String, Value>, is: &Map<String, Value>, path: &str) {
        for (keywords, more_is_stricter) in [(LOWER, true), (UPPER, false)] {
            for keyword in keywords {
                let number = |schema: &Map<String, Value>| schema.get(keyword).and_then(Value::as_f64);
                let stricter = match (number(was), number(is)) {
                    (None, Some(_)) => Some(true),
                    (Some(_), None) => Some(false),
                    (Some(was), Some(is)) if was != is => Some((is > was) == more_is_stricter),
                    _ => None,
                };
                if let Some(stricter) = stricter {
                    let told = is.get(keyword).map_or_else(|| "none".to_owned(), Value::to_string);
                    self.note(stricter, path, format!("{keyword} is {told} now"));
                }
            }
        }
        for keyword in STRICT {
            match (was.get(keyword), is.get(keyword)) {
                (was, Some(is)) if was != Some(is) => self.note(true, path, format!("has another `{keyword}`")),
                (Some(_), None) => self.note(false, path, format!("has no `{keyword}` any more")),
                _ => {}
            }
        }
        let unique = |schema: &Map<String, Value>| schema.get("uniqueItems") == Some(&Value::Bool(true));
        if unique(is) && !unique(was) {
            self.note(true, path, "must not repeat elements");
        }
    }

    fn properties(&mut self, was: &'v Map<String, Value>, is: &'v Map<String, Value>, path: &str) {
        let none = &NONE;
        let members =
            |schema: &'v Map<String, Value>| schema.get("properties").and_then(Value::as_object).unwrap_or(none);
        let (old, new) = (members(was), members(is));
        let closed = is.get("additionalProperties") == Some(&Value::Bool(false));
        let was_closed = was.get("additionalProperties") == Some(&Value::Bool(false));
        for (name, schema) in old {
            let path = below(path, name);
            match new.get(name) {
                Some(now) => self.schema(schema, now, &path),
                None => self.note(closed, &path, "is gone"),
            }
        }
        for name in new.keys().filter(|name| !old.contains_key(*name)) {
            if !required(is).contains(name.as_str()) {
                self.note(false, &below(path, name), "is new");
            }
        }
        for name in required(is).difference(&required(was)) {
            let what = if old.contains_key(*name) { "is required now" } else { "is new and required" };
            self.note(true, &below(path, name), what);
        }
        for name in required(was).difference(&required(is)).filter(|name| new.contains_key(**name)) {
            self.note(false, &below(path, name), "is optional now");
        }
        if closed && !was_closed {
            self.note(true, path, "refuses unknown members now");
        }
    }

    /// Schemas of elements and of further members.
    fn inner(&mut self, was: &'v Map<String, Value>, is: &'v Map<String, Value>, path: &str) {
        for (keyword, suffix) in [("items", "[]"), ("additionalProperties", ".*"), ("contains", "[?]")] {
            let path = format!("{path}{suffix}");
            match (was.get(keyword), is.get(keyword)) {
                (Some(old @ Value::Object(_)), Some(new @ Value::Object(_))) => self.schema(old, new, &path),
                (None | Some(Value::Bool(true)), Some(Value::Object(new))) if !new.is_empty() => {
                    self.note(true, &path, "is no longer free");
                }
                (Some(Value::Object(_)), None | Some(Value::Bool(true))) => self.note(false, &path, "is free now"),
                _ => {}
            }
        }
        let list = |schema: &'v Map<String, Value>| schema.get("prefixItems").and_then(Value::as_array);
        for (index, (old, new)) in list(was).into_iter().flatten().zip(list(is).into_iter().flatten()).enumerate() {
            self.schema(old, new, &format!("{path}[{index}]"));
        }
    }

    /// Of alternatives, each old one must be accepted by some new one; of parts that all hold, none may be new.
    fn unions(&mut self, was: &'v Value, is: &'v Value, path: &str) {
        for keyword in ["anyOf", "oneOf"] {
            let list = |schema: &'v Value| schema.get(keyword).and_then(Value::as_array);
            match (list(was), list(is)) {
                (None, Some(new)) => {
                    let breaks = !new.iter().any(|new| self.accepts(was, new));
                    self.note(breaks, path, "must match one of several shapes now");
                }
                (Some(old), None) => {
                    let breaks = old.iter().any(|old| !self.accepts(old, is));
                    self.note(breaks, path, "is no longer one of several shapes");
                }
                (Some(old), Some(new)) => {
                    let lost = old.iter().filter(|old| !new.iter().any(|new| self.accepts(old, new))).count();
                    let gained = new.iter().filter(|new| !old.iter().any(|old| self.accepts(old, new))).count();
                    if lost > 0 {
                        self.note(true, path, format!("{lost} of its {} shapes are gone or stricter", old.len()));
                    } else if gained > 0 {
                        self.note(false, path, format!("has {gained} more shapes"));
                    }
                }
                (None, None) => {}
            }
        }
        let list = |schema: &'v Value| schema.get("allOf").and_then(Value::as_array);
        let (old, new) = (list(was), list(is));
        let stricter = new
            .into_iter()
            .flatten()
            .any(|new| !old.into_iter().flatten().chain([was]).any(|old| self.accepts(old, new)));
        if stricter {
            self.note(true, path, "must also match another shape now");
        }
    }

    /// Whether everything that the old schema accepts is accepted by the new one.
    fn accepts(&self, old: &'v Value, new: &'v Value) -> bool {
        let Some(left) = self.budget.get().checked_sub(1) else {
            return resolved(self.roots.0, old) == resolved(self.roots.1, new);
        };
        self.budget.set(left);
        let open = self.open.clone();
        let mut inner = Comparison { roots: self.roots, found: BTreeSet::new(), open, budget: self.budget };
        inner.schema(old, new, "");
        !inner.found.iter().any(|change| change.breaks)
    }
}

static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The schema behind a reference that stands alone.
fn resolved<'v>(root: &'v Value, mut schema: &'v Value) -> &'v Value {
    for _ in 0..32 {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        match target.and_then(|target| root.pointer(target)) {
            Some(next) => schema = next,
            None => return schema,
        }
    }
    schema
}

fn types(schema: &Map<String, Value>) -> Vec<&str> {
    const ALL: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];
    match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => ALL.to_vec(),
    }
}

/// Every integer is a number.
fn accepts(types: &[&str], kind: &str) -> bool {
    types.contains(&kind) || (kind == "integer" && types.contains(&"number"))
}

fn required(schema: &Map<String, Value>) -> BTreeSet<&str> {
    let items = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::compare;
    use serde_json::{Value, json};

    fn object(properties: Value, required: Value) -> Value {
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    fn told(old: &Value, new: &Value) -> Vec<String> {
        let mark = |breaks: bool| if breaks { "!" } else { "" };
        compare(old, new).into_iter().map(|c| format!("{}{} {}", mark(c.breaks), c.path, c.what)).collect()
    }

    fn of_a(old: Value, new: Value) -> Vec<String> {
        told(&object(json!({"a": old}), json!([])), &object(json!({"a": new}), json!([])))
    }

    #[test]
    fn an_argument_that_is_gone_breaks_and_a_new_one_does_not() {
        let (old, new) = (object(json!({"a": {}}), json!([])), object(json!({"b": {}}), json!([])));
        assert_eq!(told(&old, &new), ["!a is gone", "b is new"]);
    }

    #[test]
    fn what_is_required_now_breaks() {
        let (old, new) = (object(json!({"a": {}}), json!([])), object(json!({"a": {}, "b": {}}), json!(["a", "b"])));
        assert_eq!(told(&old, &new), ["!a is required now", "!b is new and required"]);
    }

    #[test]
    fn fewer_types_and_values_break_and_more_do_not() {
        assert_eq!(of_a(json!({"type": ["string", "null"]}), json!({"type": "string"})), ["!a no longer accepts null"]);
        assert_eq!(of_a(json!({"type": "integer"}), json!({"type": "number"})), ["a also accepts number"]);
        assert_eq!(
            of_a(json!({"enum": ["x", "y"]}), json!({"enum": ["y", "z"]})),
            ["!a no longer accepts \"x\"", "a also accepts \"z\""]
        );
    }

    #[test]
    fn stricter_bounds_break_and_wider_ones_do_not() {
        assert_eq!(of_a(json!({"maximum": 10}), json!({"maximum": 5})), ["!a maximum is 5 now"]);
        assert_eq!(of_a(json!({"minLength": 2}), json!({})), ["a minLength is none now"]);
    }

    #[test]
    fn differences_are_found_in_elements_and_alternatives() {
        let list = |kind: &str| json!({"type": "array", "items": {"type": kind}});
        assert_eq!(of_a(list("string"), list("integer")), ["!a[] no longer accepts string"]);
        let either =
            |kinds: &[&str]| json!({"anyOf": kinds.iter().map(|kind| json!({"type": kind})).collect::<Vec<_>>()});
        assert_eq!(
            of_a(either(&["string", "boolean"]), either(&["string"])),
            ["!a 1 of its 2 shapes are gone or stricter"]
        );
        assert_eq!(of_a(either(&["string"]), either(&["string", "boolean"])), ["a has 1 more shapes"]);
    }

    #[test]
    fn a_shape_that_stays_among_several_does_not_break() {
        let either = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
        assert_eq!(
            of_a(json!({"type": "integer", "maximum": 5}), either.clone()),
            ["a maximum is none now", "a must match one of several shapes now",]
        );
        assert_eq!(of_a(json!({"type": "string"}), either), ["!a must match one of several shapes now"]);
    }

    #[test]
    fn recursion_ends() {
        let tree = |kind: &str| {
            json!({
                "type": "object",
                "properties": {"t": {"$ref": "#/$defs/T"}},
                "$defs": {"T": {"type": "object", "properties": {"x": {"type": kind}, "t": {"$ref": "#/$defs/T"}}}},
            })
        };
        assert_eq!(told(&tree("string"), &tree("integer")), ["!t.x no longer accepts string"]);
    }
}
