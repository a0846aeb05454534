//! Schema profiles: a tool's input schema in the words that a client takes.
//!
//! Some clients refuse a whole list of tools for one keyword in one schema. A profile says less, never more: whatever the
//! full schema takes, the profile's takes too, and calls are checked against the full schema in any case.

use serde_json::{Map, Value, json};

/// What lists show of input schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// JSON Schema 2020-12, as the generator froze it.
    Standard,
    /// Without `$defs` and `$ref`: definitions stand where they are used, and end where they would repeat.
    Inlined,
    /// Inlined, and with few keywords: no unions inside lists or with null, no `const`, `format`, `additionalProperties`,
    /// open bounds, or enumerations of anything but text.
    Plain,
}

/// Schemas are not inlined deeper, nor into more nodes: what is below is an object or a list of anything.
const DEEPEST: usize = 12;
const MOST_NODES: usize = 4_000;

/// The keywords of [`Profile::Plain`].
const PLAIN: [&str; 13] = [
    "anyOf",
    "description",
    "enum",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "properties",
    "required",
    "type",
];

impl Profile {
    /// The profile for a client by the name that it gives itself: those are named that are known to refuse others.
    #[must_use]
    pub fn for_client(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let is = |known: &[&str]| known.iter().any(|known| name.contains(known));
        match () {
            () if is(&["gemini", "vertex", "antigravity"]) => Profile::Plain,
            () if is(&["opencode", "llama", "openai-strict"]) => Profile::Inlined,
            () => Profile::Standard,
        }
    }

    /// The schema in this profile.
    #[must_use]
    pub fn apply(self, schema: &Map<String, Value>) -> Map<String, Value> {
        if self == Profile::Standard {
            return schema.clone();
        }
        let definitions = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
        let mut writer =
            Writer { definitions: &definitions, plain: self == Profile::Plain, open: Vec::new(), nodes: 0 };
        let mut root = schema.clone();
        root.shift_remove("$defs");
        match writer.node(&Value::Object(root), 0) {
            Value::Object(mut written) => {
                // Clients want an object with properties, even where there are none.
                written.entry("type").or_insert_with(|| "object".into());
                written.entry("properties").or_insert_with(|| json!({}));
                written
            }
            _ => schema.clone(),
        }
    }
}

struct Writer<'a> {
    definitions: &'a Map<String, Value>,
    plain: bool,
    /// Definitions that are being written.
    open: Vec<String>,
    nodes: usize,
}

impl Writer<'_> {
    fn node(&mut self, schema: &Value, depth: usize) -> Value {
        self.nodes += 1;
        let Some(schema) = schema.as_object() else { return if self.plain { json!({}) } else { schema.clone() } };
        if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix("#/$defs/")) {
            return self.reference(&name.replace("~1", "/").replace("~0", "~"), schema, depth);
        }
        if depth > DEEPEST || self.nodes > MOST_NODES {
            return shallow(schema);
        }
        let mut written = Map::new();
        for (keyword, value) in schema {
            let value = match (keyword.as_str(), value) {
                ("properties" | "patternProperties" | "dependentSchemas", Value::Object(members)) => {
                    let members = members.iter().map(|(name, member)| (name.clone(), self.node(member, depth + 1)));
                    Value::Object(members.collect())
                }
                ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(members)) => {
                    members.iter().map(|member| self.node(member, depth + 1)).collect()
                }
                (
                    "items" | "additionalProperties" | "not" | "contains" | "propertyNames" | "if" | "then" | "else",
                    inner,
                ) if inner.is_object() => self.node(inner, depth + 1),
                (_, value) => value.clone(),
            };
            written.insert(keyword.clone(), value);
        }
        if self.plain {
            plain(&mut written);
        }
        Value::Object(written)
    }

    fn reference(&mut self, name: &str, schema: &Map<String, Value>, depth: usize) -> Value {
        let Some(definition) = self.definitions.get(name) else { return json!({}) };
        if self.open.iter().any(|open| open == name) || depth > DEEPEST || self.nodes > MOST_NODES {
            return definition.as_object().map_or_else(|| json!({}), shallow);
        }
        self.open.push(name.to_owned());
        let mut written = self.node(definition, depth + 1);
        self.open.pop();
        // What stands beside a reference says more about this place than the definition does.
        let mut beside = schema.clone();
        beside.shift_remove("$ref");
        if let (Some(written), Value::Object(beside)) =
            (written.as_object_mut(), self.node(&Value::Object(beside), depth + 1))
        {
            written.extend(beside);
        }
        written
    }
}

/// A schema without what is below it.
fn shallow(schema: &Map<String, Value>) -> Value {
    let kept = schema.iter().filter(|(keyword, _)| matches!(keyword.as_str(), "type" | "description"));
    let mut written: Map<String, Value> = kept.map(|(keyword, value)| (keyword.clone(), value.clone())).collect();
    if let Some(Value::Array(types)) = written.get("type") {
        match one_type(types) {
            Some(only) => written.insert("type".to_owned(), only),
            None => written.shift_remove("type"),
        };
    }
    Value::Object(written)
}

/// Rewrites one node whose children are written already.
fn plain(node: &mut Map<String, Value>) {
    unite(node);
    if let Some(Value::Array(types)) = node.get("type") {
        match one_type(types) {
            Some(only) => node.insert("type".to_owned(), only),
            None => node.shift_remove("type"),
        };
    }
    if let Some(constant) = node.shift_remove("const") {
        node.entry("enum").or_insert_with(|| json!([constant]));
    }
    enumeration(node);
    tuple(node);
    if let Some(Value::Object(items)) = node.get_mut("items") {
        items.shift_remove("anyOf");
    }
    node.retain(|keyword, _| PLAIN.contains(&keyword.as_str()));
    if node.contains_key("properties") && !node.contains_key("anyOf") {
        node.entry("type").or_insert_with(|| "object".into());
    }
}

/// A tuple is a list of what all of its items are, the further ones too, and of anything where they differ.
fn tuple(node: &mut Map<String, Value>) {
    let forms = node.shift_remove("prefixItems");
    if forms.is_none() && !node.get("items").is_some_and(Value::is_boolean) {
        return;
    }
    let rest = node.shift_remove("items");
    let Some(Value::Array(mut forms)) = forms else { return };
    if rest != Some(Value::Bool(false)) {
        forms.push(rest.filter(Value::is_object).unwrap_or_else(|| json!({})));
    }
    let same = forms.windows(2).all(|pair| pair.first() == pair.last());
    let item = forms.first().filter(|_| same).cloned().unwrap_or_else(|| json!({}));
    node.insert("items".to_owned(), item);
}

/// One type beside null is that type; several are none.
fn one_type(types: &[Value]) -> Option<Value> {
    let mut named = types.iter().filter(|name| *name != "null");
    let first = named.next()?;
    named.next().is_none().then(|| first.clone())
}

/// `allOf` becomes part of its node. A union loses null, and is its node where one form is left.
fn unite(node: &mut Map<String, Value>) {
    if let Some(Value::Array(parts)) = node.shift_remove("allOf") {
        parts.iter().filter_map(Value::as_object).for_each(|part| add(node, part));
    }
    for keyword in ["oneOf", "anyOf"] {
        let Some(Value::Array(mut forms)) = node.shift_remove(keyword) else { continue };
        forms.retain(|form| form.get("type").is_none_or(|name| name != "null"));
        let texts = forms.iter().map(|form| form.get("enum").and_then(Value::as_array));
        let texts: Option<Vec<&Vec<Value>>> = texts.collect();
        match (forms.as_slice(), texts) {
            ([], _) => {}
            ([Value::Object(only)], _) => add(node, &only.clone()),
            (_, Some(lists)) => {
                let all: Vec<Value> = lists.into_iter().flatten().cloned().collect();
                node.entry("enum").or_insert(all.into());
            }
            // A second union beside the first would need both at once: the first alone says less.
            _ => drop(node.entry("anyOf").or_insert(forms.into())),
        }
    }
}

/// Adds what another schema says of the same value.
fn add(node: &mut Map<String, Value>, part: &Map<String, Value>) {
    for (keyword, value) in part {
        match (node.get_mut(keyword), value) {
            (Some(Value::Object(own)), Value::Object(more)) if keyword == "properties" => {
                for (name, schema) in more {
                    own.entry(name.clone()).or_insert_with(|| schema.clone());
                }
            }
            (Some(Value::Array(own)), Value::Array(more)) if keyword == "required" => {
                let missing: Vec<Value> = more.iter().filter(|name| !own.contains(name)).cloned().collect();
                own.extend(missing);
            }
            (Some(_), _) => {}
            (None, _) => drop(node.insert(keyword.clone(), value.clone())),
        }
    }
}

/// An enumeration of text stays; another one is told in the description.
fn enumeration(node: &mut Map<String, Value>) {
    let Some(Value::Array(values)) = node.get_mut("enum") else { return };
    values.retain(|value| !value.is_null());
    if values.iter().all(Value::is_string) && !values.is_empty() {
        node.entry("type").or_insert_with(|| "string".into());
        return;
    }
    let told: Vec<String> = values.iter().map(Value::to_string).collect();
    node.shift_remove("enum");
    if !told.is_empty() {
        let text = node.get("description").and_then(Value::as_str).unwrap_or_default();
        let text = format!("{text} One of {}.", told.join(", "));
        node.insert("description".to_owned(), text.trim().into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(profile: Profile, schema: Value) -> Value {
        Value::Object(profile.apply(schema.as_object().unwrap()))
    }

    fn property(profile: Profile, schema: Value) -> Value {
        let root = json!({"type": "object", "properties": {"a": schema}});
        applied(profile, root)["properties"]["a"].clone()
    }

    #[test]
    fn clients_that_are_known_to_refuse_keywords_have_their_profile_by_name() {
        let clients = [
            ("gemini-cli-mcp-client", Profile::Plain),
            ("Gemini-CLI", Profile::Plain),
            ("opencode", Profile::Inlined),
            ("claude-code", Profile::Standard),
            ("", Profile::Standard),
        ];
        for (name, profile) in clients {
            assert_eq!(Profile::for_client(name), profile, "{name}");
        }
    }

    #[test]
    fn the_standard_profile_changes_nothing() {
        let schema = json!({"type": "object", "properties": {"a": {"const": 1}}, "$defs": {}});
        assert_eq!(applied(Profile::Standard, schema.clone()), schema);
    }

    #[test]
    fn definitions_stand_where_they_are_used_and_end_where_they_repeat() {
        let schema = json!({
            "type": "object",
            "properties": {"tree": {"$ref": "#/$defs/Node", "description": "The root."}},
            "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "size": {"type": "integer"}}}},
        });
        let expected = json!({
            "type": "object",
            "properties": {"tree": {
                "type": "object",
                "properties": {"next": {"type": "object"}, "size": {"type": "integer"}},
                "description": "The root.",
            }},
        });
        assert_eq!(applied(Profile::Inlined, schema), expected);
    }

    #[test]
    fn null_is_left_out_of_unions_and_types() {
        for schema in [
            json!({"type": ["string", "null"]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"oneOf": [{"type": "null"}, {"type": "string"}]}),
        ] {
            assert_eq!(property(Profile::Plain, schema), json!({"type": "string"}));
        }
        assert_eq!(property(Profile::Plain, json!({"type": ["string", "integer"]})), json!({}));
    }

    #[test]
    fn values_that_are_no_text_are_told_in_words() {
        let schema = json!({"type": "integer", "enum": [1, 2], "description": "Size."});
        assert_eq!(property(Profile::Plain, schema), json!({"type": "integer", "description": "Size. One of 1, 2."}));
        assert_eq!(property(Profile::Plain, json!({"const": "x"})), json!({"enum": ["x"], "type": "string"}));
        let constants = json!({"anyOf": [{"const": "x"}, {"const": "y"}]});
        assert_eq!(property(Profile::Plain, constants), json!({"enum": ["x", "y"], "type": "string"}));
    }

    #[test]
    fn composed_objects_are_one_object() {
        let schema = json!({
            "allOf": [
                {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
                {"properties": {"c": {"type": "string"}}, "required": ["c"]},
            ],
        });
        let expected = json!({
            "type": "object",
            "properties": {"b": {"type": "string"}, "c": {"type": "string"}},
            "required": ["b", "c"],
        });
        assert_eq!(property(Profile::Plain, schema), expected);
    }

    #[test]
    fn no_keyword_is_left_that_strict_clients_refuse() {
        let schema = json!({
            "type": "array", "uniqueItems": true, "format": "x", "default": [],
            "items": {"anyOf": [{"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}}, {"type": "object", "additionalProperties": false}]},
        });
        assert_eq!(property(Profile::Plain, schema), json!({"type": "array", "items": {}}));
    }

    #[test]
    fn what_stands_beside_a_reference_is_in_the_words_of_the_profile_too() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A", "default": {}, "properties": {"b": {"$ref": "#/$defs/B"}}}},
            "$defs": {"A": {"type": "object"}, "B": {"type": "string"}},
        });
        let plain = json!({"type": "object", "properties": {"b": {"type": "string"}}});
        assert_eq!(applied(Profile::Plain, schema.clone())["properties"]["a"], plain);
        let inlined = json!({"type": "object", "default": {}, "properties": {"b": {"type": "string"}}});
        assert_eq!(applied(Profile::Inlined, schema)["properties"]["a"], inlined);
    }

    #[test]
    fn a_tuple_is_a_list_that_takes_what_the_tuple_takes() {
        let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
        for (first, rest, wanted) in [
            (json!([text, number]), json!(false), json!({})),
            (json!([number, number]), json!(false), number.clone()),
            (json!([number]), number.clone(), number.clone()),
            (json!([number]), text.clone(), json!({})),
            (json!([number]), json!(true), json!({})),
        ] {
            let schema = json!({"type": "array", "prefixItems": first, "items": rest});
            assert_eq!(property(Profile::Plain, schema), json!({"type": "array", "items": wanted}), "{first} {rest}");
        }
        assert_eq!(property(Profile::Plain, json!({"type": "array", "items": false})), json!({"type": "array"}));
    }

    #[test]
    fn a_schema_that_would_grow_without_end_is_cut() {
        let twice = |name: &str| json!({"type": "object", "properties": {"a": {"$ref": format!("#/$defs/{name}")}, "b": {"$ref": format!("#/$defs/{name}")}}});
        let mut definitions = Map::new();
        for level in 0..40 {
            definitions.insert(format!("L{level}"), twice(&format!("L{}", level + 1)));
        }
        let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/L0"}}, "$defs": definitions});
        assert!(applied(Profile::Inlined, schema).to_string().len() < 1_000_000);
    }
}
