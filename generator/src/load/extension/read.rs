//! Values of `x-toolwright` into types. Wrong keys and values are reported, right ones are kept.

use indexmap::IndexMap;
use serde_json::Value;

use super::{
    ArgumentExtension, CollectionFormat, MAX_NAME, Media, MissingRoute, OperationExtension, Risk, SchemaExtension,
    SearchTerms, Secret, StreamDialect, WebSocketExchange,
};
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::config::BODY_MODES;
use crate::load::hidden;
use crate::load::strict::{Fields, Places, wrong_kind};
use crate::source::child_pointer;

pub(super) const OPERATION_KEYS: &[&str] = &[
    "name",
    "risk",
    "open_world",
    "idempotent",
    "returns",
    "caution",
    "search",
    "arguments",
    "body",
    "argument",
    "body_description",
    "fields",
    "advertise",
    "media",
    "stream",
    "websocket",
    "path",
    "route",
    "secret",
    "deadline_seconds",
    "long",
    "project",
    "paginate",
];

pub(super) const RISKS: &[(&str, Risk)] = &[
    ("read-only", Risk::ReadOnly),
    ("compute", Risk::Compute),
    ("write", Risk::Write),
    ("destructive", Risk::Destructive),
];

const MEDIA: &[(&str, Media)] = &[
    ("json", Media::Json),
    ("multipart", Media::Multipart),
    ("binary", Media::Binary),
    ("sse", Media::Sse),
    ("websocket", Media::Websocket),
    ("text", Media::Text),
];

const STREAMS: &[(&str, StreamDialect)] = &[
    ("openai", StreamDialect::Openai),
    ("anthropic", StreamDialect::Anthropic),
    ("responses", StreamDialect::Responses),
    ("transcript", StreamDialect::Transcript),
];

const EXCHANGES: &[(&str, WebSocketExchange)] =
    &[("receive", WebSocketExchange::Receive), ("session", WebSocketExchange::Session)];

pub(super) const COLLECTION_FORMATS: &[(&str, CollectionFormat)] =
    &[("ssv", CollectionFormat::Ssv), ("tsv", CollectionFormat::Tsv), ("pipes", CollectionFormat::Pipes)];

/// A day, as for the setting of the same meaning.
const MAX_DEADLINE_SECONDS: u64 = 86_400;

/// `x-toolwright` of an operation.
pub(super) fn operation(
    value: &Value,
    pointer: &str,
    places: Places<'_>,
    sink: &mut Sink,
) -> Option<OperationExtension> {
    let fields = Fields::open(value, pointer, OPERATION_KEYS, places, sink)?;
    Some(OperationExtension {
        name: tool_name(&fields, "name", sink),
        risk: fields.choice("risk", RISKS, sink),
        open_world: fields.boolean("open_world", sink).unwrap_or(false),
        idempotent: fields.boolean("idempotent", sink),
        returns: filled(&fields, "returns", sink),
        caution: filled(&fields, "caution", sink),
        search: search(&fields, sink),
        arguments: arguments(&fields, places, sink),
        body: fields.choice("body", BODY_MODES, sink),
        argument: argument_name(&fields, "argument", sink),
        body_description: filled(&fields, "body_description", sink),
        fields: fields.string_map("fields", sink),
        advertise: fields.strings("advertise", sink),
        media: fields.choices("media", MEDIA, sink),
        stream: fields.choice("stream", STREAMS, sink),
        websocket: websocket(&fields, sink),
        path: path(&fields, sink),
        route: route(&fields, sink),
        secret: secret(&fields, places, sink),
        deadline_seconds: fields.positive("deadline_seconds", MAX_DEADLINE_SECONDS, sink),
        long: fields.boolean("long", sink).unwrap_or(false),
        project: filled(&fields, "project", sink),
        paginate: super::paginate::paginate(&fields, sink),
        refused: None,
    })
}

/// `x-toolwright` of a schema.
pub(super) fn schema(value: &Value, pointer: &str, places: Places<'_>, sink: &mut Sink) -> Option<SchemaExtension> {
    let fields = Fields::open(value, pointer, &["fields"], places, sink)?;
    Some(SchemaExtension { fields: fields.string_map("fields", sink) })
}

/// `x-toolwright` of a request body.
pub(super) fn request_body(value: &Value, pointer: &str, places: Places<'_>, sink: &mut Sink) {
    if let Some(fields) = Fields::open(value, pointer, &["argument"], places, sink) {
        fields.string("argument", sink);
    }
}

/// `x-toolwright` of a parameter or of a form field's encoding.
pub(super) fn array_form(value: &Value, pointer: &str, places: Places<'_>, sink: &mut Sink) {
    if let Some(fields) = Fields::open(value, pointer, &["collection_format"], places, sink) {
        fields.choice("collection_format", COLLECTION_FORMATS, sink);
    }
}

fn tool_name(fields: &Fields<'_>, key: &str, sink: &mut Sink) -> Option<String> {
    snake_name(fields, key, MAX_NAME, ("tool-name", "tool name"), sink)
}

/// Model providers refuse arguments whose names hold other characters or more than 64 of them.
fn argument_name(fields: &Fields<'_>, key: &str, sink: &mut Sink) -> Option<String> {
    snake_name(fields, key, 64, ("argument-name", "argument name"), sink)
}

fn snake_name(
    fields: &Fields<'_>,
    key: &str,
    most: usize,
    (code, what): (&'static str, &str),
    sink: &mut Sink,
) -> Option<String> {
    let name = fields.string(key, sink)?;
    if !is_snake_case(&name, most) {
        sink.push(
            Diagnostic::error(code, format!("`{name}` is no {what}"))
                .at(fields.place(key))
                .help(format!("snake_case: small letters, digits and `_`, first a letter, at most {most} characters")),
        );
    }
    Some(name)
}

/// Whether a name is made of small letters, digits and `_`, first a letter, and not longer than that.
pub(in crate::load) fn is_snake_case(name: &str, most: usize) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && name.len() <= most
}

fn search(fields: &Fields<'_>, sink: &mut Sink) -> SearchTerms {
    let Some(terms) = fields.child("search", &["en", "ko", "ja"], sink) else {
        return SearchTerms::default();
    };
    SearchTerms { en: phrases(&terms, "en", sink), ko: phrases(&terms, "ko", sink), ja: phrases(&terms, "ja", sink) }
}

/// Search phrases: each says something.
fn phrases(terms: &Fields<'_>, key: &str, sink: &mut Sink) -> Vec<String> {
    let phrases = terms.strings(key, sink).unwrap_or_default();
    for (index, _) in phrases.iter().enumerate().filter(|(_, phrase)| phrase.trim().is_empty()) {
        let error = Diagnostic::error("wrong-value", "a search phrase is empty").at(terms.element_place(key, index));
        sink.push(error.help("write what people search for, or remove the phrase"));
    }
    phrases
}

/// A text that says something.
fn filled(fields: &Fields<'_>, key: &str, sink: &mut Sink) -> Option<String> {
    let text = fields.string(key, sink)?;
    if text.trim().is_empty() {
        let error = Diagnostic::error("wrong-value", format!("`{key}` is empty")).at(fields.place(key));
        sink.push(error.help(format!("write a text after `{key}:`, or remove the key")));
    }
    Some(text)
}

fn arguments(fields: &Fields<'_>, places: Places<'_>, sink: &mut Sink) -> IndexMap<String, ArgumentExtension> {
    let parent = fields.pointer_of("arguments");
    let mut arguments = IndexMap::new();
    for (name, value) in fields.named("arguments", sink) {
        let pointer = child_pointer(&parent, name);
        if let Some(argument) = argument(value, &pointer, places, sink) {
            arguments.insert(name.clone(), argument);
        }
    }
    arguments
}

fn argument(value: &Value, pointer: &str, places: Places<'_>, sink: &mut Sink) -> Option<ArgumentExtension> {
    if let Value::String(text) = value {
        return Some(ArgumentExtension { description: Some(text.clone()), ..Default::default() });
    }
    let known = ["description", "name", "send_as", "constant", "setting", "default", "secret"];
    let fields = Fields::open(value, pointer, &known, places, sink)?;
    let hidden = hidden::read(&fields, sink);
    if hidden.is_some() && fields.get("name").is_some() {
        let error = Diagnostic::error("wrong-value", "`name` is for callers, and this argument is hidden from them");
        sink.push(error.at(fields.place("name")).help("remove `name`"));
    }
    Some(ArgumentExtension {
        hidden,
        description: filled(&fields, "description", sink),
        name: argument_name(&fields, "name", sink),
        send_as: fields.named("send_as", sink).map(|(accepted, wire)| (accepted.clone(), wire.clone())).collect(),
    })
}

fn websocket(fields: &Fields<'_>, sink: &mut Sink) -> Option<WebSocketExchange> {
    let websocket = fields.child("websocket", &["exchange"], sink)?;
    websocket.require("exchange", "receive", sink);
    websocket.choice("exchange", EXCHANGES, sink)
}

fn path(fields: &Fields<'_>, sink: &mut Sink) -> Option<String> {
    let path = fields.string("path", sink)?;
    if !path.starts_with('/') {
        sink.push(
            Diagnostic::error("wrong-value", format!("`{path}` is no path"))
                .at(fields.place("path"))
                .help("a path starts with `/`"),
        );
    }
    Some(path)
}

fn route(fields: &Fields<'_>, sink: &mut Sink) -> Option<MissingRoute> {
    let route = fields.child("route", &["missing", "instead"], sink)?;
    route.require("missing", "<what to tell the caller>", sink);
    Some(MissingRoute {
        missing: filled(&route, "missing", sink).unwrap_or_default(),
        instead: route.string("instead", sink),
    })
}

fn secret(fields: &Fields<'_>, places: Places<'_>, sink: &mut Sink) -> Option<Secret> {
    match fields.get("secret")? {
        Value::String(word) if word == "text" => Some(Secret::Text),
        Value::Array(_) => {
            let pointers = fields.strings("secret", sink)?;
            let parent = fields.pointer_of("secret");
            for (index, pointer) in pointers.iter().enumerate() {
                if !pointer.is_empty() && !pointer.starts_with('/') {
                    sink.push(
                        Diagnostic::error("wrong-value", format!("`{pointer}` is no JSON pointer"))
                            .at(places(&child_pointer(&parent, &index.to_string())))
                            .help(format!("write `/{}`", pointer.replace('.', "/"))),
                    );
                }
            }
            Some(Secret::Pointers(pointers))
        }
        other => {
            let wanted = "`text` or a list of JSON pointers";
            sink.push(wrong_kind(&fields.pointer_of("secret"), wanted, other, places));
            None
        }
    }
}
