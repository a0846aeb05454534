//! Every `x-toolwright` of a document: known keys, right values, and names that exist.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{EXTENSION, NextPage, OperationExtension, REFUSED, SchemaExtension, read};
use crate::diagnostic::{Diagnostic, Place, Sink};
use crate::load::origin::Origins;
use crate::load::strict::did_you_mean;
use crate::load::tool_file::TOOLS;
use crate::load::walk::{for_each_node, for_each_node_below};
use crate::load::{METHODS, filter};
use crate::source::{child_pointer, pointer_tokens};

/// Checks every `x-toolwright` of a document in its 3.1 form.
pub(in crate::load) fn check_all(document: &mut Value, origins: &Origins, sink: &mut Sink) {
    let mut found = Vec::new();
    let mut look = |node: &mut Value, pointer: &str| {
        for key in node.as_object().into_iter().flat_map(|members| members.keys()) {
            if key == EXTENSION {
                found.push(pointer.to_owned());
            } else if ![REFUSED, TOOLS].contains(&key.as_str()) && is_misspelt(key) {
                sink.push(
                    Diagnostic::error("unknown-key", format!("unknown key `{key}`"))
                        .at(origins.place(&child_pointer(pointer, key)))
                        .help(format!("did you mean `{EXTENSION}`?")),
                );
            }
        }
    };
    for_each_node(document, &mut look);
    // Nothing below a key with `x-` is walked, and so tools of files are walked by themselves.
    for (name, tool) in document.get_mut(TOOLS).and_then(Value::as_object_mut).into_iter().flatten() {
        if let Some(operation) = tool.get_mut("operation") {
            let pointer = child_pointer(&format!("/{TOOLS}"), name);
            for_each_node_below(operation, &format!("{pointer}/operation"), &mut look);
        }
    }
    let check = Check { document, places: &|pointer| origins.place(pointer) };
    for pointer in found {
        check.node(&pointer, sink);
    }
}

/// Whether a key was probably meant to be ours, or has our name. Other keys that start with `x-` belong to others.
fn is_misspelt(key: &str) -> bool {
    let is_of_ours = key.strip_prefix(EXTENSION).is_some_and(|rest| rest.starts_with('-'));
    is_of_ours || (key.starts_with("x-") && strsim::damerau_levenshtein(key, EXTENSION) <= 3)
}

struct Check<'a> {
    document: &'a Value,
    places: &'a dyn Fn(&str) -> Place,
}

/// What a node of a document is.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Operation,
    Schema,
    RequestBody,
    ArrayForm,
    Other,
}

fn kind(pointer: &str) -> Kind {
    let tokens: Vec<String> = pointer_tokens(pointer).collect();
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    match tokens.as_slice() {
        ["paths", _, method] if METHODS.contains(method) => Kind::Operation,
        ["paths", _, "additionalOperations", _] | [TOOLS, _, "operation"] => Kind::Operation,
        ["components", "schemas", _, ..] => Kind::Schema,
        ["components", "requestBodies", _] => Kind::RequestBody,
        ["paths", _, inner @ ..] | ["components", inner @ ..]
            if inner.iter().any(|token| matches!(*token, "schema" | "itemSchema")) =>
        {
            Kind::Schema
        }
        ["paths", _, _, "requestBody"] => Kind::RequestBody,
        [.., "parameters" | "encoding", _] => Kind::ArrayForm,
        _ => Kind::Other,
    }
}

impl Check<'_> {
    fn node(&self, pointer: &str, sink: &mut Sink) {
        let own = format!("{pointer}/{EXTENSION}");
        let Some(value) = self.document.pointer(&own) else {
            return;
        };
        match kind(pointer) {
            Kind::Operation => {
                if let Some(extension) = read::operation(value, &own, self.places, sink) {
                    self.operation(pointer, &own, &extension, sink);
                }
            }
            Kind::Schema => {
                if let Some(extension) = read::schema(value, &own, self.places, sink) {
                    self.schema(pointer, &own, &extension, sink);
                }
            }
            Kind::RequestBody => read::request_body(value, &own, self.places, sink),
            Kind::ArrayForm => read::array_form(value, &own, self.places, sink),
            Kind::Other => sink.push(
                Diagnostic::error("misplaced-extension", format!("`{EXTENSION}` has no meaning here"))
                    .at((self.places)(&own))
                    .help("it belongs on operations and schemas"),
            ),
        }
    }

    fn operation(&self, pointer: &str, own: &str, extension: &OperationExtension, sink: &mut Sink) {
        let arguments = self.argument_names(pointer);
        let given = extension.arguments.keys();
        self.names(given, &arguments, &format!("{own}/arguments"), "parameter, form field or body member", sink);
        let fields = self.body_fields(pointer);
        let given = extension.fields.keys();
        self.names(given, &fields, &format!("{own}/fields"), "field of the request body", sink);
        let advertised = extension.advertise.iter().flatten();
        for (index, name) in advertised.enumerate() {
            let place = format!("{own}/advertise/{index}");
            self.name(name, &fields, &place, "field of the request body", sink);
        }
        self.pages(&arguments, own, extension, sink);
        self.projection(own, extension, sink);
        self.body_argument(pointer, own, extension, sink);
        self.placeholders(pointer, own, extension, sink);
    }

    /// Pages are asked for with arguments that exist.
    fn pages(&self, known: &BTreeSet<String>, own: &str, extension: &OperationExtension, sink: &mut Sink) {
        let Some(paginate) = &extension.paginate else { return };
        let (way, argument, size) = match &paginate.next {
            NextPage::Link => return,
            NextPage::Cursor { argument, .. } => ("cursor", argument, None),
            NextPage::Offset { argument, size } => ("offset", argument, size.as_ref()),
            NextPage::Page { argument, size, .. } => ("page", argument, size.as_ref()),
        };
        let base = format!("{own}/paginate/{way}");
        self.name(argument, known, &format!("{base}/argument"), "parameter or body member", sink);
        if let Some(size) = size {
            self.name(size, known, &format!("{base}/size_argument"), "parameter or body member", sink);
        }
    }

    /// A projection is a filter that compiles: with the crate that runs it.
    fn projection(&self, own: &str, extension: &OperationExtension, sink: &mut Sink) {
        let Some(text) = &extension.project else { return };
        filter::check(text, "project", "the answer", (self.places)(&format!("{own}/project")), sink);
    }

    /// What stands in braces in `path` is a path parameter, or stands in the document's own path.
    fn placeholders(&self, operation: &str, own: &str, extension: &OperationExtension, sink: &mut Sink) {
        let Some(path) = extension.path.as_deref() else { return };
        let declared = pointer_tokens(operation).nth(1).unwrap_or_default();
        let mut known: BTreeSet<String> = placeholders_of(&declared).collect();
        known.extend(self.parameters(operation, |parameter| parameter.get("in").is_some_and(|place| place == "path")));
        for name in placeholders_of(path) {
            self.name(&name, &known, &format!("{own}/path"), "path parameter of this operation", sink);
        }
    }

    /// Only a JSON body is one argument, or flattened; the fields of a form are arguments of their own.
    fn body_argument(&self, operation: &str, own: &str, extension: &OperationExtension, sink: &mut Sink) {
        let (body, _) = self.resolve(format!("{operation}/requestBody"));
        let content = body.and_then(|body| body.get("content")?.as_object());
        if content.is_some_and(|content| content.keys().any(|media| !media.contains("form"))) {
            return;
        }
        let said = [
            ("body", extension.body.is_some()),
            ("argument", extension.argument.is_some()),
            ("body_description", extension.body_description.is_some()),
        ];
        for (key, _) in said.into_iter().filter(|(_, said)| *said) {
            sink.push(
                Diagnostic::error("no-body", format!("`{key}` speaks of a JSON body, and this operation takes none"))
                    .at((self.places)(&format!("{own}/{key}")))
                    .help(format!("remove `{key}`; form fields are described under `arguments`")),
            );
        }
    }

    fn schema(&self, pointer: &str, own: &str, extension: &SchemaExtension, sink: &mut Sink) {
        let mut known = BTreeSet::new();
        self.properties(pointer, &mut known, &mut BTreeSet::new());
        let given = extension.fields.keys();
        self.names(given, &known, &format!("{own}/fields"), "property of this schema", sink);
    }

    fn names<'n>(
        &self,
        given: impl Iterator<Item = &'n String>,
        known: &BTreeSet<String>,
        parent: &str,
        what: &str,
        sink: &mut Sink,
    ) {
        for name in given {
            self.name(name, known, &child_pointer(parent, name), what, sink);
        }
    }

    fn name(&self, name: &str, known: &BTreeSet<String>, pointer: &str, what: &str, sink: &mut Sink) {
        if known.contains(name) {
            return;
        }
        let help = did_you_mean(name, known.iter().map(String::as_str)).unwrap_or_else(|| {
            if known.is_empty() {
                return "there is none".to_owned();
            }
            let all: Vec<&str> = known.iter().map(String::as_str).collect();
            format!("there are: {}", all.join(", "))
        });
        sink.push(
            Diagnostic::error("unknown-name", format!("`{name}` is no {what}")).at((self.places)(pointer)).help(help),
        );
    }

    /// Wire names of the parameters (the path's too), and of the form fields and body members of an operation.
    fn argument_names(&self, operation: &str) -> BTreeSet<String> {
        let mut names = self.parameters(operation, |_| true);
        names.extend(self.body_fields(operation));
        names
    }

    /// Wire names of those parameters of an operation and of its path that are wanted.
    fn parameters(&self, operation: &str, wanted: impl Fn(&Value) -> bool) -> BTreeSet<String> {
        let path = operation.rsplit_once('/').map_or("", |(path, _)| path);
        let path = path.strip_suffix("/additionalOperations").unwrap_or(path);
        let mut names = BTreeSet::new();
        for owner in [path, operation] {
            let list = self.document.pointer(&format!("{owner}/parameters"));
            for index in 0..list.and_then(Value::as_array).map_or(0, Vec::len) {
                let (parameter, _) = self.resolve(format!("{owner}/parameters/{index}"));
                let name = parameter.filter(|parameter| wanted(parameter)).and_then(|it| it.get("name")?.as_str());
                names.extend(name.map(str::to_owned));
            }
        }
        names
    }

    /// Properties of the request body, in every media type.
    fn body_fields(&self, operation: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let (body, pointer) = self.resolve(format!("{operation}/requestBody"));
        let content = body.and_then(|body| body.get("content")?.as_object());
        for media in content.into_iter().flat_map(|content| content.keys()) {
            let schema = format!("{}/schema", child_pointer(&format!("{pointer}/content"), media));
            self.properties(&schema, &mut names, &mut BTreeSet::new());
        }
        names
    }

    /// Property names of a schema, through references and combinations.
    fn properties(&self, pointer: &str, names: &mut BTreeSet<String>, seen: &mut BTreeSet<String>) {
        let (schema, pointer) = self.resolve(pointer.to_owned());
        let Some(schema) = schema.filter(|_| seen.insert(pointer.clone())) else {
            return;
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        names.extend(properties.into_iter().flat_map(|properties| properties.keys().cloned()));
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let branches = schema.get(keyword).and_then(Value::as_array).map_or(0, Vec::len);
            for index in 0..branches {
                self.properties(&format!("{pointer}/{keyword}/{index}"), names, seen);
            }
        }
        if schema.get("items").is_some() {
            self.properties(&format!("{pointer}/items"), names, seen);
        }
    }

    /// Follows `$ref` inside the document; stops at what it cannot follow.
    fn resolve(&self, mut pointer: String) -> (Option<&Value>, String) {
        for _ in 0..32 {
            let node = self.document.pointer(&pointer);
            let reference = node.and_then(|node| node.get("$ref")?.as_str()?.strip_prefix('#'));
            match reference {
                Some(target) => pointer = target.replace("%7B", "{").replace("%7D", "}"),
                None => return (node, pointer),
            }
        }
        (None, pointer)
    }
}

/// Names in braces, in order.
fn placeholders_of(path: &str) -> impl Iterator<Item = String> + '_ {
    path.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Kind, kind};

    #[test]
    fn nodes_are_told_by_where_they_stand() {
        for (pointer, expected) in [
            ("/paths/~1a/get", Kind::Operation),
            ("/paths/~1a/get/parameters/0", Kind::ArrayForm),
            ("/paths/~1a/get/parameters/0/schema", Kind::Schema),
            ("/paths/~1a/post/requestBody", Kind::RequestBody),
            ("/paths/~1a/post/requestBody/content/x/encoding/f", Kind::ArrayForm),
            ("/components/schemas/A/properties/encoding/items", Kind::Schema),
            ("/info", Kind::Other),
        ] {
            assert_eq!(kind(pointer), expected, "{pointer}");
        }
    }
}
