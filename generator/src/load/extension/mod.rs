//! `x-toolwright`: our own key in documents and overlays, read into types.

mod check;
mod paginate;
mod read;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::Document;
use super::config::BodyMode;
use super::hidden::HiddenArgument;
use super::strict::nearest;
use crate::diagnostic::{Place, Sink};

pub(super) use check::check_all;
pub(super) use read::is_snake_case;

/// The key that all of this stands under.
pub const EXTENSION: &str = "x-toolwright";

/// A tool's name has at most this many characters: clients allow 64 and prefix the server's name.
pub(crate) const MAX_NAME: usize = 48;

/// Key that the upgrade writes on an operation which contradicts itself; its value is the reason.
pub(super) const REFUSED: &str = "x-toolwright-refused";

/// What `x-toolwright` says on an operation. See `docs/spec-format.md`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OperationExtension {
    /// The tool's name.
    pub name: Option<String>,
    /// Source of the hints and of the caution.
    pub risk: Option<Risk>,
    /// Whether the call reaches beyond the upstream itself.
    pub open_world: bool,
    /// Overrides what the risk says about repeating the call.
    pub idempotent: Option<bool>,
    /// What comes back; continues "Returns: ".
    pub returns: Option<String>,
    /// What changes or is lost.
    pub caution: Option<String>,
    /// Search phrases by language.
    pub search: SearchTerms,
    /// By the wire name of the parameter, form field or body member.
    pub arguments: IndexMap<String, ArgumentExtension>,
    /// How the JSON body is asked for, where that differs from the server's other bodies.
    pub body: Option<BodyMode>,
    /// The name of the argument that holds the body.
    pub argument: Option<String>,
    /// Describes the body argument.
    pub body_description: Option<String>,
    /// Overrides descriptions of body fields for this operation.
    pub fields: IndexMap<String, String>,
    /// Body fields that `tools/list` shows; `None` shows all.
    pub advertise: Option<Vec<String>>,
    /// What goes in and comes out, where the document does not say.
    pub media: Vec<Media>,
    /// The event dialect of a `text/event-stream` answer.
    pub stream: Option<StreamDialect>,
    /// Set when the operation is a WebSocket exchange.
    pub websocket: Option<WebSocketExchange>,
    /// The path that the real server has.
    pub path: Option<String>,
    /// Set when the real server has no such route.
    pub route: Option<MissingRoute>,
    /// Values masked in results.
    pub secret: Option<Secret>,
    /// Overrides the default deadline, in seconds.
    pub deadline_seconds: Option<u64>,
    /// A call may take so long that clients which know tasks get one.
    pub long: bool,
    /// jq filter over a JSON answer.
    pub project: Option<String>,
    /// How further pages are asked for.
    pub paginate: Option<Pagination>,
    /// Why the operation cannot be a tool: it contradicts itself. Found by the upgrade, never written.
    pub refused: Option<String>,
}

/// The words of a risk.
#[cfg(test)]
pub(super) fn risk_words() -> Vec<&'static str> {
    read::RISKS.iter().map(|(word, _)| *word).collect()
}

/// How much a tool changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// Reads state.
    ReadOnly,
    /// Computes an answer; changes nothing.
    Compute,
    /// Changes state.
    Write,
    /// Loses state.
    Destructive,
}

/// Search phrases by language.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchTerms {
    /// English.
    pub en: Vec<String>,
    /// Korean.
    pub ko: Vec<String>,
    /// Japanese.
    pub ja: Vec<String>,
}

/// What is said about one parameter, form field or body member.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ArgumentExtension {
    /// Its description.
    pub description: Option<String>,
    /// The argument's name, where it differs from the wire name.
    pub name: Option<String>,
    /// Accepted value -> value on the wire.
    pub send_as: IndexMap<String, Value>,
    /// Set where callers never see it.
    pub hidden: Option<HiddenArgument>,
}

/// How the further pages of an answer are asked for. Arguments are named as on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pagination {
    /// JSON pointer of the list in an answer.
    pub items: String,
    /// What asks for the next page.
    pub next: NextPage,
}

/// What asks for the next page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextPage {
    /// The `Link` header.
    Link,
    /// A value of the answer at a JSON pointer, given back as an argument.
    Cursor {
        /// JSON pointer in the answer.
        answer: String,
        /// The argument.
        argument: String,
    },
    /// How many items to leave out.
    Offset {
        /// The argument.
        argument: String,
        /// The argument that says how many items a page has.
        size: Option<String>,
    },
    /// The number of the page.
    Page {
        /// The argument.
        argument: String,
        /// The argument that says how many items a page has.
        size: Option<String>,
        /// The number of the first page, where the argument has no default.
        first: Option<u32>,
    },
}

/// What goes in and comes out of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// JSON both ways.
    Json,
    /// A multipart request.
    Multipart,
    /// A binary answer.
    Binary,
    /// An event stream.
    Sse,
    /// A WebSocket exchange.
    Websocket,
    /// A text answer.
    Text,
}

/// The dialect of an event stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamDialect {
    /// OpenAI chat and completion chunks.
    Openai,
    /// Anthropic messages.
    Anthropic,
    /// OpenAI responses.
    Responses,
    /// OpenAI transcription deltas.
    Transcript,
}

/// How a WebSocket is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebSocketExchange {
    /// The server sends, we listen.
    Receive,
    /// Both send.
    Session,
}

/// The real server has no such route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingRoute {
    /// Says so, to the caller.
    pub missing: String,
    /// The tool to use instead.
    pub instead: Option<String>,
}

/// What to mask in results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// JSON pointers into `data`; `*` stands for any element.
    Pointers(Vec<String>),
    /// The whole text answer.
    Text,
}

/// What `x-toolwright` says on a schema.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SchemaExtension {
    /// A description for each property that may be sent.
    pub fields: IndexMap<String, String>,
}

/// Array forms of Swagger 2.0 that OpenAPI 3 cannot say. Read from
/// `x-toolwright: {collection_format: tsv}` of a parameter or of a form field's `encoding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionFormat {
    /// Values joined by spaces, outside the query.
    Ssv,
    /// Values joined by tabs.
    Tsv,
    /// Values joined by `|`, outside the query.
    Pipes,
}

/// Reads `x-toolwright` of the operation at `pointer` of the 3.1 form; all defaults when there is none.
///
/// Unknown keys, wrong values and names that do not exist were reported when the server was loaded.
#[must_use]
pub fn operation(document: &Document, pointer: &str) -> OperationExtension {
    let node = document.get(pointer);
    let mut extension = extension_of(node)
        .and_then(|value| read::operation(value, "", &no_place, &mut Sink::new()))
        .unwrap_or_default();
    extension.refused = node.and_then(|node| node.get(REFUSED)?.as_str()).map(str::to_owned);
    extension
}

/// Whether an operation's `x-toolwright` has the key, or one that was reported as a slip for it.
pub(crate) fn is_written(members: &Map<String, Value>, key: &str) -> bool {
    let is_slip = |own: &String| {
        !read::OPERATION_KEYS.contains(&own.as_str()) && nearest(own, read::OPERATION_KEYS.iter().copied()) == Some(key)
    };
    members.contains_key(key) || members.keys().any(is_slip)
}

/// Reads `x-toolwright` of the schema at `pointer` of the 3.1 form; all defaults when there is none.
#[must_use]
pub fn schema(document: &Document, pointer: &str) -> SchemaExtension {
    extension_of(document.get(pointer))
        .and_then(|value| read::schema(value, "", &no_place, &mut Sink::new()))
        .unwrap_or_default()
}

/// The argument name that Swagger 2.0 gave to the request body at `pointer` (already resolved).
#[must_use]
pub fn body_argument(document: &Document, pointer: &str) -> Option<String> {
    let argument = extension_of(document.get(pointer))?.get("argument")?;
    argument.as_str().map(str::to_owned)
}

/// The array form of the parameter or form encoding at `pointer`, where style and explode do not say it.
#[must_use]
pub fn collection_format(document: &Document, pointer: &str) -> Option<CollectionFormat> {
    let format = extension_of(document.get(pointer))?.get("collection_format")?;
    let name = format.as_str()?;
    let (_, format) = read::COLLECTION_FORMATS.iter().find(|(word, _)| *word == name)?;
    Some(*format)
}

fn extension_of(node: Option<&Value>) -> Option<&Value> {
    node?.get(EXTENSION)
}

fn no_place(_: &str) -> Place {
    Place::default()
}
