//! How a tool's arguments become a request: plain data that an executor reads.

use crate::{Hidden, LinkedBinding, Paginate, Requirements};

/// How a call is carried out.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::large_enum_variant, reason = "rows are static, and nearly all of them are HTTP")]
pub enum Binding {
    /// One HTTP request.
    Http(HttpBinding),
    /// One WebSocket exchange.
    WebSocket(WebSocketBinding),
    /// The document declares the operation, and the real server has no such route.
    NoRoute(NoRoute),
    /// A handler in Rust (see [`crate::NativeTools`]).
    Native,
    /// A jq filter over the arguments.
    Expression(&'static str),
    /// Several calls as one: the plan as JSON (crate `toolwright-steps`).
    Steps(&'static str),
    /// What an executor does that the server links (see [`crate::Executor`]).
    Linked(LinkedBinding),
}

impl Binding {
    /// True where the tool is no operation of an API: its result is made by the server itself, which declares its shape.
    #[must_use]
    pub const fn is_own(&self) -> bool {
        matches!(self, Binding::Native | Binding::Expression(_) | Binding::Steps(_) | Binding::Linked(_))
    }

    /// True where a call may make requests of the API behind the server.
    #[must_use]
    pub const fn calls_an_api(&self) -> bool {
        matches!(self, Binding::Http(_) | Binding::WebSocket(_) | Binding::Steps(_))
    }
}

/// Why a declared operation cannot be called.
#[derive(Debug, Clone, Copy)]
pub struct NoRoute {
    /// One sentence for the caller.
    pub missing: &'static str,
    /// The tool to use instead.
    pub instead: Option<&'static str>,
}

/// HTTP methods (RFC 9110 section 9, RFC 5789), and any other by its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// GET.
    Get,
    /// PUT.
    Put,
    /// POST.
    Post,
    /// DELETE.
    Delete,
    /// PATCH.
    Patch,
    /// HEAD.
    Head,
    /// OPTIONS.
    Options,
    /// TRACE.
    Trace,
    /// QUERY (OpenAPI 3.2), or an additional operation's own token.
    Other(&'static str),
}

impl Method {
    /// The token on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Put => "PUT",
            Method::Post => "POST",
            Method::Delete => "DELETE",
            Method::Patch => "PATCH",
            Method::Head => "HEAD",
            Method::Options => "OPTIONS",
            Method::Trace => "TRACE",
            Method::Other(token) => token,
        }
    }

    /// True where a repeated request has no further effect (RFC 9110 section 9.2.1: safe methods).
    #[must_use]
    pub const fn is_safe(self) -> bool {
        matches!(self, Method::Get | Method::Head | Method::Options | Method::Trace)
    }
}

/// One HTTP request: where each argument goes.
#[derive(Debug, Clone, Copy)]
pub struct HttpBinding {
    /// Method of the real route.
    pub method: Method,
    /// Path template of the real route, below the base URL.
    pub path: &'static str,
    /// Arguments outside the body.
    pub parameters: &'static [Parameter],
    /// The body.
    pub body: Body,
    /// Media types that the document declares for success, in its order; empty where it declares none.
    pub produces: &'static [&'static str],
    /// The event dialect where the answer is `text/event-stream`.
    pub stream: Option<StreamDialect>,
    /// A note where the declared route is missing and `path` stands in for it.
    pub stand_in: Option<NoRoute>,
    /// Credentials that this operation needs; `None` where the server's own requirements hold.
    pub security: Option<Requirements>,
    /// URL of this operation's own server (OpenAPI 3.1 section 4.8.5), absolute or relative to the upstream's.
    pub server: Option<&'static str>,
    /// Arguments that callers never see.
    pub hidden: &'static [Hidden],
    /// jq filter over a JSON answer, which makes `data` of it.
    pub project: Option<&'static str>,
    /// How further pages of the answer are asked for.
    pub paginate: Option<Paginate>,
}

impl HttpBinding {
    /// A GET of the root, without anything: a base for rows written by hand.
    pub const PLAIN: HttpBinding = HttpBinding {
        method: Method::Get,
        path: "/",
        parameters: &[],
        body: Body::None,
        produces: &[],
        stream: None,
        stand_in: None,
        security: None,
        server: None,
        hidden: &[],
        project: None,
        paginate: None,
    };
}

/// Where a parameter goes (OpenAPI 3.1 section 4.8.12.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// A segment, or part of one, of the path.
    Path,
    /// The query string.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
}

/// How arrays and objects are written (OpenAPI 3.1 section 4.8.12.3; `Tabs` is Swagger 2.0's `tsv`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `simple`.
    Simple,
    /// `form`.
    Form,
    /// `label`.
    Label,
    /// `matrix`.
    Matrix,
    /// `spaceDelimited`.
    Spaces,
    /// `pipeDelimited`.
    Pipes,
    /// Swagger 2.0 `tsv`: tab separated.
    Tabs,
    /// `deepObject`.
    Deep,
    /// `cookie` (OpenAPI 3.2 section 4.12.3): as `form`, without percent-encoding.
    Cookie,
    /// A `content` parameter: the value as compact JSON.
    Json,
}

/// An argument outside the body.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Name of the argument.
    pub argument: &'static str,
    /// Name on the wire.
    pub wire: &'static str,
    /// Where it goes.
    pub location: Location,
    /// How arrays and objects are written.
    pub style: Style,
    /// Whether arrays and objects are spread.
    pub explode: bool,
    /// Whether reserved characters of a query value stay as they are (`allowReserved`, OpenAPI 3.1 section 4.8.12.2).
    pub reserved: bool,
    /// Accepted values that are written differently on the wire: accepted, sent.
    pub send_as: &'static [(&'static str, &'static str)],
}

/// The request body.
#[derive(Debug, Clone, Copy)]
pub enum Body {
    /// No body.
    None,
    /// One argument as JSON.
    Json {
        /// Name of the argument.
        argument: &'static str,
        /// Media type to send, with its parameters.
        media_type: &'static str,
    },
    /// One JSON object, each of whose members is an argument.
    Object {
        /// Media type to send, with its parameters.
        media_type: &'static str,
        /// Whether it is sent without any member too, as `{}`. An optional body is then left out.
        required: bool,
        /// The members, in the document's order.
        members: &'static [Member],
    },
    /// One argument as it is: text in a media type of text, a file input in any other.
    Raw {
        /// Name of the argument.
        argument: &'static str,
        /// Media type to send, with its parameters.
        media_type: &'static str,
    },
    /// One of several bodies that differ.
    Choice {
        /// The argument that names the media type; without it, the first alternative is sent.
        argument: &'static str,
        /// The alternatives, each with its own arguments.
        alternatives: &'static [Alternative],
    },
    /// `application/x-www-form-urlencoded`.
    Form {
        /// The fields.
        fields: &'static [Field],
        /// The argument whose members are sent as further fields.
        extra: Option<&'static str>,
    },
    /// A multipart body whose parts have names: `multipart/form-data` (RFC 7578), or another subtype written alike.
    Multipart {
        /// Media type to send, without its boundary.
        media_type: &'static str,
        /// The fields.
        fields: &'static [Field],
        /// Headers of parts beyond those that every part has.
        headers: &'static [PartHeader],
        /// The argument whose members are sent as further text fields, accepted and not advertised.
        extra: Option<&'static str>,
    },
}

impl Body {
    /// Arguments that are a whole JSON body.
    pub fn whole_json(&self) -> impl Iterator<Item = &'static str> + use<> {
        let own: (Option<&'static str>, &'static [Alternative]) = match *self {
            Body::Json { argument, .. } => (Some(argument), &[]),
            Body::Choice { alternatives, .. } => (None, alternatives),
            _ => (None, &[]),
        };
        let of = |alternative: &'static Alternative| match alternative.body {
            Body::Json { argument, .. } => Some(argument),
            _ => None,
        };
        own.0.into_iter().chain(own.1.iter().filter_map(of))
    }

    /// The members of a JSON object that need not be sent.
    #[must_use]
    pub const fn optional_members(&self) -> &'static [Member] {
        match self {
            Body::Object { required: false, members, .. } => members,
            _ => &[],
        }
    }
}

/// A member of a JSON body.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// Name of the argument.
    pub argument: &'static str,
    /// Name on the wire.
    pub wire: &'static str,
    /// Whether the body cannot be sent without it.
    pub required: bool,
}

/// One of several bodies of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Alternative {
    /// Media type by which it is chosen.
    pub media_type: &'static str,
    /// The argument whose members are the form's fields; `None` where they are arguments of their own.
    pub inside: Option<&'static str>,
    /// Arguments without which this body cannot be sent.
    pub required: &'static [&'static str],
    /// The body. It is never a choice itself.
    pub body: Body,
}

/// What a form field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Text, numbers, booleans; arrays and objects by style.
    Value,
    /// A file input.
    File,
}

/// A field of a form body.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Name of the argument.
    pub argument: &'static str,
    /// Name on the wire.
    pub wire: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// How arrays and objects are written.
    pub style: Style,
    /// Whether arrays and objects are spread.
    pub explode: bool,
    /// Media type of the part (OpenAPI 3.1 section 4.8.15.1), where the document says one.
    pub content_type: Option<&'static str>,
    /// Whether reserved characters stay as they are where the form is urlencoded (`allowReserved`, same section).
    pub reserved: bool,
    /// Accepted values that are written differently on the wire: accepted, sent.
    pub send_as: &'static [(&'static str, &'static str)],
}

/// A header of a part (`headers` of the Encoding Object, OpenAPI 3.1 section 4.8.15.1). Parts that are not sent have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartHeader {
    /// Name of the field on the wire, all of whose parts have the header.
    pub part: &'static str,
    /// Name of the header.
    pub wire: &'static str,
    /// What it says.
    pub value: PartHeaderValue,
}

/// What a header of a part says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartHeaderValue {
    /// The one value that the document allows.
    Fixed(&'static str),
    /// The value of an argument, in `simple` style; without the argument, there is no such header.
    Argument {
        /// Name of the argument.
        name: &'static str,
        /// Whether the members of an object are written as `name=value`.
        explode: bool,
    },
}

/// How the events of a stream are put together into the answer's non-streamed shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamDialect {
    /// OpenAI chat and text completion chunks, ended by `[DONE]`.
    OpenAi,
    /// Anthropic `message_start` … `message_stop`.
    Anthropic,
    /// OpenAI Responses `response.*` events.
    Responses,
    /// OpenAI `transcript.text.delta` and `.done`.
    Transcript,
}

/// One WebSocket exchange.
#[derive(Debug, Clone, Copy)]
pub struct WebSocketBinding {
    /// Path template.
    pub path: &'static str,
    /// Arguments outside the exchange.
    pub parameters: &'static [Parameter],
    /// What is said.
    pub exchange: Exchange,
    /// Credentials that the handshake needs; `None` where the server's own requirements hold.
    pub security: Option<Requirements>,
    /// URL of this operation's own server, absolute or relative to the upstream's.
    pub server: Option<&'static str>,
    /// Arguments that callers never see.
    pub hidden: &'static [Hidden],
}

/// What the two sides of a WebSocket say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// The server speaks; arguments `max_messages` and `timeout_seconds` bound it.
    Receive,
    /// The client opens with the JSON object `session` (its `type` is `session.update`), sends `frames_base64` as
    /// binary frames, and ends with `session.close`; the server answers meanwhile.
    Session,
}
