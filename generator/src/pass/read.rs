//! Reads operations: paths, parameters, bodies, answers. Schemas stay unread until `lower`.
//!
//! openapiv3 types say what a node means, one node at a time, so that a bad node costs only itself.

use openapiv3::{Parameter as Node, PathStyle, QueryStyle};
use serde_json::{Map, Value, json};

use std::collections::VecDeque;

use super::join;
use crate::access;
use crate::diagnostic::{Diagnostic, Sink};
use crate::ledger::{Outcome, Part, Rule};
use crate::load::Document;
use crate::load::extension::{self, CollectionFormat};
use crate::model::Model;
use crate::model::operation::{BodyKind, Location, Operation, Parameter, Response, Style};
use crate::model::schema::Schema;

mod body;

/// Methods of a path item (OpenAPI 3.1 section 4.8.9, and `query` of 3.2).
pub(super) const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

pub(super) fn read(model: &mut Model, sink: &mut Sink) {
    let document = &model.loaded.document;
    let Some(Value::Object(paths)) = document.value.get("paths") else { return };
    let mut sorted: Vec<&String> = paths.keys().filter(|path| path.starts_with('/')).collect();
    sorted.sort();
    for path in sorted {
        let pointer = join("/paths", path);
        model.ledger.record(Part::Path, &pointer, Outcome::Mapped);
        for (method, pointer) in operations_of(document.get(&pointer), &pointer) {
            let operation = Reader { model, sink }.operation(path, &method, &pointer);
            let refused = operation.extension.refused.is_some();
            model.ledger.record(Part::Operation, &pointer, if refused { Outcome::Refused } else { Outcome::Mapped });
            model.operations.push(operation);
        }
    }
    credentials(model);
}

/// Method tokens and pointers of a path item's operations, `additionalOperations` of 3.2 included.
fn operations_of(item: Option<&Value>, pointer: &str) -> Vec<(String, String)> {
    let Some(Value::Object(item)) = item else { return Vec::new() };
    let mut found: Vec<(String, String)> = METHODS
        .iter()
        .filter(|method| item.contains_key(**method))
        .map(|method| (method.to_uppercase(), join(pointer, method)))
        .collect();
    if let Some(Value::Object(more)) = item.get("additionalOperations") {
        let base = join(pointer, "additionalOperations");
        found.extend(more.keys().map(|method| (method.clone(), join(&base, method))));
    }
    found
}

/// Credentials are settings of the server.
fn credentials(model: &mut Model) {
    let pointer = "/components/securitySchemes";
    if let Some(Value::Object(schemes)) = model.loaded.document.get(pointer) {
        for name in schemes.keys() {
            let outcome = Outcome::Dropped(Rule::CredentialsAreSettings);
            model.ledger.record(Part::SecurityScheme, join(pointer, name), outcome);
        }
    }
}

/// The path item of an operation.
fn path_item(operation: &str) -> String {
    operation.split('/').take(3).collect::<Vec<_>>().join("/")
}

struct Reader<'r, 'm> {
    model: &'r mut Model<'m>,
    sink: &'r mut Sink,
}

impl Reader<'_, '_> {
    fn operation(&mut self, path: &str, method: &str, pointer: &str) -> Operation {
        let document = &self.model.loaded.document;
        let node = document.get(pointer).unwrap_or(&Value::Null);
        let text = |key: &str| node.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut extension = extension::operation(document, pointer);
        let (summary, description, operation_id) = (text("summary"), text("description"), text("operationId"));
        let mut bodies = match self.bodies(pointer) {
            Some(bodies) => bodies,
            None => {
                extension.refused = Some("its body cannot be read".to_owned());
                VecDeque::new()
            }
        };
        let document = &self.model.loaded.document;
        let node = document.get(pointer).unwrap_or(&Value::Null);
        Operation {
            origin: pointer.to_owned(),
            method: method.to_owned(),
            path: path.to_owned(),
            operation_id,
            summary,
            description,
            tags: strings(node.get("tags")),
            parameters: self.parameters(pointer),
            body: bodies.pop_front(),
            other_bodies: bodies.into(),
            security: access::security_of(&self.model.loaded, pointer),
            server: access::server_of(document, path_item(pointer).as_str(), pointer),
            responses: self.responses(pointer),
            extension,
        }
    }

    /// The operation's parameters, then those that it inherits from its path item (OpenAPI 3.1 section 4.8.10.1).
    fn parameters(&mut self, operation: &str) -> Vec<Parameter> {
        let item = path_item(operation);
        let mut found: Vec<Parameter> = Vec::new();
        for base in [join(operation, "parameters"), join(&item, "parameters")] {
            let count = self.model.loaded.document.get(&base).and_then(Value::as_array).map_or(0, Vec::len);
            for index in 0..count {
                let Some(parameter) = self.parameter(&format!("{base}/{index}")) else { continue };
                let known =
                    found.iter().any(|p| p.wire_name == parameter.wire_name && p.location == parameter.location);
                if known {
                    let pointer = format!("{base}/{index}");
                    self.model.ledger.drop_mapped(Part::Parameter, &pointer, Rule::Overridden);
                } else {
                    found.push(parameter);
                }
            }
        }
        found
    }

    fn parameter(&mut self, pointer: &str) -> Option<Parameter> {
        let (origin, node) = self.follow(pointer)?;
        let node = &self.with_fitting_style(node, &origin);
        let parsed = match parameter_node(node) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.refuse(
                    Part::Parameter,
                    pointer,
                    &origin,
                    "bad-parameter",
                    format!("this parameter cannot be read: {error}"),
                );
                return None;
            }
        };
        let (location, style) = location_and_style(&parsed);
        let data = parsed.parameter_data();
        if let Some(rule) = left_out(&data.name, location) {
            self.model.ledger.record(Part::Parameter, pointer, Outcome::Dropped(rule));
            if rule == Rule::EmptyName {
                let message = "a parameter without a name cannot be an argument and was left out";
                self.sink
                    .push(Diagnostic::warning("empty-name", message).at(self.model.loaded.document.place(&origin)));
            }
            return None;
        }
        self.model.ledger.record(Part::Parameter, pointer, Outcome::Mapped);
        let style = collection_style(&self.model.loaded.document, &origin).unwrap_or(style);
        let (style, schema) = match content_schema(node) {
            Some(media_type) => {
                // Text stands as it is; anything else is a JSON value (OpenAPI 3.1 section 4.8.12.2).
                let style = if BodyKind::of(&media_type) == BodyKind::Text { style } else { Style::Json };
                (style, format!("{origin}/content/{}/schema", escape(&media_type)))
            }
            None => (style, join(&origin, "schema")),
        };
        Some(Parameter {
            listed_at: pointer.to_owned(),
            wire_name: data.name,
            location,
            required: data.required || location == Location::Path,
            style,
            explode: data.explode.unwrap_or(style == Style::Form),
            description: data.description,
            schema: Schema::unread(schema),
            origin,
        })
    }

    /// The parameter without a style that its place does not know: the default of the place is used, with a warning.
    fn with_fitting_style(&mut self, mut node: Value, origin: &str) -> Value {
        let place = node.get("in").and_then(Value::as_str).unwrap_or_default();
        let known: &[&str] = match place {
            "path" => &["simple", "label", "matrix"],
            "query" => &["form", "spaceDelimited", "pipeDelimited", "deepObject"],
            "header" => &["simple"],
            "cookie" => &["form"],
            _ => return node,
        };
        let Some(style) = node.get("style").filter(|style| !style.as_str().is_some_and(|s| known.contains(&s))) else {
            return node;
        };
        // `cookie` of OpenAPI 3.2 is `form` with the separators of cookies, which is how cookies are written anyway.
        if !(place == "cookie" && style == "cookie") {
            let message = format!("a parameter in {place} has no style {style}; the default was used");
            let at = self.model.loaded.document.place(origin);
            let help = format!("write one of: {}", known.join(", "));
            self.sink.push(Diagnostic::warning("style-of-place", message).at(at).help(help));
        }
        if let Value::Object(members) = &mut node {
            members.shift_remove("style");
        }
        node
    }

    fn responses(&mut self, operation: &str) -> Vec<Response> {
        let base = join(operation, "responses");
        let document = &self.model.loaded.document;
        let Some(Value::Object(responses)) = document.get(&base) else { return Vec::new() };
        let mut statuses: Vec<String> = responses.keys().filter(|s| !s.starts_with("x-")).cloned().collect();
        statuses.sort_by_key(|status| (!status.starts_with('2'), status.clone()));
        let mut found = Vec::new();
        for status in statuses {
            let pointer = join(&base, &status);
            let Some((origin, node)) = self.follow(&pointer) else { continue };
            let outcome = if status.starts_with('2') { Outcome::Mapped } else { Outcome::Dropped(Rule::ErrorAnswer) };
            self.model.ledger.record(Part::Response, &pointer, outcome);
            let contents = contents_of(&node, &origin);
            found.push(Response { status, contents });
        }
        found
    }

    /// The node at a pointer, through `$ref`, with the pointer that it really has.
    fn follow(&mut self, pointer: &str) -> Option<(String, Value)> {
        let document = &self.model.loaded.document;
        let mut at = pointer.to_owned();
        for _ in 0..16 {
            let node = document.get(&at)?;
            let Some(reference) = node.get("$ref").and_then(Value::as_str) else {
                return Some((at, node.clone()));
            };
            match reference.strip_prefix('#').map(super::lower::percent_decoded) {
                Some(target) if document.get(&target).is_some() => at = target,
                _ => break,
            }
        }
        let message = "this `$ref` leads nowhere";
        self.sink.push(
            Diagnostic::warning("dangling-reference", message)
                .at(document.place(&at))
                .help("point it at a node of this document, such as `#/components/parameters/Name`"),
        );
        None
    }

    fn refuse(&mut self, part: Part, pointer: &str, origin: &str, code: &'static str, message: String) {
        self.model.ledger.record(part, pointer, Outcome::Refused);
        self.sink.push(Diagnostic::warning(code, message).at(self.model.loaded.document.place(origin)));
    }
}

/// Reads one parameter with openapiv3, after taking off what 3.0 does not know. The schema is read elsewhere.
fn parameter_node(node: &Value) -> Result<Node, serde_json::Error> {
    let mut kept = Map::new();
    for key in ["name", "in", "description", "required", "style", "explode"] {
        if let Some(value) = node.get(key) {
            kept.insert(key.to_owned(), value.clone());
        }
    }
    kept.insert("schema".to_owned(), json!({}));
    serde_json::from_value(Value::Object(kept))
}

fn location_and_style(parameter: &Node) -> (Location, Style) {
    match parameter {
        Node::Path { style, .. } => {
            let style = match style {
                PathStyle::Matrix => Style::Matrix,
                PathStyle::Label => Style::Label,
                PathStyle::Simple => Style::Simple,
            };
            (Location::Path, style)
        }
        Node::Query { style, .. } => (Location::Query, query_style(style)),
        Node::Header { .. } => (Location::Header, Style::Simple),
        Node::Cookie { .. } => (Location::Cookie, Style::Form),
    }
}

fn query_style(style: &QueryStyle) -> Style {
    match style {
        QueryStyle::Form => Style::Form,
        QueryStyle::SpaceDelimited => Style::Spaces,
        QueryStyle::PipeDelimited => Style::Pipes,
        QueryStyle::DeepObject => Style::Deep,
    }
}

fn left_out(name: &str, location: Location) -> Option<Rule> {
    // The first three by OpenAPI 3.1 section 4.8.12.2, the others because they carry credentials, route or frame.
    const RESERVED: [&str; 14] = [
        "accept",
        "content-type",
        "authorization",
        "proxy-authorization",
        "cookie",
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "upgrade",
        "te",
        "trailer",
        "keep-alive",
        "expect",
    ];
    if name.is_empty() {
        return Some(Rule::EmptyName);
    }
    let reserved = location == Location::Header && RESERVED.contains(&name.to_ascii_lowercase().as_str());
    reserved.then_some(Rule::ReservedHeader)
}

/// Array forms of Swagger 2.0 that OpenAPI 3 cannot say.
fn collection_style(document: &Document, pointer: &str) -> Option<Style> {
    Some(match extension::collection_format(document, pointer)? {
        CollectionFormat::Ssv => Style::Spaces,
        CollectionFormat::Tsv => Style::Tabs,
        CollectionFormat::Pipes => Style::Pipes,
    })
}

/// The media type of a `content` parameter.
fn content_schema(node: &Value) -> Option<String> {
    node.get("content").and_then(Value::as_object).and_then(|content| content.keys().next()).cloned()
}

fn contents_of(node: &Value, origin: &str) -> Vec<(String, Option<Schema>)> {
    let Some(Value::Object(content)) = node.get("content") else { return Vec::new() };
    let base = join(origin, "content");
    content
        .iter()
        .map(|(media_type, form)| {
            let at = join(&base, media_type);
            let key = ["schema", "itemSchema"].into_iter().find(|key| form.get(key).is_some());
            (media_type.clone(), key.map(|key| Schema::unread(join(&at, key))))
        })
        .collect()
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}
