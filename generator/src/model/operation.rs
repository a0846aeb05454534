//! Operations as the document declares them.

use indexmap::IndexMap;
use serde_json::Value;

use super::schema::Schema;
use crate::load::extension::OperationExtension;

/// One method on one path, or one tool of a file.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    /// JSON pointer in the document's 3.1 form.
    pub(crate) origin: String,
    /// Method in upper case.
    pub(crate) method: String,
    /// Path template. Empty, as the method is, where the tool is no request.
    pub(crate) path: String,
    pub(crate) executor: Executor,
    pub(crate) operation_id: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) description: Option<String>,
    /// Tags in the document's order and spelling.
    pub(crate) tags: Vec<String>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<RequestBody>,
    /// Further bodies that differ from the first and may be sent instead.
    pub(crate) other_bodies: Vec<RequestBody>,
    /// Names of security schemes by alternative; `None` where the document's own requirements hold.
    pub(crate) security: Option<Vec<Vec<String>>>,
    /// URL of the operation's or the path's own server, its variables replaced by keys of settings.
    pub(crate) server: Option<String>,
    /// Success answers first, in order of status.
    pub(crate) responses: Vec<Response>,
    /// What our own key says.
    pub(crate) extension: OperationExtension,
}

impl Operation {
    /// The schemas of everything that is sent, and of the successes that come back.
    pub(crate) fn schemas_mut(&mut self) -> impl Iterator<Item = &mut Schema> {
        let parameters = self.parameters.iter_mut().map(|parameter| &mut parameter.schema);
        let bodies = self.body.iter_mut().chain(&mut self.other_bodies).flat_map(RequestBody::schemas_mut);
        let answers = self.responses.iter_mut().filter(|response| response.is_success());
        let answers = answers.flat_map(|answer| answer.contents.iter_mut().filter_map(|(_, schema)| schema.as_mut()));
        parameters.chain(bodies).chain(answers)
    }

    /// Method and path, for messages; the name of a tool that is no request.
    pub(crate) fn route(&self) -> String {
        match self.executor {
            Executor::Request => format!("{} {}", self.method, self.path),
            _ => self.extension.name.clone().unwrap_or_default(),
        }
    }

    /// The schemas of parameters, bodies and answers.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = &Schema> {
        let parameters = self.parameters.iter().map(|parameter| &parameter.schema);
        let bodies = self.body.iter().chain(&self.other_bodies).map(|body| &body.schema);
        let answers = self.responses.iter().flat_map(|answer| &answer.contents);
        parameters.chain(bodies).chain(answers.filter_map(|(_, schema)| schema.as_ref()))
    }
}

/// What carries a tool out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Executor {
    /// One request of the API.
    Request,
    /// A handler in Rust, which makes content blocks or JSON.
    Native { content: bool },
    /// A jq filter over the arguments.
    Expression(String),
    /// Several calls.
    Steps,
    /// What a crate of the runtime does that only servers with such tools link.
    Linked(Linked),
}

/// A tool of an executor that servers link where they need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Linked {
    pub(crate) executor: &'static str,
    /// What the executor reads, as the text of its file.
    pub(crate) plan: String,
    /// jq filter over `data`.
    pub(crate) project: Option<String>,
    /// What is asked or run, for readers.
    pub(crate) about: String,
}

/// The executors that servers link where they need them: `toolwright-NAME` is the crate of each.
pub(crate) const LINKED: [&str; 2] = ["llm", "sandbox"];

impl Linked {
    /// From what a tool file's executor became.
    pub(crate) fn of(executor: &'static str, node: &Value) -> Self {
        let mut plan = node.clone();
        let members = plan.as_object_mut();
        let project = members.and_then(|members| members.shift_remove("project"));
        Linked {
            executor,
            plan: crate::catalog::pretty(&plan),
            project: project.and_then(|project| project.as_str().map(str::to_owned)),
            about: about(node),
        }
    }
}

/// The model, or the command.
fn about(node: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(group) => group.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        other => other.get("setting").and_then(Value::as_str).map(|name| format!("setting {name}")).unwrap_or_default(),
    };
    if let Some(Value::Array(command)) = node.get("command") {
        return command.iter().map(text).collect::<Vec<_>>().join(" ");
    }
    let said = node.get("shell").or_else(|| node.get("model"));
    said.map(text).unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

/// Where a parameter stands in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Location {
    Path,
    Query,
    Header,
    Cookie,
}

impl Location {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }
}

/// How arrays and objects are written (OpenAPI 3.1 section 4.8.12.3; `Tabs` is Swagger 2.0's `tsv`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Simple,
    Form,
    Label,
    Matrix,
    Spaces,
    Pipes,
    Tabs,
    Deep,
    /// `cookie` of OpenAPI 3.2: as `form`, without percent-encoding.
    Cookie,
    Json,
}

impl Style {
    /// Whether arrays and objects are spread where nothing says it (OpenAPI 3.2 section 4.12.2.2).
    pub(crate) fn explodes(self) -> bool {
        matches!(self, Self::Form | Self::Cookie)
    }

    /// The word for it in attributes and in the catalog.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Form => "form",
            Self::Label => "label",
            Self::Matrix => "matrix",
            Self::Spaces => "spaces",
            Self::Pipes => "pipes",
            Self::Tabs => "tabs",
            Self::Deep => "deep",
            Self::Cookie => "cookie",
            Self::Json => "json",
        }
    }
}

/// A parameter outside the body.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) origin: String,
    /// Where the operation or its path lists it; `origin` is behind the reference, if that is one.
    pub(crate) listed_at: String,
    pub(crate) wire_name: String,
    pub(crate) location: Location,
    pub(crate) required: bool,
    pub(crate) style: Style,
    pub(crate) explode: bool,
    /// Whether reserved characters of its values stay as they are.
    pub(crate) reserved: bool,
    pub(crate) description: Option<String>,
    pub(crate) schema: Schema,
}

/// What an operation takes as its body.
#[derive(Debug, Clone)]
pub(crate) struct RequestBody {
    pub(crate) required: bool,
    /// The name that the document gives the body.
    pub(crate) argument: Option<String>,
    pub(crate) description: Option<String>,
    /// The media type that is sent, as written in the document.
    pub(crate) media_type: String,
    pub(crate) kind: BodyKind,
    pub(crate) schema: Schema,
    /// How form fields are written, by wire name.
    pub(crate) encoding: IndexMap<String, FieldEncoding>,
}

impl RequestBody {
    /// The media type as it is sent. Ranges cannot be sent as they are: text and JSON have a form of their own, and bytes
    /// take the file's own type.
    pub(crate) fn sendable(&self) -> String {
        match self.kind {
            BodyKind::Json if self.media_type.contains('*') => "application/json".to_owned(),
            BodyKind::Text if self.media_type.contains('*') => "text/plain".to_owned(),
            _ => self.media_type.clone(),
        }
    }

    /// Its schema, and those of the headers of its parts.
    fn schemas_mut(&mut self) -> impl Iterator<Item = &mut Schema> {
        let headers = self.encoding.values_mut().flat_map(|encoding| &mut encoding.headers);
        std::iter::once(&mut self.schema).chain(headers.map(|header| &mut header.schema))
    }
}

/// The kinds of body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Json,
    Form,
    Multipart,
    /// Text, as it is.
    Text,
    /// One JSON value a line, or a JSON text sequence.
    Lines,
    /// Bytes: a file input.
    Binary,
}

/// How one form field is written; `None` means the document says nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldEncoding {
    pub(crate) style: Option<Style>,
    pub(crate) explode: Option<bool>,
    /// Media type of the part.
    pub(crate) content_type: Option<String>,
    /// Whether reserved characters of its values stay as they are.
    pub(crate) reserved: bool,
    /// Headers of the part.
    pub(crate) headers: Vec<PartHeader>,
}

/// A header of a part (OpenAPI 3.1 section 4.8.15.1).
#[derive(Debug, Clone)]
pub(crate) struct PartHeader {
    pub(crate) origin: String,
    pub(crate) wire_name: String,
    pub(crate) required: bool,
    pub(crate) explode: bool,
    pub(crate) description: Option<String>,
    pub(crate) schema: Schema,
}

/// One answer.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    /// `200`, `4XX`, `default`.
    pub(crate) status: String,
    /// Media type and schema of each declared form, in the document's order.
    pub(crate) contents: Vec<(String, Option<Schema>)>,
}

impl Response {
    pub(crate) fn is_success(&self) -> bool {
        self.status.starts_with('2')
    }
}

impl BodyKind {
    /// The kind of a media type; ranges are read as what they most likely stand for.
    pub(crate) fn of(media_type: &str) -> Self {
        const TEXT: [&str; 8] = [
            "application/xml",
            "application/yaml",
            "application/x-yaml",
            "application/toml",
            "application/javascript",
            "application/graphql",
            "application/sql",
            "application/csv",
        ];
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            parts if parts.starts_with("multipart/") => Self::Multipart,
            "application/x-www-form-urlencoded" => Self::Form,
            "*/*" | "application/*" | "application/json" | "text/json" => Self::Json,
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/x-jsonlines"
            | "application/json-seq" => Self::Lines,
            json if json.ends_with("+json") => Self::Json,
            text if text.starts_with("text/") || TEXT.contains(&text) => Self::Text,
            text if text.ends_with("+yaml") || text.ends_with("+xml") && text != "image/svg+xml" => Self::Text,
            _ => Self::Binary,
        }
    }

    /// True where the members of an object are fields of a form.
    pub(crate) fn is_form(self) -> bool {
        matches!(self, Self::Form | Self::Multipart)
    }
}
