//! Operations as the document declares them.

use indexmap::IndexMap;

use super::schema::Schema;
use crate::load::extension::OperationExtension;

/// One method on one path.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    /// JSON pointer in the document's 3.1 form.
    pub(crate) origin: String,
    /// Method in upper case.
    pub(crate) method: String,
    /// Path template.
    pub(crate) path: String,
    pub(crate) operation_id: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) description: Option<String>,
    /// Tags in the document's order and spelling.
    pub(crate) tags: Vec<String>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<RequestBody>,
    /// Success answers first, in order of status.
    pub(crate) responses: Vec<Response>,
    /// What our own key says.
    pub(crate) extension: OperationExtension,
}

impl Operation {
    /// Method and path, for messages.
    pub(crate) fn route(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
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
    Json,
}

impl Style {
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

/// The three kinds of body that can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Json,
    Form,
    Multipart,
}

/// How one form field is written; `None` means the document says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FieldEncoding {
    pub(crate) style: Option<Style>,
    pub(crate) explode: Option<bool>,
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
    /// The media type by which forms are known.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Form => "application/x-www-form-urlencoded",
            Self::Multipart => "multipart/form-data",
        }
    }
}
