//! Prompts and resources in `catalog.json`.

use serde_json::{Map, Value, json};

use crate::load::content::{
    Answer, Completion, Fixed, Given, MessageContent, Piece, Prompt, Resource, ResourceContent, Role, template,
};

/// A prompt.
pub(super) fn prompt(prompt: &Prompt) -> Value {
    let arguments = prompt.arguments.iter().map(|argument| {
        filled([
            ("name", json!(argument.name)),
            ("title", json!(argument.title)),
            ("description", json!(argument.description)),
            ("required", json!(argument.required)),
            ("default", json!(argument.default)),
            ("ask", json!(argument.ask)),
            ("complete", argument.completion.as_ref().map_or(Value::Null, completion)),
        ])
    });
    let messages = prompt.messages.iter().map(|message| {
        let (key, content) = match &message.content {
            MessageContent::Text(text) => ("text", fixed(text)),
            MessageContent::Read(uri, _) => ("resource", text(uri).into()),
            MessageContent::Embedded { uri, mime_type, content } => {
                let content = fixed(content);
                ("resource", json!({"uri": text(uri), "mime_type": mime_type, "content": content}))
            }
            MessageContent::Media(file) => ("file", json!({"file": file.path, "mime_type": file.mime_type})),
        };
        json!({"role": role(message.role), key: content})
    });
    filled([
        ("name", json!(prompt.name)),
        ("title", json!(prompt.title)),
        ("description", json!(prompt.description)),
        ("arguments", arguments.collect::<Vec<_>>().into()),
        ("messages", messages.collect::<Vec<_>>().into()),
    ])
}

/// A resource, or a template of them.
pub(super) fn resource(resource: &Resource) -> Value {
    let content = match &resource.content {
        ResourceContent::Fixed(content) => fixed(content),
        ResourceContent::Answer(source) => answer(source),
    };
    let annotations = &resource.annotations;
    let audience: Vec<&str> = annotations.audience.iter().copied().map(role).collect();
    let completions: Map<String, Value> =
        resource.completions.iter().map(|(name, source)| (name.clone(), completion(source))).collect();
    filled([
        ("name", json!(resource.name)),
        ("title", json!(resource.title)),
        ("description", json!(resource.description)),
        (if resource.is_template() { "uri_template" } else { "uri" }, template(&resource.uri).into()),
        ("mime_type", json!(resource.mime_type)),
        (
            "annotations",
            filled([
                ("audience", json!(audience)),
                ("priority", json!(annotations.priority)),
                ("last_modified", json!(annotations.last_modified)),
            ]),
        ),
        ("content", content),
        ("complete", completions.into()),
    ])
}

/// The members that say something.
fn filled<const N: usize>(members: [(&str, Value); N]) -> Value {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    members.into_iter().filter(|(_, value)| !is_empty(value)).map(|(key, value)| (key.to_owned(), value)).collect()
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// The text with its places in braces.
fn text(pieces: &[Piece]) -> String {
    template(pieces)
}

fn fixed(content: &Fixed) -> Value {
    match content {
        Fixed::Text(pieces) => text(pieces).into(),
        Fixed::File(file) => json!({"file": file.path}),
    }
}

fn answer(answer: &Answer) -> Value {
    let arguments = answer.arguments.iter().map(|(name, given)| match given {
        Given::Text(pieces) => (name.clone(), text(pieces).into()),
        Given::Json(value) => (name.clone(), value.clone()),
    });
    filled([
        ("tool", json!(answer.tool)),
        ("arguments", arguments.collect::<Map<_, _>>().into()),
        ("project", json!(answer.project)),
    ])
}

fn completion(completion: &Completion) -> Value {
    match completion {
        Completion::Listed(texts) => json!(texts),
        Completion::Answer(source) => answer(source),
    }
}
