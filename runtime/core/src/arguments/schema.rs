//! A place in a schema, with its document for `$ref`.

use serde_json::{Map, Value};

/// How many `$ref` hops are followed before giving up: the generator never emits a chain this long.
const MOST_HOPS: usize = 16;

/// A schema node and the root that its references resolve against.
#[derive(Clone, Copy)]
pub(crate) struct Schema<'a> {
    root: &'a Value,
    node: &'a Value,
}

impl<'a> Schema<'a> {
    pub(crate) fn root(root: &'a Value) -> Self {
        Schema { root, node: root }.resolved()
    }

    fn at(self, node: &'a Value) -> Self {
        Schema { root: self.root, node }.resolved()
    }

    fn resolved(mut self) -> Self {
        for _ in 0..MOST_HOPS {
            let Some(pointer) = self.node.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'))
            else {
                break;
            };
            match self.root.pointer(pointer) {
                Some(node) => self.node = node,
                None => break,
            }
        }
        self
    }

    fn properties(self) -> Option<&'a Map<String, Value>> {
        self.node.get("properties")?.as_object()
    }

    /// Names of the declared properties.
    pub(crate) fn property_names(self) -> impl Iterator<Item = &'a str> {
        self.properties().into_iter().flat_map(|properties| properties.keys().map(String::as_str))
    }

    /// The schema of a declared property.
    pub(crate) fn property(self, name: &str) -> Option<Schema<'a>> {
        self.properties()?.get(name).map(|node| self.at(node))
    }

    /// The schema of a member: declared, or what `additionalProperties` says.
    pub(crate) fn member(self, name: &str) -> Option<Schema<'a>> {
        self.property(name).or_else(|| self.node.get("additionalProperties").map(|node| self.at(node)))
    }

    /// The schema of the items.
    pub(crate) fn items(self) -> Option<Schema<'a>> {
        self.node.get("items").map(|node| self.at(node))
    }

    /// The schemas that `anyOf`, `oneOf` and `allOf` join.
    pub(crate) fn branches(self) -> impl Iterator<Item = Schema<'a>> {
        let joined = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(move |key| self.node.get(key)?.as_array());
        joined.flatten().map(move |node| self.at(node))
    }

    /// The schemas that `allOf` joins.
    pub(crate) fn parts(self) -> impl Iterator<Item = Schema<'a>> {
        self.node.get("allOf").and_then(Value::as_array).into_iter().flatten().map(move |node| self.at(node))
    }

    /// The schemas in the list at `location`, a JSON pointer into the whole document.
    pub(crate) fn list_at(self, location: &str) -> Vec<Schema<'a>> {
        let list = self.root.pointer(location).and_then(Value::as_array);
        list.into_iter().flatten().map(|node| self.at(node)).collect()
    }

    /// The schema that has the keyword at `location`, a JSON pointer into the whole document.
    pub(crate) fn around(self, location: &str) -> Option<Schema<'a>> {
        let (parent, _) = location.rsplit_once('/')?;
        self.root.pointer(parent).map(|node| self.at(node))
    }

    /// True where the schema asks for an integer, itself or in one branch, and takes no other number.
    pub(crate) fn says_integer(self) -> bool {
        let says = |schema: Schema<'_>, name: &str| schema.types().contains(&name);
        match says(self, "number") {
            true => false,
            false if says(self, "integer") => true,
            false => {
                self.branches().any(|branch| says(branch, "integer"))
                    && !self.branches().any(|branch| says(branch, "number"))
            }
        }
    }

    /// A keyword of the schema itself.
    pub(crate) fn keyword(self, name: &str) -> Option<&'a Value> {
        self.node.get(name)
    }

    pub(crate) fn default(self) -> Option<&'a Value> {
        self.node.get("default")
    }

    pub(crate) fn requires(self, name: &str) -> bool {
        let required = self.node.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|required| required == name))
    }

    /// True where unknown members are neither forbidden nor described: an object that the document left open.
    pub(crate) fn is_open_object(self) -> bool {
        self.properties().is_some_and(|properties| !properties.is_empty())
            && self.node.get("additionalProperties").is_none_or(|value| value == &Value::Bool(true))
            && !["patternProperties", "anyOf", "oneOf", "allOf"].iter().any(|key| self.node.get(key).is_some())
    }

    /// The types that the schema allows, where it says so in plain words.
    pub(crate) fn types(self) -> Vec<&'a str> {
        match self.node.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn has_enum(self) -> bool {
        self.node.get("enum").is_some() || self.node.get("const").is_some()
    }

    /// The schema that holds the value at `pointer`.
    pub(crate) fn descend(self, pointer: &str) -> Option<Schema<'a>> {
        pointer.split('/').skip(1).map(super::unescape).try_fold(self, |schema, segment| {
            schema.member(&segment).or_else(|| segment.parse::<usize>().ok().and_then(|_| schema.items()))
        })
    }
}
