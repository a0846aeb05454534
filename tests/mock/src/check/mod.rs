//! A request against its operation.

mod body;
mod parameter;
pub(crate) mod schema;
mod text;

use crate::document::Operation;
use crate::record::Part;
use crate::violation::Finding;
use bytes::Bytes;
use serde_json::Value;

/// A request, taken apart for checking and answering.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: String,
    /// As sent.
    pub(crate) path: String,
    /// As sent.
    pub(crate) query: Option<String>,
    /// Lower-case names.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
    /// The parts of a multipart body, or why they could not be read.
    pub(crate) parts: Result<Vec<Part>, String>,
    /// Path values as sent.
    pub(crate) path_values: Vec<(String, String)>,
}

impl Call {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The media type without parameters, in lower case.
    pub(crate) fn media_type(&self) -> Option<String> {
        self.header("content-type").map(essence)
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// A decoded query value.
    pub(crate) fn query_value(&self, name: &str) -> Option<String> {
        let pairs = text::pairs(self.query.as_deref().unwrap_or(""));
        pairs.into_iter().find(|(n, _)| n == name).map(|(_, raw)| text::decode_form(&raw))
    }

    /// A decoded path value.
    pub(crate) fn path_value(&self, name: &str) -> String {
        let found = self.path_values.iter().find(|(n, _)| n == name);
        found.map(|(_, raw)| text::decode(raw)).unwrap_or_default()
    }

    /// The text of a form field.
    pub(crate) fn form_value(&self, name: &str) -> Option<String> {
        let part = self.parts.as_ref().ok()?.iter().find(|part| part.name == name)?;
        Some(String::from_utf8_lossy(&part.bytes).into_owned())
    }
}

/// The media type of a `Content-Type` value without its parameters, in lower case.
pub(crate) fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

/// Everything found about one request.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    pub(crate) extra_fields: Vec<String>,
}

/// Check a request against the operation it was routed to.
pub(crate) fn request(root: &Value, operation: &Operation, call: &Call) -> Report {
    let mut report = Report::default();
    parameter::check(root, operation, call, &mut report);
    body::check(root, operation, call, &mut report);
    report
}
