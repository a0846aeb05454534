//! Tools: what a client sees, and how a call is carried out.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::Value;

use super::operation::{Linked, Location, Style};
use super::schema::Schema;
use crate::load::extension::{MissingRoute, NextPage, Risk, SearchTerms, StreamDialect, WebSocketExchange};

/// One tool. `bind` makes it; `describe`, `hints` and `freeze` complete it.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    /// JSON pointer of the operation.
    pub(crate) origin: String,
    pub(crate) name: String,
    pub(crate) title: String,
    /// The purpose: one or two sentences.
    pub(crate) purpose: String,
    /// True where the purpose is a description, and not only the title.
    pub(crate) is_described: bool,
    /// Purpose, inputs, returns and caution.
    pub(crate) description: String,
    pub(crate) returns: Option<String>,
    pub(crate) caution: Option<String>,
    /// Tags in lower case.
    pub(crate) tags: Vec<String>,
    pub(crate) hints: Hints,
    pub(crate) search: SearchTerms,
    /// Method and path as declared; empty where the tool is no request.
    pub(crate) declared: (String, String),
    /// Arguments in the order in which people read them.
    pub(crate) arguments: Vec<Argument>,
    /// Arguments that callers never see.
    pub(crate) hidden: Vec<Hidden>,
    pub(crate) binding: Binding,
    /// Fields of the body argument that lists show; `None` shows all.
    pub(crate) advertise: Option<Vec<String>>,
    /// Types whose members became arguments.
    pub(crate) flattened: BTreeSet<String>,
    /// Descriptions of body fields that hold for this tool only.
    pub(crate) field_texts: IndexMap<String, String>,
    pub(crate) deadline_seconds: Option<u64>,
    /// Clients that know tasks get one.
    pub(crate) long: bool,
    /// JSON pointers into `data`; an empty one masks everything.
    pub(crate) secrets: Vec<String>,
    /// What a success answers as JSON.
    pub(crate) output: Option<Schema>,
    /// The schemas, frozen.
    pub(crate) frozen: Frozen,
}

impl Tool {
    /// The arguments that a request is made of: what callers give, then what they do not see.
    pub(crate) fn sent(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().chain(self.hidden.iter().map(|hidden| &hidden.argument))
    }

    /// The area that the tool belongs to: its first tag.
    pub(crate) fn area(&self) -> &str {
        self.tags.first().map_or("general", String::as_str)
    }
}

/// What a call may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hints {
    pub(crate) risk: Risk,
    pub(crate) idempotent: bool,
    pub(crate) open_world: bool,
}

/// The tool's schemas, as the JSON texts of their files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frozen {
    /// What calls are checked against.
    pub(crate) input: String,
    /// What lists show, where that is less.
    pub(crate) listed: Option<String>,
    /// The shape of `data`.
    pub(crate) result: Option<String>,
    /// Bytes of what lists show, as compact JSON.
    pub(crate) shown_bytes: usize,
}

impl Frozen {
    /// What lists show.
    pub(crate) fn shown(&self) -> &str {
        self.listed.as_ref().unwrap_or(&self.input)
    }
}

/// One argument.
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    /// JSON pointer of what it came from; empty where we added it.
    pub(crate) origin: String,
    pub(crate) name: String,
    pub(crate) wire_name: String,
    pub(crate) role: Role,
    pub(crate) required: bool,
    /// True where the body that it belongs to cannot be sent without it.
    pub(crate) needed_by_body: bool,
    /// False where it is accepted and never shown.
    pub(crate) shown: bool,
    pub(crate) description: Option<String>,
    pub(crate) schema: Schema,
    /// Accepted value, value on the wire.
    pub(crate) send_as: Vec<(String, String)>,
}

/// An argument that callers never see.
#[derive(Debug, Clone)]
pub(crate) struct Hidden {
    pub(crate) argument: Argument,
    pub(crate) value: HiddenValue,
}

/// Where its value comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HiddenValue {
    Constant(Value),
    /// The key of a setting, and the JSON Schema of its value.
    Setting {
        key: String,
        schema: Value,
    },
}

/// How pages are followed. Arguments are named as callers know them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pages {
    /// The argument that says how many items are wanted.
    pub(crate) argument: String,
    /// JSON pointer of the list in an answer.
    pub(crate) items: String,
    pub(crate) next: NextPage,
}

/// Where an argument goes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Role {
    /// Outside the body.
    Parameter { location: Location, style: Style, explode: bool, reserved: bool },
    /// The whole body; a file input where it is bytes.
    Body { media_type: String, file: bool },
    /// A member of the body, which is a JSON object.
    Member,
    /// A field of a form.
    Field { style: Style, explode: bool, file: bool, content_type: Option<String>, reserved: bool },
    /// A header of a field's parts.
    PartHeader { part: String, explode: bool },
    /// Another body that may be sent instead; its members are fields where it is a form.
    Alternative { media_type: String, file: bool, fields: Vec<AlternativeField> },
    /// The media type of the body, among several.
    ContentType,
    /// What bounds or feeds a WebSocket exchange.
    Exchange,
    /// Further text fields of a form.
    Extra,
    /// How many items are wanted of a list in pages.
    Paging,
    /// What a handler in Rust takes.
    Input,
}

/// A field of a form that is one argument.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AlternativeField {
    pub(crate) wire_name: String,
    pub(crate) style: Style,
    pub(crate) explode: bool,
    pub(crate) file: bool,
    pub(crate) content_type: Option<String>,
    pub(crate) reserved: bool,
}

impl Role {
    /// True where the argument is the body, a part of it, or another body.
    pub(crate) fn is_of_body(&self) -> bool {
        matches!(self, Self::Body { .. } | Self::Member | Self::Field { .. } | Self::Alternative { .. } | Self::Extra)
    }

    /// True where the argument is a file input.
    pub(crate) fn is_file(&self) -> bool {
        matches!(
            self,
            Self::Field { file: true, .. } | Self::Body { file: true, .. } | Self::Alternative { file: true, .. }
        )
    }
}

/// How a call is carried out.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "there is one a tool, and nearly all of them are HTTP")]
pub(crate) enum Binding {
    Http(HttpBinding),
    WebSocket {
        path: String,
        exchange: WebSocketExchange,
        /// Names of security schemes by alternative; `None` where the server's own hold.
        security: Option<Vec<Vec<String>>>,
        server: Option<String>,
    },
    NoRoute(MissingRoute),
    /// A handler in Rust, which makes content blocks or JSON.
    Native {
        content: bool,
    },
    /// A jq filter over the arguments.
    Expression(String),
    /// Several calls.
    Steps(Steps),
    /// What a linked executor does.
    Linked(Linked),
}

impl Binding {
    /// True where the tool is no operation of the API.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self, Self::Native { .. } | Self::Expression(_) | Self::Steps(_) | Self::Linked(_))
    }
}

/// Several calls as one tool.
#[derive(Debug, Clone, Default)]
pub(crate) struct Steps {
    /// The plan as servers read it, as text.
    pub(crate) plan: String,
    /// What is called, in order: tools, and requests as method and path.
    pub(crate) calls: Vec<String>,
}

/// One HTTP request.
#[derive(Debug, Clone)]
pub(crate) struct HttpBinding {
    pub(crate) method: String,
    /// Path of the real route.
    pub(crate) path: String,
    pub(crate) form: Option<FormKind>,
    /// What a multipart form says beyond its fields.
    pub(crate) multipart: Option<Multipart>,
    /// The JSON object that the members make.
    pub(crate) object: Option<ObjectBody>,
    /// Media types that a success is declared to have.
    pub(crate) produces: Vec<String>,
    pub(crate) stream: Option<StreamDialect>,
    pub(crate) stand_in: Option<MissingRoute>,
    pub(crate) security: Option<Vec<Vec<String>>>,
    pub(crate) server: Option<String>,
    /// jq filter over a JSON answer.
    pub(crate) project: Option<String>,
    pub(crate) pages: Option<Pages>,
}

/// A JSON object whose members are arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObjectBody {
    pub(crate) media_type: String,
    /// Whether it is sent without any member too.
    pub(crate) required: bool,
}

/// A multipart body, its fields aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Multipart {
    /// Media type to send, in lower case and without parameters.
    pub(crate) media_type: String,
    /// Headers of parts that have one value: wire name of the field, name, value.
    pub(crate) headers: Vec<(String, String, String)>,
}

/// Which kind of form the fields make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormKind {
    Urlencoded,
    Multipart,
}

impl FormKind {
    /// The form that is sent as a media type in lower case and without parameters, if it is one.
    pub(crate) fn of(essence: &str) -> Option<Self> {
        match essence {
            "application/x-www-form-urlencoded" => Some(Self::Urlencoded),
            other => other.starts_with("multipart/").then_some(Self::Multipart),
        }
    }

    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Urlencoded => "application/x-www-form-urlencoded",
            Self::Multipart => "multipart/form-data",
        }
    }
}
