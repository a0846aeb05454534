//! What callers of a server see, read back from its catalog, and how two versions of it differ.

mod changes;
mod content;
mod inputs;
mod markdown;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Place, Sink};
use crate::{FileSet, load::Files};

pub use changes::{Changes, ContentChange, InputChange, Renamed, ToolChange, compare};

/// The tools of one version of a server, as callers see them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surface {
    /// The server's title, for headings.
    pub title: String,
    /// Names of the tools listed by default.
    pub listed: Vec<String>,
    /// By name.
    pub tools: BTreeMap<String, SurfaceTool>,
    /// Prompts by name, with their arguments and whether those are required.
    pub prompts: BTreeMap<String, BTreeMap<String, bool>>,
    /// URIs of resources, and templates of them.
    pub resources: BTreeSet<String>,
}

/// One tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SurfaceTool {
    /// Method and path as the document declares them.
    pub route: String,
    /// What a call may do, such as `read-only`.
    pub risk: String,
    /// The MCP hints by name.
    pub hints: BTreeMap<String, bool>,
    /// Title and description.
    pub texts: (String, String),
    /// JSON Schema of the arguments.
    pub input: Value,
    /// Arguments that are members of a body, and whether an optional body cannot be sent without them.
    pub members: BTreeMap<String, bool>,
    /// Where each argument goes: its place and its name there, by the argument's own name.
    pub sent_as: BTreeMap<String, (String, String)>,
}

impl Surface {
    /// Reads `catalog.json` in `dir` (such as `generated/x-tools`), and the schemas that it names.
    ///
    /// What is missing or malformed is reported to `sink`.
    pub fn read(files: &Files, dir: &str, sink: &mut Sink) -> Option<Self> {
        Self::gather(dir, &|path| files.get(path), sink)
    }

    /// The surface of generated packages.
    pub fn of_generated(files: &FileSet, sink: &mut Sink) -> Option<Self> {
        let dir = files.packages().into_iter().find(|package| package.ends_with("-tools"))?.to_owned();
        Self::gather(&dir, &|path| files.get(path), sink)
    }

    fn gather<'f>(dir: &str, file: &dyn Fn(&str) -> Option<&'f [u8]>, sink: &mut Sink) -> Option<Self> {
        let catalog = json(&format!("{dir}/catalog.json"), file, sink)?;
        let mut surface = Surface {
            title: text(&catalog, "title"),
            listed: strings(catalog.get("exposed")),
            tools: BTreeMap::new(),
            prompts: entries(&catalog, "prompts").map(|prompt| (text(prompt, "name"), arguments(prompt))).collect(),
            resources: entries(&catalog, "resources").map(uri).collect(),
        };
        for tool in entries(&catalog, "tools") {
            let schema = strings(tool.get("schemas")).into_iter().next().unwrap_or_default();
            let Some(input) = json(&format!("{dir}/{schema}"), file, sink) else { continue };
            let hints = tool.get("annotations").and_then(Value::as_object).into_iter().flatten();
            let found = SurfaceTool {
                route: text(tool, "declared"),
                risk: text(tool, "risk"),
                hints: hints.filter_map(|(name, value)| Some((name.clone(), value.as_bool()?))).collect(),
                texts: (text(tool, "title"), text(tool, "description")),
                members: members(tool),
                sent_as: sent_as(tool),
                input,
            };
            surface.tools.insert(text(tool, "name"), found);
        }
        Some(surface)
    }
}

fn json<'f>(path: &str, file: &dyn Fn(&str) -> Option<&'f [u8]>, sink: &mut Sink) -> Option<Value> {
    let report = |message: String, sink: &mut Sink| {
        let help = "generate the server again, and compare with what that makes";
        sink.push(Diagnostic::error("unreadable-catalog", message).at(Place::of_file(path)).help(help));
    };
    let Some(bytes) = file(path) else {
        report("this file of the catalog is missing".to_owned(), sink);
        return None;
    };
    match serde_json::from_slice(bytes) {
        Ok(value) => Some(value),
        Err(error) => {
            report(format!("this file of the catalog is not JSON: {error}"), sink);
            None
        }
    }
}

fn entries<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Arguments of a prompt, and whether they are required.
fn arguments(prompt: &Value) -> BTreeMap<String, bool> {
    let is_required = |argument: &Value| argument.get("required") == Some(&Value::Bool(true));
    entries(prompt, "arguments").map(|argument| (text(argument, "name"), is_required(argument))).collect()
}

/// The URI of a resource, or the template.
fn uri(resource: &Value) -> String {
    let key = if resource.get("uri").is_some() { "uri" } else { "uri_template" };
    text(resource, key)
}

fn members(tool: &Value) -> BTreeMap<String, bool> {
    let arguments = tool.get("arguments").and_then(Value::as_object).into_iter().flatten();
    let members = arguments.filter(|(_, argument)| argument.get("in").is_some_and(|place| place == "member"));
    let needed = |argument: &Value| argument.get("required_by_body") == Some(&Value::Bool(true));
    members.map(|(name, argument)| (name.clone(), needed(argument))).collect()
}

/// Arguments without a name on the wire, such as whole bodies, go by their place and media type.
fn sent_as(tool: &Value) -> BTreeMap<String, (String, String)> {
    let arguments = tool.get("arguments").and_then(Value::as_object).into_iter().flatten();
    let wire = |name: &str, argument: &Value| match (text(argument, "wire"), text(argument, "media_type")) {
        (wire, _) if !wire.is_empty() => wire,
        (_, media_type) if !media_type.is_empty() => media_type,
        _ => name.to_owned(),
    };
    arguments.map(|(name, argument)| (name.clone(), (text(argument, "in"), wire(name, argument)))).collect()
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}
