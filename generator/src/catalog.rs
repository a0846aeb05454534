//! `catalog.json`: the frozen list of a server's tools, prompts and resources, for review and diffs.

mod content;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::file_set::FileSet;
use crate::load::extension::{NextPage, Risk, StreamDialect, WebSocketExchange};
use crate::model::Model;
use crate::model::tool::{Argument, Binding, Hidden, HiddenValue, HttpBinding, Pages, Role, Tool};

/// Writes the schemas, the catalog and what its resources hold, and returns the hash over all of it. Provenance is no part of it.
pub(crate) fn emit(model: &Model, package: &str, files: &mut FileSet) -> String {
    let mut hash = Sha256::new();
    for tool in &model.tools {
        for (file, text) in schemas(tool) {
            hash.update(text.as_bytes());
            files.insert(format!("{package}/{file}"), text);
        }
    }
    let config = &model.loaded.config;
    let mut catalog = json!({
        "server": config.server,
        "title": config.title,
        "version": config.version,
        "exposed": model.exposed,
        "health": config.health,
        "tools": model.tools.iter().map(tool).collect::<Vec<_>>(),
    });
    let offered = &model.loaded.content;
    for file in offered.attached() {
        hash.update(&file.bytes);
        files.insert(format!("{package}/{}", file.path), file.bytes.clone());
    }
    let lists: [(&str, Vec<Value>); 2] = [
        ("prompts", offered.prompts.iter().map(content::prompt).collect()),
        ("resources", offered.resources.iter().map(content::resource).collect()),
    ];
    for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        if let Some(members) = catalog.as_object_mut() {
            members.insert(key.to_owned(), list.into());
        }
    }
    let text = pretty(&catalog);
    hash.update(text.as_bytes());
    files.insert(format!("{package}/catalog.json"), text);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Indented JSON with a line end.
pub(crate) fn pretty(value: &Value) -> String {
    // A value has keys of text and no other reason to fail. Formatting by `{:#}` gives the same text in twice the time.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// Files below the package, with what they hold.
fn schemas(tool: &Tool) -> Vec<(String, &str)> {
    let name = &tool.name;
    let mut found = vec![(format!("schemas/{name}.json"), tool.frozen.input.as_str())];
    found.extend(tool.frozen.listed.as_deref().map(|listed| (format!("schemas/{name}.listed.json"), listed)));
    if let Binding::Steps(steps) = &tool.binding {
        found.push((format!("schemas/{name}.steps.json"), steps.plan.as_str()));
    }
    if let Binding::Linked(linked) = &tool.binding {
        found.push((format!("schemas/{name}.{}.json", linked.executor), linked.plan.as_str()));
    }
    found.extend(tool.frozen.result.as_deref().map(|result| (format!("schemas/{name}.result.json"), result)));
    found
}

fn tool(tool: &Tool) -> Value {
    let mut out = Map::new();
    let mut set = |key: &str, value: Value| {
        let is_empty = match &value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        if !is_empty {
            out.insert(key.to_owned(), value);
        }
    };
    set("name", json!(tool.name));
    set("title", json!(tool.title));
    set("description", json!(tool.description));
    set("tags", json!(tool.tags));
    set("risk", risk(tool.hints.risk).into());
    set("annotations", annotations(tool));
    set("search", json!({"en": tool.search.en, "ko": tool.search.ko, "ja": tool.search.ja}));
    let (method, path) = &tool.declared;
    set("declared", if method.is_empty() { Value::Null } else { format!("{method} {path}").into() });
    set("binding", binding(tool));
    set("arguments", tool.arguments.iter().map(|a| (a.name.clone(), argument(a))).collect::<Map<_, _>>().into());
    set("hidden", tool.hidden.iter().map(|it| (it.argument.name.clone(), hidden(it))).collect::<Map<_, _>>().into());
    set("deadline_seconds", json!(tool.deadline_seconds));
    set("long", json!(tool.long.then_some(true)));
    set("secrets", json!(tool.secrets));
    set("schemas", schemas(tool).into_iter().map(|(file, _)| file).collect::<Vec<_>>().into());
    Value::Object(out)
}

pub(crate) fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::ReadOnly => "read-only",
        Risk::Compute => "compute",
        Risk::Write => "write",
        Risk::Destructive => "destructive",
    }
}

/// The MCP hints that follow from the risk.
pub(crate) fn annotations(tool: &Tool) -> Value {
    let hints = tool.hints;
    json!({
        "readOnlyHint": matches!(hints.risk, Risk::ReadOnly | Risk::Compute),
        "destructiveHint": hints.risk == Risk::Destructive,
        "idempotentHint": hints.idempotent,
        "openWorldHint": hints.open_world,
    })
}

fn binding(tool: &Tool) -> Value {
    match &tool.binding {
        Binding::Native { content: true } => json!({"native": {"content": true}}),
        Binding::Native { .. } => json!({"native": {}}),
        Binding::Expression(filter) => json!({"expression": filter}),
        Binding::Steps(steps) => json!({"steps": steps.calls}),
        Binding::Linked(linked) => match &linked.project {
            Some(project) => json!({linked.executor: linked.about, "project": project}),
            None => json!({linked.executor: linked.about}),
        },
        Binding::NoRoute(route) => json!({"no_route": {"missing": route.missing, "instead": route.instead}}),
        Binding::WebSocket { path, exchange, security, server } => {
            let exchange = match exchange {
                WebSocketExchange::Receive => "receive",
                WebSocketExchange::Session => "session",
            };
            let mut out = Map::new();
            out.insert("path".to_owned(), path.as_str().into());
            out.insert("exchange".to_owned(), exchange.into());
            reached(security.as_ref(), server.as_ref(), &mut out);
            json!({"websocket": out})
        }
        Binding::Http(binding) => json!({"http": http(binding)}),
    }
}

fn http(binding: &HttpBinding) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("method".to_owned(), binding.method.as_str().into());
    out.insert("path".to_owned(), binding.path.as_str().into());
    if let Some(form) = binding.form {
        let media_type = binding.multipart.as_ref().map_or(form.media_type(), |multipart| &multipart.media_type);
        out.insert("form".to_owned(), media_type.into());
    }
    let headers = binding.multipart.iter().flat_map(|multipart| &multipart.headers);
    let headers: Vec<Value> =
        headers.map(|(part, name, value)| json!({"part": part, "header": name, "value": value})).collect();
    if !headers.is_empty() {
        out.insert("part_headers".to_owned(), headers.into());
    }
    if let Some(object) = &binding.object {
        out.insert("body".to_owned(), json!({"media_type": object.media_type, "required": object.required}));
    }
    if !binding.produces.is_empty() {
        out.insert("produces".to_owned(), json!(binding.produces));
    }
    if let Some(stream) = binding.stream {
        let dialect = match stream {
            StreamDialect::Openai => "openai",
            StreamDialect::Anthropic => "anthropic",
            StreamDialect::Responses => "responses",
            StreamDialect::Transcript => "transcript",
        };
        out.insert("stream".to_owned(), dialect.into());
    }
    reached(binding.security.as_ref(), binding.server.as_ref(), &mut out);
    if let Some(route) = &binding.stand_in {
        out.insert("stand_in".to_owned(), json!({"missing": route.missing, "instead": route.instead}));
    }
    if let Some(filter) = &binding.project {
        out.insert("project".to_owned(), filter.as_str().into());
    }
    if let Some(pages) = &binding.pages {
        out.insert("paginate".to_owned(), paginate(pages));
    }
    out
}

fn paginate(pages: &Pages) -> Value {
    let next = match &pages.next {
        NextPage::Link => json!("link"),
        NextPage::Cursor { answer, argument } => json!({"cursor": {"answer": answer, "argument": argument}}),
        NextPage::Offset { argument, size } => json!({"offset": {"argument": argument, "size_argument": size}}),
        NextPage::Page { argument, size, first } => {
            json!({"page": {"argument": argument, "size_argument": size, "first": first}})
        }
    };
    json!({"argument": pages.argument, "items": pages.items, "next": next})
}

/// An argument that callers never see, with where its value comes from.
fn hidden(hidden: &Hidden) -> Value {
    let mut out = argument(&hidden.argument);
    let (key, value) = match &hidden.value {
        HiddenValue::Constant(value) => ("constant", value.clone()),
        HiddenValue::Setting { key, .. } => ("setting", key.as_str().into()),
    };
    if let Value::Object(members) = &mut out {
        members.insert(key.to_owned(), value);
    }
    out
}

/// Credentials and server of an operation's own.
fn reached(security: Option<&Vec<Vec<String>>>, server: Option<&String>, out: &mut Map<String, Value>) {
    if let Some(server) = server {
        out.insert("server".to_owned(), server.as_str().into());
    }
    if let Some(security) = security {
        out.insert("security".to_owned(), json!(security));
    }
}

fn argument(argument: &Argument) -> Value {
    let mut out = Map::new();
    let (place, written) = match &argument.role {
        Role::Parameter { location, style, explode, .. } => (location.name(), Some((style.name(), *explode))),
        Role::Body { .. } => ("body", None),
        Role::Member => ("member", None),
        Role::Field { file: true, style, explode, .. } => ("file", Some((style.name(), *explode))),
        Role::Field { style, explode, .. } => ("form", Some((style.name(), *explode))),
        Role::Alternative { .. } => ("body", None),
        Role::ContentType => ("media type of the body", None),
        Role::PartHeader { .. } => ("header of a part", None),
        Role::Exchange => ("exchange", None),
        Role::Extra => ("extra form fields", None),
        Role::Paging => ("pages", None),
        Role::Input => ("input", None),
    };
    out.insert("in".to_owned(), place.into());
    if !argument.wire_name.is_empty() && argument.wire_name != argument.name {
        out.insert("wire".to_owned(), argument.wire_name.as_str().into());
    }
    if let Role::Field { content_type: Some(content_type), .. } = &argument.role {
        out.insert("content_type".to_owned(), content_type.as_str().into());
    }
    if let Role::PartHeader { part, .. } = &argument.role {
        out.insert("part".to_owned(), part.as_str().into());
    }
    if let Role::Parameter { reserved: true, .. } | Role::Field { reserved: true, .. } = &argument.role {
        out.insert("reserved".to_owned(), true.into());
    }
    if let Role::Body { media_type, .. } | Role::Alternative { media_type, .. } = &argument.role {
        out.insert("media_type".to_owned(), media_type.as_str().into());
    }
    if let Some((style, explode)) = written {
        out.insert("style".to_owned(), style.into());
        out.insert("explode".to_owned(), explode.into());
    }
    if argument.required {
        out.insert("required".to_owned(), true.into());
    }
    if argument.role == Role::Member && argument.needed_by_body && !argument.required {
        out.insert("required_by_body".to_owned(), true.into());
    }
    if !argument.send_as.is_empty() {
        let pairs = argument.send_as.iter().map(|(accepted, sent)| (accepted.clone(), sent.as_str().into()));
        out.insert("send_as".to_owned(), Value::Object(pairs.collect()));
    }
    Value::Object(out)
}
