//! Prompt files.

use serde_json::Value;

use super::answer::Completion;
use super::attached::{self, Attached};
use super::text::{self, Piece};
use super::{File, Fixed, PROMPTS, ROLES, Role, Spot, check_name, is_name};
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::language::{EMBEDDED, MESSAGE, PROMPT, PROMPT_ARGUMENT, names};
use crate::load::strict::Fields;
use crate::source::child_pointer;

/// What places in a prompt stand for.
const WHAT: &str = "arguments";

/// A prompt.
#[derive(Debug)]
pub(crate) struct Prompt {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) arguments: Vec<PromptArgument>,
    pub(crate) messages: Vec<Message>,
}

/// What a person fills in.
#[derive(Debug)]
pub(crate) struct PromptArgument {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) required: bool,
    pub(crate) default: Option<String>,
    pub(crate) completion: Option<Completion>,
    /// What the person is asked where it is not given.
    pub(crate) ask: Option<String>,
    pointer: String,
}

/// A message.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) role: Role,
    pub(crate) content: MessageContent,
}

/// What a message holds.
#[derive(Debug)]
pub(crate) enum MessageContent {
    Text(Fixed),
    /// The URI of a resource of this server, and where it is written.
    Read(Vec<Piece>, Spot),
    Embedded {
        uri: Vec<Piece>,
        mime_type: String,
        content: Fixed,
    },
    Media(Attached),
}

pub(super) fn read(name: &str, value: &Value, file: &mut File<'_>, sink: &mut Sink) -> Option<Prompt> {
    let fields = Fields::open(value, "", &names(PROMPT), file.places, sink)?;
    check_name(PROMPTS, &fields, name, sink);
    fields.require("description", "<what the prompt is for>", sink);
    fields.require("messages", "[{ text: <what is said> }]", sink);
    let arguments = arguments(&fields, file, sink);
    let known: Vec<&str> = arguments.iter().map(|argument| argument.name.as_str()).collect();
    let mut messages = Vec::new();
    for (pointer, value) in fields.elements("messages", "a list of messages", sink) {
        messages.extend(message(value, &pointer, &known, file, sink));
    }
    if fields.get("messages").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        let error = Diagnostic::error("no-messages", "there are no messages").at(fields.place("messages"));
        sink.push(error.help("write `- { text: <what is said> }` below it"));
    }
    for argument in arguments.iter().filter(|argument| !is_used(&argument.name, &messages)) {
        let message = format!("no message has the place `{{{}}}`", argument.name);
        let error = Diagnostic::error("unused-argument", message).at((file.places)(&argument.pointer));
        sink.push(error.help("write it where the value belongs, or remove the argument"));
    }
    let title = fields.string("title", sink);
    let description = fields.string("description", sink).unwrap_or_default().trim_end().to_owned();
    Some(Prompt { name: name.to_owned(), title, description, arguments, messages })
}

fn arguments(fields: &Fields<'_>, file: &File<'_>, sink: &mut Sink) -> Vec<PromptArgument> {
    let base = fields.pointer_of("arguments");
    let members: Vec<(&String, &Value)> = fields.named("arguments", sink).collect();
    let bare = |key: &String| key.strip_suffix('?').unwrap_or(key).to_owned();
    let all: Vec<String> = members.iter().map(|(key, _)| bare(key)).collect();
    let known: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut found: Vec<PromptArgument> = Vec::new();
    for (key, value) in members {
        let (name, pointer) = (bare(key), child_pointer(&base, key));
        let mut report = |code: &'static str, message: String, help: &str| {
            sink.push(Diagnostic::error(code, message).at((file.places)(&pointer)).help(help));
        };
        if !is_name(&name) {
            let help = "letters, digits and `_`, first a letter, at most 64 characters; `?` at the end for optional";
            report("argument-name", format!("`{}` is no argument name", name.escape_debug()), help);
        } else if found.iter().any(|earlier| earlier.name == name) {
            report("listed-twice", format!("`{name}` stands here with and without `?`"), "remove one of the two");
        }
        found.extend(argument(name, !key.ends_with('?'), value, pointer, &known, file, sink));
    }
    found
}

fn argument(
    name: String,
    required: bool,
    value: &Value,
    pointer: String,
    known: &[&str],
    file: &File<'_>,
    sink: &mut Sink,
) -> Option<PromptArgument> {
    let fields = Fields::open(value, &pointer, &names(PROMPT_ARGUMENT), file.places, sink)?;
    fields.require("description", "<what to write>", sink);
    let default = fields.string("default", sink);
    if required && default.is_some() {
        let error = Diagnostic::error("default-of-required", format!("`{name}` is required and has a default"));
        sink.push(error.at(fields.place("default")).help(format!("write `{name}?` to make it optional")));
    }
    let at = fields.pointer_of("complete");
    let complete = fields.get("complete");
    Some(PromptArgument {
        title: fields.string("title", sink),
        description: fields.string("description", sink).unwrap_or_default().trim_end().to_owned(),
        completion: complete.and_then(|value| Completion::read(value, &at, known, WHAT, file, sink)),
        ask: fields.string("ask", sink),
        name,
        required,
        default,
        pointer,
    })
}

fn message(value: &Value, pointer: &str, known: &[&str], file: &mut File<'_>, sink: &mut Sink) -> Option<Message> {
    let fields = Fields::open(value, pointer, &names(MESSAGE), file.places, sink)?;
    let role = fields.choice("role", &ROLES, sink).unwrap_or(Role::User);
    let content = match one_of(&fields, &["text", "resource", "file"], "a message", sink)? {
        "text" => {
            let text = fields.string("text", sink)?;
            MessageContent::Text(Fixed::Text(text::pieces(&text, known, WHAT, &fields.place("text"), sink)))
        }
        "file" => of_file(&fields, file, sink)?,
        _ => resource(&fields, known, file, sink)?,
    };
    Some(Message { role, content })
}

/// An image or a sound by its media type; a text is said.
fn of_file(fields: &Fields<'_>, file: &mut File<'_>, sink: &mut Sink) -> Option<MessageContent> {
    let attached = attached::read(fields, file, sink)?;
    let is_media = attached.mime_type.starts_with("image/") || attached.mime_type.starts_with("audio/");
    if !is_media && !attached.is_text {
        let message = format!("a message holds no {}", attached.mime_type);
        let help = "write `resource: { uri: .., file: .. }` to put it into the message as a resource";
        sink.push(Diagnostic::error("wrong-value", message).at(fields.place("file")).help(help));
        return None;
    }
    Some(if is_media { MessageContent::Media(attached) } else { MessageContent::Text(Fixed::File(attached)) })
}

fn resource(fields: &Fields<'_>, known: &[&str], file: &mut File<'_>, sink: &mut Sink) -> Option<MessageContent> {
    if let Some(Value::String(uri)) = fields.get("resource") {
        let uri = text::pieces(uri, known, WHAT, &fields.place("resource"), sink);
        return Some(MessageContent::Read(uri, file.spot(&fields.pointer_of("resource"))));
    }
    let inner = fields.child("resource", &names(EMBEDDED), sink)?;
    inner.require("uri", "<its URI>", sink);
    let uri = inner.string("uri", sink)?;
    let uri = text::pieces(&uri, known, WHAT, &inner.place("uri"), sink);
    let (content, by_content) = match one_of(&inner, &["text", "file"], "a resource", sink)? {
        "file" => {
            let attached = attached::read(&inner, file, sink)?;
            let mime_type = attached.mime_type.clone();
            (Fixed::File(attached), mime_type)
        }
        _ => {
            let text = inner.string("text", sink)?;
            (Fixed::Text(text::pieces(&text, known, WHAT, &inner.place("text"), sink)), "text/plain".to_owned())
        }
    };
    let mime_type = attached::media_type(&inner, sink).unwrap_or(by_content);
    Some(MessageContent::Embedded { uri, mime_type, content })
}

/// The one of these keys that is there.
pub(super) fn one_of<'k>(fields: &Fields<'_>, keys: &[&'k str], what: &str, sink: &mut Sink) -> Option<&'k str> {
    let mut there = keys.iter().copied().filter(|key| fields.get(key).is_some());
    let first = there.next();
    if let Some(second) = there.next() {
        let message = format!("{what} has one content");
        let help = format!("remove `{second}`, or `{}`", first.unwrap_or_default());
        sink.push(Diagnostic::error("two-contents", message).at(fields.place(second)).help(help));
        return None;
    }
    if first.is_none() {
        let message = format!("nothing says what {what} holds");
        let help = format!("add one of: {}", keys.join(", "));
        sink.push(Diagnostic::error("missing-key", message).at(fields.place_at(fields.pointer())).help(help));
    }
    first
}

fn is_used(name: &str, messages: &[Message]) -> bool {
    let has = |pieces: &[Piece]| text::places(pieces).any(|place| place == name);
    messages.iter().any(|message| match &message.content {
        MessageContent::Text(Fixed::Text(text)) => has(text),
        MessageContent::Read(uri, _) => has(uri),
        MessageContent::Embedded { uri, content: Fixed::Text(text), .. } => has(uri) || has(text),
        MessageContent::Embedded { uri, .. } => has(uri),
        MessageContent::Text(Fixed::File(_)) | MessageContent::Media(_) => false,
    })
}
