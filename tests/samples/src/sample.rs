//! Valid values.

use serde_json::{Map, Value, json};

/// How much a sample holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Required members only.
    Minimal,
    /// Every declared member, one item in every array.
    Full,
}

/// Full samples stop here: recursive schemas have no end of their own.
const DEEPEST: usize = 8;

pub(crate) fn arguments(schema: &Value, extent: Extent) -> Map<String, Value> {
    arguments_of_form(schema, extent, 0)
}

/// As [`arguments`], with the form of that number in every union that has so many.
pub(crate) fn arguments_of_form(schema: &Value, extent: Extent, form: usize) -> Map<String, Value> {
    match (Sampler { root: schema, extent, form }).value(schema, 0, "") {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

/// What a sample is made from.
#[derive(Clone, Copy)]
struct Sampler<'a> {
    root: &'a Value,
    extent: Extent,
    form: usize,
}

impl Sampler<'_> {
    /// A valid value of `node`; `name` is the member's name, so that texts differ and can be recognised on the wire.
    fn value(self, node: &Value, depth: usize, name: &str) -> Value {
        let node = &merged(self.root, resolve(self.root, node));
        if let Some(constant) = node.get("const") {
            return constant.clone();
        }
        if let Some(first) = node.get("enum").and_then(Value::as_array).and_then(|values| values.first()) {
            return first.clone();
        }
        for key in ["anyOf", "oneOf"] {
            let forms = node.get(key).and_then(Value::as_array);
            if let Some(form) = forms.and_then(|forms| forms.get(self.form).or(forms.first())) {
                return self.value(&with_siblings(node, resolve(self.root, form)), depth + 1, name);
            }
        }
        match type_of(node) {
            "object" => self.object(node, depth),
            "array" => self.array(node, depth, name),
            "string" => text(node, name),
            "integer" => number(node, 3.0),
            // Not whole, so that a floating-point field writes it as it was read.
            "number" => number(node, 0.5),
            "boolean" => json!(true),
            "null" => Value::Null,
            _ => json!(format!("any {name}")),
        }
    }

    fn object(self, node: &Value, depth: usize) -> Value {
        let required = node.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
        let properties = node.get("properties").and_then(Value::as_object);
        let is_full = self.extent == Extent::Full && depth < DEEPEST;
        let mut members = Map::new();
        for (name, property) in properties.into_iter().flatten() {
            // Nothing but `false` can stand for a member that must not be there.
            if is_required(name) || (is_full && property != &Value::Bool(false)) {
                members.insert(name.clone(), self.value(property, depth + 1, name));
            }
        }
        let open = node.get("additionalProperties").filter(|extra| extra.is_object());
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) {
                let value = open.map_or_else(|| json!("value"), |extra| self.value(extra, depth + 1, name));
                members.insert(name.to_owned(), value);
            }
        }
        let least = node.get("minProperties").and_then(Value::as_u64).unwrap_or_default() as usize;
        let wanted = if open.is_some() && is_full && members.is_empty() { least.max(1) } else { least };
        for (name, property) in properties.into_iter().flatten() {
            if members.len() < wanted && !members.contains_key(name) {
                members.insert(name.clone(), self.value(property, depth + 1, name));
            }
        }
        let forbidden = node.get("not").map(|not| forbidden(not, &members)).unwrap_or_default();
        for forbidden in forbidden {
            members.shift_remove(&forbidden);
        }
        for number in members.len()..wanted {
            let name = if number == 0 { "key".to_owned() } else { format!("key{number}") };
            let value = open.map_or_else(|| json!("value"), |extra| self.value(extra, depth + 1, &name));
            members.insert(name, value);
        }
        Value::Object(members)
    }

    /// One item, so that something is on the wire; none where a recursive schema would have no end.
    fn array(self, node: &Value, depth: usize, name: &str) -> Value {
        let least = node.get("minItems").and_then(Value::as_u64).unwrap_or_default() as usize;
        let wanted = if depth < DEEPEST { least.max(1) } else { least };
        let wanted = node.get("maxItems").and_then(Value::as_u64).map_or(wanted, |most| wanted.min(most as usize));
        let prefix = node.get("prefixItems").and_then(Value::as_array);
        let mut items: Vec<Value> =
            prefix.into_iter().flatten().map(|item| self.value(item, depth + 1, name)).collect();
        for number in items.len()..wanted {
            let item = match node.get("items") {
                Some(schema) => self.value(schema, depth + 1, name),
                None => json!(name),
            };
            items.push(if items.contains(&item) { another(&item, number) } else { item });
        }
        Value::Array(items)
    }
}

/// Members that must not stand together with the others: the last of each list that `not` requires.
fn forbidden(not: &Value, members: &Map<String, Value>) -> Vec<String> {
    let forms = not.get("anyOf").or_else(|| not.get("oneOf")).and_then(Value::as_array);
    let lists = std::iter::once(not).chain(forms.into_iter().flatten()).filter_map(|form| form.get("required"));
    lists
        .filter_map(|list| list.as_array().map(|names| names.iter().filter_map(Value::as_str).collect::<Vec<_>>()))
        .filter(|names| names.iter().all(|name| members.contains_key(*name)))
        .filter_map(|names| names.last().map(|name| (*name).to_owned()))
        .collect()
}

/// A value of the same type that differs.
fn another(item: &Value, number: usize) -> Value {
    match item {
        Value::String(text) => json!(format!("{text}{number}")),
        Value::Number(given) => given.as_i64().map_or_else(|| item.clone(), |given| json!(given + number as i64)),
        _ => item.clone(),
    }
}

/// The node with what its `allOf` demands beside its own keywords.
fn merged(root: &Value, node: &Value) -> Value {
    let Some(parts) = node.get("allOf").and_then(Value::as_array) else { return node.clone() };
    let mut whole = node.clone();
    if let Some(members) = whole.as_object_mut() {
        members.shift_remove("allOf");
    }
    for part in parts {
        add(&mut whole, &merged(root, resolve(root, part)));
    }
    whole
}

fn add(whole: &mut Value, part: &Value) {
    let (Some(whole), Some(part)) = (whole.as_object_mut(), part.as_object()) else { return };
    for (key, value) in part {
        match (whole.get_mut(key), value) {
            (Some(Value::Object(own)), Value::Object(more)) if key == "properties" => {
                for (name, schema) in more {
                    own.entry(name.clone()).and_modify(|own| add(own, schema)).or_insert_with(|| schema.clone());
                }
            }
            (Some(Value::Array(own)), Value::Array(more)) if key == "required" => own.extend(more.iter().cloned()),
            (Some(_), _) => {}
            (None, _) => drop(whole.insert(key.clone(), value.clone())),
        }
    }
}

/// A form of a union together with the keywords that stand beside the union.
fn with_siblings(node: &Value, form: &Value) -> Value {
    let mut beside = node.clone();
    if let Some(members) = beside.as_object_mut() {
        members.retain(|key, _| !matches!(key.as_str(), "anyOf" | "oneOf"));
    }
    let mut whole = form.clone();
    add(&mut whole, &beside);
    whole
}

pub(crate) fn resolve<'a>(root: &'a Value, node: &'a Value) -> &'a Value {
    let pointer = node.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
    pointer.and_then(|pointer| root.pointer(pointer)).unwrap_or(node)
}

pub(crate) fn type_of(node: &Value) -> &str {
    match node.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("null")
        }
        _ if node.get("properties").is_some() => "object",
        _ => "",
    }
}

/// Texts hold what breaks careless encoders: a space, reserved characters, Korean.
fn text(node: &Value, name: &str) -> Value {
    match node.get("format").and_then(Value::as_str) {
        Some("date-time") => return json!("2026-01-02T03:04:05Z"),
        Some("date") => return json!("2026-01-02"),
        Some("uuid") => return json!("67e55044-10b1-426f-9247-bb680e5fe0c8"),
        Some("uri" | "uri-reference") => return json!("https://example.com/a"),
        Some("email") => return json!("a@example.com"),
        _ => {}
    }
    if let Some(found) = node.get("pattern").and_then(Value::as_str).and_then(|pattern| matching(pattern, node)) {
        return json!(found);
    }
    let longest = node.get("maxLength").and_then(Value::as_u64).unwrap_or(64) as usize;
    let shortest = node.get("minLength").and_then(Value::as_u64).unwrap_or_default() as usize;
    let mut text: String = format!("{name} a/b?c&d=한글").chars().take(longest).collect();
    while text.chars().count() < shortest {
        text.push('x');
    }
    json!(text)
}

/// Texts of common kinds; the first that the pattern and the length take is used.
const KNOWN: [&str; 22] = [
    "a",
    "abc",
    "1",
    "12",
    "abc12345",
    "name-a1",
    "a.b",
    "a:b",
    "1.2.3",
    "#aabbcc",
    "10.0.0.0/8",
    "fd00:1:2:3:4:5:6:7/64",
    "fd00::/64",
    "8080",
    "aa:bb:cc:dd:ee:ff",
    "A1B2C3D4",
    "2026-01-02",
    "2026-01-02T03:04:05Z",
    "a@example.com",
    "https://example.com/a",
    "67e55044-10b1-426f-9247-bb680e5fe0c8",
    "{user_question} {content}",
];

fn matching(pattern: &str, node: &Value) -> Option<&'static str> {
    let pattern = fancy_regex::Regex::new(pattern).ok()?;
    let bound = |key: &str| node.get(key).and_then(Value::as_u64).map(|length| length as usize);
    let fits = |text: &str| {
        bound("minLength").is_none_or(|least| text.len() >= least)
            && bound("maxLength").is_none_or(|most| text.len() <= most)
    };
    KNOWN.into_iter().find(|text| fits(text) && pattern.is_match(text).unwrap_or(false))
}

fn number(node: &Value, usual: f64) -> Value {
    let bound = |key: &str| node.get(key).and_then(Value::as_f64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound + 1.0));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|bound| bound - 1.0));
    let mut chosen = usual;
    if let Some(least) = least {
        chosen = chosen.max(least);
    }
    if let Some(most) = most {
        chosen = chosen.min(most);
    }
    if let Some(step) = bound("multipleOf").filter(|step| *step > 0.0) {
        chosen = (chosen / step).ceil() * step;
    }
    if chosen.fract() == 0.0 { json!(chosen as i64) } else { json!(chosen) }
}
