//! Reads operations: paths, parameters, bodies, answers. Schemas stay unread until `lower`.
//!
//! openapiv3 types say what a node means, one node at a time, so that a bad node costs only itself.

use std::collections::VecDeque;

use openapiv3::{Parameter as Node, PathStyle, QueryStyle};
use serde_json::{Map, Value, json};

use super::join;
use crate::access::{self, Access, SCHEMES, Servers};
use crate::diagnostic::{Diagnostic, Sink};
use crate::invisible::visible;
use crate::ledger::{Outcome, Part, Rule};
use crate::load::extension::{self, CollectionFormat};
use crate::load::tool_file::TOOLS;
use crate::load::{Document, METHODS, did_you_mean, percent_decoded};
use crate::model::Model;
use crate::model::operation::{BodyKind, Executor, LINKED, Linked, Location, Operation, Parameter, Response, Style};
use crate::model::schema::Schema;

mod body;
mod parts;
mod switches;

/// Members of a path item beside its methods (OpenAPI 3.2 section 4.9).
const ITEM_KEYS: [&str; 6] = ["$ref", "summary", "description", "servers", "parameters", "additionalOperations"];

pub(super) fn read(model: &mut Model, sink: &mut Sink) {
    let loaded = model.loaded;
    if let Some(Value::Object(paths)) = loaded.document.value.get("paths") {
        let mut sorted: Vec<&String> = paths.keys().filter(|path| !path.starts_with("x-")).collect();
        sorted.sort();
        let servers = Servers::of(&loaded.document);
        for path in sorted {
            Reader { model, sink, servers: &servers }.path(path);
        }
    }
    if let Some(Value::Object(tools)) = loaded.document.get(&format!("/{TOOLS}")) {
        let servers = Servers::of(&loaded.document);
        for name in tools.keys() {
            Reader { model, sink, servers: &servers }.tool_of_file(name);
        }
    }
    if model.operations.is_empty() && !loaded.config.document.is_empty() {
        let message = "the document has no operation, so there is no tool";
        let place = loaded.document.place("/paths");
        sink.push(Diagnostic::warning("no-operations", message).at(place).help("add operations below `paths:`"));
    }
    credentials(model, sink);
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

/// Security schemes become settings of the server, unless `server.yaml` says how to authenticate.
fn credentials(model: &mut Model, sink: &mut Sink) {
    let loaded = model.loaded;
    let mut access = Access::of(&loaded.document, &loaded.config);
    std::mem::take(&mut access.findings).into_iter().for_each(|finding| sink.push(finding));
    let Some(Value::Object(schemes)) = loaded.document.get(SCHEMES) else { return };
    for name in schemes.keys() {
        let at = join(SCHEMES, name);
        let outcome = if loaded.config.upstream.auth.is_some() {
            Outcome::Dropped(Rule::CredentialsAreSettings)
        } else if access.schemes.iter().any(|(known, _)| known == name) {
            Outcome::Mapped
        } else if access.refused.contains(name) {
            Outcome::Refused
        } else {
            let message = format!("the security scheme `{name}` is of no known kind, and nothing is sent for it");
            let help =
                "correct its type in an overlay: apiKey, http (basic or bearer), oauth2, openIdConnect or mutualTLS";
            sink.push(Diagnostic::warning("unknown-scheme", message).at(loaded.document.place(&at)).help(help));
            Outcome::Dropped(Rule::UnknownScheme)
        };
        model.ledger.record(Part::SecurityScheme, at, outcome);
    }
}

/// What a linked executor is to do, where a tool's node says that.
fn linked(node: &Value) -> Option<Linked> {
    LINKED.into_iter().find_map(|executor| Some(Linked::of(executor, node.get(executor)?)))
}

/// The path item of an operation.
fn path_item(operation: &str) -> String {
    operation.split('/').take(3).collect::<Vec<_>>().join("/")
}

struct Reader<'r, 'm> {
    model: &'r mut Model<'m>,
    sink: &'r mut Sink,
    servers: &'r Servers,
}

impl Reader<'_, '_> {
    fn path(&mut self, path: &str) {
        let pointer = join("/paths", path);
        let loaded = self.model.loaded;
        let Some(item) = loaded.document.get(&pointer) else { return };
        let Some(members) = item.as_object().filter(|_| path.starts_with('/')) else {
            let (code, message) = match path.starts_with('/') {
                true => ("bad-path-item", format!("the path item `{path}` is no mapping and was left out")),
                false => ("bad-path", format!("`{path}` is no path and was left out")),
            };
            let help = "a path starts with `/` and holds a mapping of methods to operations";
            return self.refuse(Part::Path, &pointer, Diagnostic::warning(code, message).help(help));
        };
        self.model.ledger.record(Part::Path, &pointer, Outcome::Mapped);
        let is_known = |key: &str| METHODS.contains(&key) || ITEM_KEYS.contains(&key) || key.starts_with("x-");
        for key in members.keys().filter(|key| !is_known(key)) {
            let message = format!("`{key}` is neither a method nor another key of a path item, and was left out");
            let near = did_you_mean(&key.to_lowercase(), METHODS.iter().chain(&ITEM_KEYS).copied());
            let help = near.unwrap_or_else(|| format!("the methods are: {}", METHODS.join(", ")));
            let place = loaded.document.place(&join(&pointer, key));
            self.sink.push(Diagnostic::warning("unknown-method", message).at(place).help(help));
        }
        for (method, pointer) in operations_of(Some(item), &pointer) {
            if !loaded.document.get(&pointer).is_some_and(Value::is_object) {
                let message = format!("the operation {method} {path} is no mapping and was left out");
                let help = "write `{}` for an operation of which nothing is known";
                self.refuse(Part::Operation, &pointer, Diagnostic::warning("bad-operation", message).help(help));
                continue;
            }
            let mut operation = self.operation(path, &method, &pointer);
            if !can_be_sent(&method, &pointer) {
                let message = format!("{method:?} is no method that can be sent, and its operation was left out");
                let help = "a method has letters, digits and `-`, no spaces, and is neither CONNECT nor TRACE";
                let place = loaded.document.place(&pointer);
                self.sink.push(Diagnostic::warning("bad-method", message).at(place).help(help));
                operation.extension.refused = Some("its method cannot be sent".to_owned());
            }
            let refused = operation.extension.refused.is_some();
            let outcome = if refused { Outcome::Refused } else { Outcome::Mapped };
            self.model.ledger.record(Part::Operation, &pointer, outcome);
            self.model.operations.push(operation);
        }
    }

    /// A tool of a file: what it says of its request stands in the same words as an operation's.
    fn tool_of_file(&mut self, name: &str) {
        let item = join(&format!("/{TOOLS}"), name);
        let loaded = self.model.loaded;
        let document = &loaded.document;
        let text = |key: &str| document.get(&join(&item, key)).and_then(Value::as_str).unwrap_or_default();
        let (method, path) = (text("method"), text("path"));
        let executor = match document.get(&item) {
            Some(node) if node.get("native").is_some() => {
                Executor::Native { content: node.pointer("/native/content").and_then(Value::as_bool).unwrap_or(false) }
            }
            Some(node) if node.get("steps").is_some() => Executor::Steps,
            Some(node) => match node.get("expression").and_then(Value::as_str) {
                Some(filter) => Executor::Expression(filter.to_owned()),
                None => linked(node).map_or(Executor::Request, Executor::Linked),
            },
            None => Executor::Request,
        };
        let operation = self.operation(path, method, &join(&item, "operation"));
        self.model.operations.push(Operation { executor, ..operation });
    }

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
        let security = access::security_of(self.model.loaded, pointer, self.sink);
        let document = &self.model.loaded.document;
        let node = document.get(pointer).unwrap_or(&Value::Null);
        Operation {
            origin: pointer.to_owned(),
            method: method.to_owned(),
            path: path.to_owned(),
            executor: Executor::Request,
            operation_id,
            summary,
            description,
            tags: strings(node.get("tags")).iter().map(|tag| visible(tag).into_owned()).collect(),
            parameters: self.parameters(pointer),
            body: bodies.pop_front(),
            other_bodies: bodies.into(),
            security,
            server: self.servers.of_operation(&path_item(pointer), pointer),
            responses: self.responses(pointer),
            extension,
        }
    }

    /// The operation's parameters, then those that it inherits from its path item (OpenAPI 3.1 section 4.8.10.1).
    fn parameters(&mut self, operation: &str) -> Vec<Parameter> {
        let item = path_item(operation);
        let mut found: Vec<Parameter> = Vec::new();
        for base in [join(operation, "parameters"), join(&item, "parameters")] {
            for index in 0..self.list_length(&base) {
                let pointer = format!("{base}/{index}");
                let Some(parameter) = self.parameter(&pointer) else { continue };
                let known =
                    found.iter().find(|p| p.wire_name == parameter.wire_name && p.location == parameter.location);
                match known {
                    None => found.push(parameter),
                    Some(first) => {
                        if first.listed_at.starts_with(&format!("{base}/")) {
                            self.declared_twice(&pointer, &parameter);
                        }
                        self.model.ledger.drop_mapped(Part::Parameter, &pointer, Rule::Overridden);
                    }
                }
            }
        }
        found
    }

    /// How many elements stand at a pointer, where nothing or a list must stand.
    fn list_length(&mut self, pointer: &str) -> usize {
        match self.model.loaded.document.get(pointer) {
            None => 0,
            Some(Value::Array(items)) => items.len(),
            Some(_) => {
                let place = self.model.loaded.document.place(pointer);
                let warning = Diagnostic::warning("bad-parameter", "parameters are a list; these were left out");
                self.sink.push(warning.at(place).help("write `- name: ..` for each"));
                0
            }
        }
    }

    fn declared_twice(&mut self, pointer: &str, parameter: &Parameter) {
        let (name, place) = (&parameter.wire_name, parameter.location.name());
        let message = format!("the {place} parameter `{name}` is declared twice, and the first one was used");
        let warning = Diagnostic::warning("listed-twice", message).at(self.model.loaded.document.place(pointer));
        self.sink.push(warning.help("remove one of the two in an overlay"));
    }

    fn parameter(&mut self, pointer: &str) -> Option<Parameter> {
        let Some((origin, node)) = self.follow(pointer) else {
            self.model.ledger.record(Part::Parameter, pointer, Outcome::Refused);
            return None;
        };
        let node = self.with_fitting_style(node, &origin);
        let node = &self.with_switches(node, &origin);
        let parsed = match parameter_node(node) {
            Ok(parsed) => parsed,
            Err(error) => {
                let message = format!("this parameter cannot be read and was left out: {error}");
                let help = "a parameter has a `name`, an `in` (path, query, header or cookie) and a `schema`";
                let warning = Diagnostic::warning("bad-parameter", message).help(help);
                self.refuse_at(Part::Parameter, pointer, &origin, warning);
                return None;
            }
        };
        let (location, style) = location_and_style(&parsed);
        let style = if node.get("style").is_some_and(is_cookie_style) { Style::Cookie } else { style };
        let data = parsed.parameter_data();
        if let Some(rule) = left_out(&data.name, location) {
            self.model.ledger.record(Part::Parameter, pointer, Outcome::Dropped(rule));
            if rule == Rule::EmptyName {
                let message = "a parameter without a name cannot be an argument and was left out";
                let place = self.model.loaded.document.place(&origin);
                let help = "give it the `name` that it has on the wire, in an overlay";
                self.sink.push(Diagnostic::warning("empty-name", message).at(place).help(help));
            }
            return None;
        }
        if matches!(location, Location::Header | Location::Cookie) && !access::is_token(&data.name) {
            let message =
                format!("no {} can have the name {:?}; the parameter was left out", location.name(), data.name);
            let help = "names of headers and cookies have letters, digits and `-`, no spaces; correct it in an overlay";
            self.refuse_at(Part::Parameter, pointer, &origin, Diagnostic::warning("bad-name", message).help(help));
            return None;
        }
        self.model.ledger.record(Part::Parameter, pointer, Outcome::Mapped);
        let style = collection_style(&self.model.loaded.document, &origin).unwrap_or(style);
        let (style, schema) = match content_schema(node) {
            Some(media_type) => {
                // Text stands as it is; anything else is a JSON value (OpenAPI 3.1 section 4.8.12.2).
                let style = if BodyKind::of(&media_type) == BodyKind::Text { style } else { Style::Json };
                (style, join(&join(&join(&origin, "content"), &media_type), "schema"))
            }
            None => (style, join(&origin, "schema")),
        };
        let reserved = self.allows_reserved(node, &origin, location);
        Some(Parameter {
            listed_at: pointer.to_owned(),
            wire_name: data.name,
            location,
            required: data.required || location == Location::Path,
            style,
            explode: data.explode.unwrap_or(style.explodes()),
            reserved,
            description: data.description,
            schema: Schema::unread(schema),
            origin,
        })
    }

    /// `allowReserved`, which is for queries (OpenAPI 3.1 section 4.8.12.2): elsewhere a reserved character would lead to
    /// another route or end the value, and is always encoded.
    fn allows_reserved(&mut self, node: &Value, origin: &str, location: Location) -> bool {
        let is_said = node.get("allowReserved") == Some(&Value::Bool(true));
        if is_said && location != Location::Query {
            let message = format!("`allowReserved` is for the query, and this parameter is in {}", location.name());
            let place = self.model.loaded.document.place(origin);
            let help = "its values are encoded; remove `allowReserved` in an overlay";
            self.sink.push(Diagnostic::warning("reserved-in-place", message).at(place).help(help));
        }
        is_said && location == Location::Query
    }

    /// The parameter without a style that its place does not know: the default of the place is used, with a warning.
    fn with_fitting_style(&mut self, mut node: Value, origin: &str) -> Value {
        let place = node.get("in").and_then(Value::as_str).unwrap_or_default();
        let known: &[&str] = match place {
            "path" => &["simple", "label", "matrix"],
            "query" => &["form", "spaceDelimited", "pipeDelimited", "deepObject"],
            "header" => &["simple"],
            "cookie" => &["form", "cookie"],
            _ => return node,
        };
        let Some(style) = node.get("style").filter(|style| !style.as_str().is_some_and(|s| known.contains(&s))) else {
            return node;
        };
        let message = format!("a parameter in {place} has no style {style}; the default was used");
        let at = self.model.loaded.document.place(origin);
        let help = format!("write one of: {}", known.join(", "));
        self.sink.push(Diagnostic::warning("style-of-place", message).at(at).help(help));
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
            let Some((origin, node)) = self.follow(&pointer) else {
                self.model.ledger.record(Part::Response, &pointer, Outcome::Refused);
                continue;
            };
            if !is_status(&status) {
                let message = format!("`{status}` is no status, and this answer was left out");
                let help = "a status is a number such as 200, a range such as 2XX, or `default`";
                self.refuse(Part::Response, &pointer, Diagnostic::warning("bad-status", message).help(help));
                continue;
            }
            let outcome = if status.starts_with('2') { Outcome::Mapped } else { Outcome::Dropped(Rule::ErrorAnswer) };
            self.model.ledger.record(Part::Response, &pointer, outcome);
            let mut contents = contents_of(&node, &origin);
            contents
                .retain(|(media_type, _)| self.is_sendable(media_type, &join(&join(&origin, "content"), media_type)));
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
            match reference.strip_prefix('#').map(percent_decoded) {
                Some(target) if document.get(&target).is_some() => at = target,
                _ if document.is_reported(reference) => return None,
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

    fn refuse(&mut self, part: Part, pointer: &str, warning: Diagnostic) {
        self.refuse_at(part, pointer, pointer, warning);
    }

    /// Leaves a part out that is listed at `pointer` and stands at `origin`.
    fn refuse_at(&mut self, part: Part, pointer: &str, origin: &str, warning: Diagnostic) {
        self.model.ledger.record(part, pointer, Outcome::Refused);
        self.sink.push(warning.at(self.model.loaded.document.place(origin)));
    }
}

/// Whether HTTP can carry an operation's method (RFC 9110 section 9.1). CONNECT makes a tunnel and TRACE shows
/// credentials: no description of an API may add them.
fn can_be_sent(method: &str, pointer: &str) -> bool {
    let is_added = pointer.split('/').nth(3) == Some("additionalOperations");
    let is_barred = ["connect", "trace"].iter().any(|barred| method.eq_ignore_ascii_case(barred));
    !is_added || access::is_token(method) && !is_barred
}

/// Keys of a responses object (OpenAPI 3.1 section 4.8.16).
fn is_status(key: &str) -> bool {
    let is_code = |rest: &str| rest.len() == 2 && rest.bytes().all(|b| b.is_ascii_digit());
    let by_class = key.strip_prefix(['1', '2', '3', '4', '5']).is_some_and(|rest| is_code(rest) || rest == "XX");
    by_class || key == "default"
}

/// The style of OpenAPI 3.2 that only cookies have, read in documents of every version: no other meaning is possible.
fn is_cookie_style(style: &Value) -> bool {
    style == "cookie"
}

/// Reads one parameter with openapiv3, after taking off what 3.0 does not know. The schema is read elsewhere.
fn parameter_node(node: &Value) -> Result<Node, serde_json::Error> {
    let mut kept = Map::new();
    for key in ["name", "in", "description", "required", "style", "explode"] {
        if let Some(value) = node.get(key).filter(|value| !(key == "style" && is_cookie_style(value))) {
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
    if name.is_empty() {
        return Some(Rule::EmptyName);
    }
    (location == Location::Header && is_reserved_header(name)).then_some(Rule::ReservedHeader)
}

/// Headers that the server sets itself.
pub(crate) fn is_reserved_header(name: &str) -> bool {
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
    RESERVED.contains(&name.to_ascii_lowercase().as_str())
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

/// Media types of an answer, JSON first: upstreams that can answer in several send what the request names first, and
/// only JSON becomes `data`.
fn contents_of(node: &Value, origin: &str) -> Vec<(String, Option<Schema>)> {
    let Some(Value::Object(content)) = node.get("content") else { return Vec::new() };
    let base = join(origin, "content");
    let form = |(media_type, form): (&String, &Value)| {
        let at = join(&base, media_type);
        let key = ["schema", "itemSchema"].into_iter().find(|key| form.get(key).is_some());
        (media_type.clone(), key.map(|key| Schema::unread(join(&at, key))))
    };
    let mut contents: Vec<_> = content.iter().map(form).collect();
    contents.sort_by_key(|(media_type, _)| BodyKind::of(media_type) != BodyKind::Json);
    contents
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}
