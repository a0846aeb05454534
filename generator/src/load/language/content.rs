//! The keys of prompt files and resource files.

use super::{Key, Kind, TOOL_NAME, key, required};

/// Where suggestions come from: a list, or the answer of a tool.
const COMPLETE: Kind = Kind::Either(&[Kind::Texts, Kind::Keys(ANSWER)]);

/// The answer of a tool.
pub(crate) const ANSWER: &[Key] = &[
    required("tool", Kind::Text, "A tool of this server that only reads."),
    key("arguments", Kind::Map(&Kind::Any), "Its arguments: name, value. A text may have places in braces."),
    key("project", Kind::Text, "A jq filter over `data` of the answer."),
];

/// Keys of a prompt file.
pub(crate) const PROMPT: &[Key] = &[
    key("name", TOOL_NAME, "The prompt's name; that of the file where it is left out."),
    key("title", Kind::Text, "The name for people."),
    required("description", Kind::Text, "What the prompt is for."),
    key(
        "arguments",
        Kind::Map(&Kind::Keys(PROMPT_ARGUMENT)),
        "What a person fills in, by name. A name that ends in `?` is optional.",
    ),
    required("messages", Kind::List(&Kind::Keys(MESSAGE)), "The messages, in order."),
];

/// An argument of a prompt.
pub(crate) const PROMPT_ARGUMENT: &[Key] = &[
    key("title", Kind::Text, "The name for people."),
    required("description", Kind::Text, "What to write."),
    key("default", Kind::Text, "The value of an optional argument that is not given."),
    key("ask", Kind::Text, "What the person is asked, through the client, where the argument is not given."),
    key("complete", COMPLETE, "Where suggestions come from: a list of texts, or the answer of a tool."),
];

/// A message of a prompt.
pub(crate) const MESSAGE: &[Key] = &[
    key("role", Kind::Words(&["user", "assistant"]), "Who says it; the user by default."),
    key("text", Kind::Text, "A text; `{name}` is the place of an argument."),
    key(
        "resource",
        Kind::Either(&[Kind::Text, Kind::Keys(EMBEDDED)]),
        "A resource: the URI of one of this server, which is read then, or one that stands here.",
    ),
    key("file", Kind::Text, "An image, a sound or a text, beside this file."),
    key("mime_type", MEDIA_TYPE, "Media type of `file`, where its name does not say it."),
];

/// A resource that stands in a message.
pub(crate) const EMBEDDED: &[Key] = &[
    required("uri", Kind::Text, "Its URI, which may be the place of an argument."),
    key("mime_type", MEDIA_TYPE, "Its media type."),
    key("text", Kind::Text, "Its text; `{name}` is the place of an argument."),
    key("file", Kind::Text, "A file beside this one that holds it."),
];

const MEDIA_TYPE: Kind = Kind::Pattern("^[a-z0-9.+-]+/[A-Za-z0-9.+-]+");

/// Keys of a resource file.
pub(crate) const RESOURCE: &[Key] = &[
    key("name", TOOL_NAME, "The resource's name; that of the file where it is left out."),
    key("title", Kind::Text, "The name for people."),
    required("description", Kind::Text, "What the resource holds."),
    required(
        "uri",
        Kind::Pattern("^[a-z][a-z0-9+.-]*:"),
        "Its URI. With variables in braces (RFC 6570, level 1) it is a template of many.",
    ),
    key("mime_type", MEDIA_TYPE, "Media type of the content."),
    key("annotations", Kind::Keys(ANNOTATIONS), "Hints for clients."),
    key("text", Kind::Text, "The content; `{name}` is the place of a variable of the URI."),
    key("file", Kind::Text, "A file beside this one that is the content."),
    key("tool", Kind::Text, "A tool of this server that only reads; its answer is the content."),
    key("arguments", Kind::Map(&Kind::Any), "Arguments of `tool`: name, value. A text may have places in braces."),
    key("project", Kind::Text, "A jq filter over `data` of the answer of `tool`."),
    key("complete", Kind::Map(&COMPLETE), "Where suggestions for variables of the URI come from, by variable."),
];

/// Hints for clients.
pub(crate) const ANNOTATIONS: &[Key] = &[
    key("audience", Kind::List(&Kind::Words(&["user", "assistant"])), "Whom it is meant for."),
    key("priority", Kind::Any, "How much it matters: a number from 0 to 1."),
    key("last_modified", Kind::Text, "When it last changed, such as 2026-01-31T12:00:00Z."),
];
