//! The arguments of a request body: one for the whole, or one for each member of an object or field of a form.

use indexmap::IndexMap;
use serde_json::Value;

use super::super::name::{MAX_ARGUMENT, cut, snake};
use super::{is_json, members, parts};
use crate::diagnostic::{Diagnostic, Sink};
use crate::ledger::{Outcome, Part, Rule};
use crate::model::Model;
use crate::model::operation::{BodyKind, FieldEncoding, Operation, RequestBody, Style};
use crate::model::schema::{Additional, JsonType, Schema};
use crate::model::tool::{AlternativeField, Argument, Role};

/// How a model gives a file.
const FILE: &str = "Path, data: URI, base64: or URL.";

/// The arguments of an operation's bodies. Where there are several, one more argument chooses among them.
pub(super) fn arguments(model: &mut Model, operation: &Operation, sink: &mut Sink) -> Vec<Argument> {
    let Some(body) = &operation.body else { return Vec::new() };
    let mut arguments = first(model, operation, body);
    for form in operation.body.iter().chain(&operation.other_bodies).filter(|body| body.kind == BodyKind::Multipart) {
        let fields = Fields::of(model, &form.schema).properties;
        parts::strays(model, form, |name| fields.contains_key(name), sink);
    }
    if !operation.other_bodies.is_empty() {
        arguments.iter_mut().for_each(|argument| argument.required = false);
        arguments.extend(operation.other_bodies.iter().map(|other| alternative(model, other)));
        operation.other_bodies.iter().for_each(|other| parts::without_headers(model, other, sink));
        arguments.push(content_type(operation, body));
    }
    if !arguments.iter().any(|argument| argument.role.is_of_body()) {
        let message = format!("{} has a body, and its tool would have no input for it", operation.route());
        let place = model.loaded.document.place(&operation.origin);
        let help = "give the body a schema in an overlay, or remove it there";
        sink.push(Diagnostic::error("body-without-inputs", message).at(place).help(help));
    }
    arguments
}

/// Text in a URL's form holds no bytes: a form with files is sent as multipart, as Swagger 2.0 has it (Parameter Object).
/// Where there is a multipart body to choose instead, that one is for files, and the form stays as it is.
pub(super) fn carry_files(model: &Model, operation: &mut Operation, sink: &mut Sink) {
    let route = operation.route();
    let mut has_multipart =
        operation.body.iter().chain(&operation.other_bodies).any(|body| body.kind == BodyKind::Multipart);
    let forms = operation.body.iter_mut().chain(&mut operation.other_bodies);
    for body in forms.filter(|body| body.kind == BodyKind::Form) {
        let Some(file) = file_of(model, body) else { continue };
        let message = format!("the form of {route} is {}, which cannot carry the file `{file}`", body.media_type);
        let place = model.loaded.document.place(&body.schema.origin);
        let help = match has_multipart {
            true => {
                "files go into the multipart/form-data that the operation takes as well; remove this body in an overlay"
            }
            false => "it is sent as multipart/form-data; declare that in an overlay, or take the field's `format` off",
        };
        sink.push(Diagnostic::warning("form-with-file", message).at(place).help(help));
        if !has_multipart {
            "multipart/form-data".clone_into(&mut body.media_type);
            body.kind = BodyKind::Multipart;
            has_multipart = true;
        }
    }
}

/// The first field of a form that is a file.
fn file_of(model: &Model, body: &RequestBody) -> Option<String> {
    let fields = Fields::of(model, &body.schema).properties;
    let mut sent = fields.into_iter().filter(|(_, schema)| !schema.read_only);
    sent.find(|(name, schema)| field(model, body, name, schema).file).map(|(name, _)| name)
}

fn first(model: &mut Model, operation: &Operation, body: &RequestBody) -> Vec<Argument> {
    if body.kind.is_form() {
        return form(model, body);
    }
    if let Ok(members) = members::of(model, operation) {
        return members.arguments(model, operation, body);
    }
    let extension = &operation.extension;
    let declared = body.argument.as_deref().map(|name| cut(name, MAX_ARGUMENT));
    let fallback = match body.kind {
        BodyKind::Binary => "file",
        BodyKind::Text => "text",
        _ => "request",
    };
    let file = body.kind == BodyKind::Binary;
    vec![Argument {
        origin: body.schema.origin.clone(),
        name: extension.argument.clone().or(declared).unwrap_or_else(|| fallback.to_owned()),
        wire_name: String::new(),
        role: Role::Body { media_type: body.sendable(), file },
        required: body.required,
        needed_by_body: body.required,
        shown: true,
        description: extension
            .body_description
            .clone()
            .or_else(|| body.description.clone())
            .or_else(|| body.schema.description.clone()),
        schema: whole_schema(model, body),
        send_as: Vec::new(),
    }]
}

/// The schema of a body that is one argument. What is sent as it is, is text, whatever a document says of it.
fn whole_schema(model: &Model, body: &RequestBody) -> Schema {
    let schema = &body.schema;
    let described = |kind: JsonType| Schema {
        origin: schema.origin.clone(),
        description: schema.description.clone(),
        ..Schema::of(kind)
    };
    let resolved = model.resolve(schema);
    match body.kind {
        BodyKind::Binary => described(JsonType::String),
        BodyKind::Text if !resolved.is(JsonType::String) => described(JsonType::String),
        BodyKind::Lines if !resolved.is(JsonType::Array) => {
            Schema { items: Some(Box::new(schema.clone())), ..described(JsonType::Array) }
        }
        _ => schema.clone(),
    }
}

fn form(model: &mut Model, body: &RequestBody) -> Vec<Argument> {
    let fields = Fields::of(model, &body.schema);
    let mut arguments: Vec<Argument> = Vec::new();
    for (wire_name, schema) in &fields.properties {
        let pointer = schema.origin.clone();
        if schema.read_only {
            model.ledger.record(Part::FormField, pointer, Outcome::Dropped(Rule::ReadOnly));
            continue;
        }
        model.ledger.record(Part::FormField, pointer, Outcome::Mapped);
        let field = field(model, body, wire_name, schema);
        let required = fields.required.contains(wire_name);
        arguments.push(Argument {
            origin: schema.origin.clone(),
            name: String::new(),
            wire_name: field.wire_name,
            role: Role::Field {
                style: field.style,
                explode: field.explode,
                file: field.file,
                content_type: field.content_type,
                reserved: field.reserved,
            },
            required,
            needed_by_body: required,
            shown: true,
            description: schema.description.clone(),
            schema: schema.clone(),
            send_as: Vec::new(),
        });
    }
    // A form without declared fields still has fields: the caller names them.
    let is_free = arguments.is_empty() && fields.properties.is_empty();
    arguments.extend(parts::arguments(body, &arguments));
    if body.kind == BodyKind::Multipart || is_free || fields.further.is_some() {
        arguments.push(extra_form(is_free, fields.further.unwrap_or_default()));
    }
    arguments
}

/// The fields of a form, those of its unions among them.
#[derive(Debug, Default)]
struct Fields {
    properties: IndexMap<String, Schema>,
    required: Vec<String>,
    /// What the document says in so many words of fields that it does not name.
    further: Option<Additional>,
}

impl Fields {
    fn of(model: &Model, schema: &Schema) -> Self {
        let mut fields = Fields::default();
        fields.collect(model, schema, true, 8);
        fields
    }

    fn collect(&mut self, model: &Model, schema: &Schema, is_certain: bool, depth: usize) {
        let object = model.resolve(schema);
        for (name, property) in &object.properties {
            self.properties.entry(name.clone()).or_insert_with(|| property.clone());
        }
        if object.says_open || matches!(object.additional, Additional::Of(_)) {
            self.further.get_or_insert_with(|| object.additional.clone());
        }
        if is_certain {
            self.required.extend(object.required.iter().cloned());
        }
        if depth == 0 {
            return;
        }
        for part in &object.all_of {
            self.collect(model, part, is_certain, depth - 1);
        }
        for part in object.any_of.iter().chain(&object.one_of) {
            self.collect(model, part, false, depth - 1);
        }
    }
}

/// Whether a JSON body has a field of this name.
pub(super) fn has_field(model: &Model, operation: &Operation, name: &str) -> bool {
    let body = operation.body.as_ref().filter(|body| body.kind == BodyKind::Json);
    body.is_some_and(|body| Fields::of(model, &body.schema).properties.contains_key(name))
}

/// How one field is written.
fn field(model: &Model, body: &RequestBody, wire_name: &str, schema: &Schema) -> AlternativeField {
    let resolved = model.resolve(schema);
    let items = resolved.items.as_deref().map(|items| model.resolve(items));
    let FieldEncoding { style, explode, content_type, reserved, .. } =
        body.encoding.get(wire_name).cloned().unwrap_or_default();
    let file = is_file(resolved) || resolved.items.as_deref().is_some_and(is_file) || items.is_some_and(is_file);
    let holds_objects = resolved.is(JsonType::Object) || items.is_some_and(|items| items.is(JsonType::Object));
    let is_composed = matches!(resolved.types.as_slice(), []) && !resolved.is_any() && !file;
    let says_json = content_type.as_deref().is_some_and(is_json);
    let as_json = says_json || holds_objects || is_composed && content_type.is_none();
    let style = style.unwrap_or(if as_json { Style::Json } else { Style::Form });
    let is_default = style == Style::Json && (holds_objects || is_composed) && says_json;
    let content_type = content_type.filter(|_| body.kind == BodyKind::Multipart && !is_default);
    AlternativeField {
        wire_name: wire_name.to_owned(),
        style,
        explode: explode.unwrap_or(style == Style::Form),
        file,
        content_type: content_type.and_then(|declared| part_type(&declared, file)),
        // The parts of a multipart body are not encoded.
        reserved: reserved && body.kind == BodyKind::Form,
    }
}

/// The media type of a part. A file has one of a list or range, by its own type; text has the first that can be sent.
fn part_type(declared: &str, file: bool) -> Option<String> {
    let is_plain = |text: &&str| !text.is_empty() && !text.contains('*');
    match file {
        true => Some(declared.trim()).filter(|text| !text.is_empty()).map(str::to_owned),
        false => declared.split(',').map(str::trim).find(is_plain).map(str::to_owned),
    }
}

/// A file of a form: binary content that stands as a string (OpenAPI 3.1 section 4.8.14.3).
fn is_file(schema: &Schema) -> bool {
    let encoded = schema.bounds.contains_key("contentEncoding");
    let opaque = schema.media_type.as_deref().is_some_and(|media_type| !is_json(media_type));
    !encoded && (opaque || schema.format.as_deref() == Some("binary"))
}

/// An argument for fields that the document does not name.
fn extra_form(is_free: bool, further: Additional) -> Argument {
    let text = if is_free { "Fields of the form, by name." } else { "Further text fields of the form, by wire name." };
    Argument {
        origin: String::new(),
        name: if is_free { "form" } else { "extra_form" }.to_owned(),
        wire_name: String::new(),
        role: Role::Extra,
        required: false,
        needed_by_body: false,
        shown: is_free || further != Additional::Open,
        description: Some(text.to_owned()),
        schema: Schema { additional: further, ..Schema::of(JsonType::Object) },
        send_as: Vec::new(),
    }
}

/// Another body: one argument, whatever its kind.
fn alternative(model: &mut Model, body: &RequestBody) -> Argument {
    let (name, schema, fields) = match body.kind {
        BodyKind::Form | BodyKind::Multipart => {
            let (schema, fields) = form_object(model, body);
            ("form".to_owned(), schema, fields)
        }
        BodyKind::Text => ("text".to_owned(), whole_schema(model, body), Vec::new()),
        BodyKind::Binary => ("file".to_owned(), whole_schema(model, body), Vec::new()),
        BodyKind::Json | BodyKind::Lines => (subtype(&body.media_type), whole_schema(model, body), Vec::new()),
    };
    let media_type = body.sendable();
    let description = format!("The body where it is sent as {media_type}.");
    Argument {
        origin: body.schema.origin.clone(),
        name,
        wire_name: String::new(),
        role: Role::Alternative { media_type, file: body.kind == BodyKind::Binary, fields },
        required: false,
        needed_by_body: true,
        shown: true,
        description: Some(body.description.clone().unwrap_or(description)),
        schema,
        send_as: Vec::new(),
    }
}

/// `merge_patch` of `application/merge-patch+json`.
fn subtype(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    let subtype = essence.split_once('/').map_or(essence, |(_, subtype)| subtype);
    let name = cut(&snake(subtype.strip_suffix("+json").unwrap_or(subtype)), MAX_ARGUMENT);
    if name.is_empty() { "alternative".to_owned() } else { name }
}

/// A whole form as one object, its files as file inputs.
fn form_object(model: &mut Model, body: &RequestBody) -> (Schema, Vec<AlternativeField>) {
    let mut declared = Fields::of(model, &body.schema);
    declared.properties.retain(|_, schema| !schema.read_only);
    let fields: Vec<AlternativeField> =
        declared.properties.iter().map(|(name, schema)| field(model, body, name, schema)).collect();
    for (field, schema) in fields.iter().zip(declared.properties.values_mut()) {
        model.ledger.record(Part::FormField, schema.origin.clone(), Outcome::Mapped);
        if field.file {
            let is_list = model.resolve(schema).items.is_some();
            let text = schema.description.as_deref().map_or_else(|| FILE.to_owned(), |text| format!("{text} {FILE}"));
            let one = Schema::of(JsonType::String);
            let many = Schema { items: Some(Box::new(one.clone())), ..Schema::of(JsonType::Array) };
            let shown = if is_list { many } else { one };
            *schema = Schema { origin: schema.origin.clone(), ..shown.described(text) };
        }
    }
    let required = declared.required.into_iter().filter(|name| declared.properties.contains_key(name)).collect();
    // Members that the form does not name are sent as further text fields, unless it says that there are none.
    let is_closed = model.resolve(&body.schema).additional == Additional::Closed;
    let further = if is_closed { Additional::Closed } else { Additional::Open };
    let additional = declared.further.unwrap_or(further);
    let schema = Schema { properties: declared.properties, required, additional, ..Schema::of(JsonType::Object) };
    (schema, fields)
}

fn content_type(operation: &Operation, body: &RequestBody) -> Argument {
    let all = std::iter::once(body).chain(&operation.other_bodies);
    let types: Vec<Value> = all.map(|body| body.sendable().into()).collect();
    Argument {
        origin: String::new(),
        name: "content_type".to_owned(),
        wire_name: String::new(),
        role: Role::ContentType,
        required: false,
        needed_by_body: false,
        shown: true,
        description: Some("Which of the bodies is sent; without it, the one whose argument is given.".to_owned()),
        schema: Schema { enumeration: types, ..Schema::of(JsonType::String) },
        send_as: Vec::new(),
    }
}
