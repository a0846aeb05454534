//! The mock's own reading of an API document.
//!
//! It is deliberately independent of the generator: if both read a document wrongly in the same way, the wire tests would
//! agree with themselves. Schemas stay the JSON values of the document; `check` and `sample` walk them as they are.

mod openapi3;
mod reference;
mod swagger2;
mod text;

pub(crate) use reference::resolve;

use serde_json::Value;
use std::sync::Arc;

/// Why a document cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The text is neither JSON nor YAML.
    #[error("the document is neither JSON nor YAML: {0}")]
    Syntax(#[from] serde_yaml::Error),
    /// Neither `swagger: "2.0"` nor `openapi: 3.x` stands at the root.
    #[error("the document names neither Swagger 2.0 nor OpenAPI 3")]
    Version,
    /// There is no `paths` object.
    #[error("the document has no paths")]
    NoPaths,
}

/// A decoded document.
#[derive(Debug)]
pub(crate) struct Document {
    /// The document itself, for references.
    pub(crate) root: Arc<Value>,
    /// What stands before every path, without a trailing slash; empty for `/`.
    pub(crate) base_path: String,
    pub(crate) operations: Vec<Operation>,
}

/// One method of one path.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    /// `METHOD /template`, the name used in violations, records and faults.
    pub(crate) key: String,
    pub(crate) id: Option<String>,
    pub(crate) method: String,
    pub(crate) template: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
    pub(crate) responses: Vec<Response>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    Header,
    Cookie,
}

impl Place {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }
}

/// How a value that is not a scalar is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// One pair per item; an object's properties become pairs of their own (`form` with `explode`, `multi`).
    Repeated,
    /// Items joined by a character inside one value; `decoded_first` where the document's version splits after decoding.
    Joined { by: char, decoded_first: bool },
    /// `name[property]=value`.
    Deep,
    /// `.value`, RFC 6570 section 3.2.5.
    Label,
    /// `;name=value`, RFC 6570 section 3.2.7.
    Matrix,
    /// The value is JSON text (`content` of a parameter).
    Json,
}

#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) required: bool,
    pub(crate) schema: Value,
    pub(crate) style: Style,
    pub(crate) explode: bool,
    /// Whether its text is not percent-encoded (the style `cookie`).
    pub(crate) bare: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) required: bool,
    pub(crate) media: Vec<Media>,
}

/// One media type of a body, with its fields when it is a form.
#[derive(Debug, Clone)]
pub(crate) struct Media {
    pub(crate) name: String,
    pub(crate) schema: Value,
    pub(crate) form: Option<Form>,
}

#[derive(Debug, Clone)]
pub(crate) struct Form {
    pub(crate) fields: Vec<Field>,
    /// Whether fields that are not listed may be sent.
    pub(crate) open: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) kind: FieldKind,
    /// The name is the beginning of the real names, which go on as `[key]`.
    pub(crate) keyed: bool,
    /// Headers that its parts are declared to have.
    pub(crate) headers: Vec<PartHeader>,
}

#[derive(Debug, Clone)]
pub(crate) struct PartHeader {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) explode: bool,
    pub(crate) schema: Value,
}

#[derive(Debug, Clone)]
pub(crate) enum FieldKind {
    /// A part with a file name; `many` where an array of files is declared.
    File {
        many: bool,
    },
    Text {
        schema: Value,
        style: Style,
    },
    /// A part that is JSON text.
    Json {
        schema: Value,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Response {
    /// `200`, `2XX` or `default`.
    pub(crate) status: String,
    /// Media types with their schemas; empty when there is no content.
    pub(crate) media: Vec<(String, Value)>,
    pub(crate) headers: Vec<(String, Value)>,
}

impl Document {
    /// Read a document from JSON or YAML text.
    pub(crate) fn parse(source: &str) -> Result<Self, DocumentError> {
        Self::from_value(text::decode(source)?)
    }

    /// Read a document that is parsed already.
    pub(crate) fn from_value(root: Value) -> Result<Self, DocumentError> {
        let root = Arc::new(root);
        let version = |key: &str| root.get(key).map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned));
        if version("swagger").is_some_and(|v| v.starts_with('2')) {
            swagger2::read(Arc::clone(&root))
        } else if version("openapi").is_some_and(|v| v.starts_with('3')) {
            openapi3::read(Arc::clone(&root))
        } else {
            Err(DocumentError::Version)
        }
    }

    /// The operation with this key, for the personality's corrections.
    pub(crate) fn operation_mut(&mut self, key: &str) -> Option<&mut Operation> {
        self.operations.iter_mut().find(|o| o.key == key)
    }
}

const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// Every path item with its methods, in document order; a path item may itself be a reference.
fn path_items(root: &Value) -> Result<Vec<(&str, &Value)>, DocumentError> {
    let paths = root.get("paths").and_then(Value::as_object).ok_or(DocumentError::NoPaths)?;
    Ok(paths
        .iter()
        .filter(|(path, _)| path.starts_with('/'))
        .map(|(path, item)| (path.as_str(), resolve(root, item)))
        .collect())
}

/// Parameters of an operation joined with those of its path item; the operation's own win (OpenAPI 3.1 section 4.8.10.1).
fn joined_parameters<'a>(root: &'a Value, item: &'a Value, operation: &'a Value) -> Vec<&'a Value> {
    let list = |node: &'a Value| -> Vec<&'a Value> {
        node.get("parameters")
            .and_then(Value::as_array)
            .map(|a| a.iter().map(|p| resolve(root, p)).collect())
            .unwrap_or_default()
    };
    let own = list(operation);
    let same = |a: &Value, b: &Value| a.get("name") == b.get("name") && a.get("in") == b.get("in");
    let mut joined: Vec<&Value> = list(item).into_iter().filter(|p| !own.iter().any(|o| same(o, p))).collect();
    joined.extend(own);
    joined
}

fn text_of<'a>(node: &'a Value, key: &str) -> Option<&'a str> {
    node.get(key).and_then(Value::as_str)
}

/// `true`, and the text `"true"` that some documents hold.
fn flag(node: &Value, key: &str) -> bool {
    match node.get(key) {
        Some(Value::Bool(b)) => *b,
        Some(Value::String(s)) => s == "true",
        _ => false,
    }
}

fn trimmed_base(path: &str) -> String {
    let path = path.trim_end_matches('/');
    if path.is_empty() || path.starts_with('/') { path.to_owned() } else { format!("/{path}") }
}
