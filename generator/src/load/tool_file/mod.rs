//! Tool files: `specs/<server>/tools/*.yaml`, one tool each, found without being listed.
//!
//! A file lowers to what a document has for an operation, with the way back to its lines. From there on a tool of a file
//! and one of a document are the same: the same passes, findings and emitters.

mod bounds;
mod definitions;
mod input;
mod llm;
mod request;
mod said;
mod sandbox;
mod shell;

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use self::definitions::Definitions;
pub(super) use self::input::Input;
use self::input::Inputs;
use super::Files;
use super::config::ToolSetting;
use super::filter;
use super::hidden;
use super::language::{EXECUTORS, HINTS, NATIVE, SETTING, TOOL, names};
use super::named_file::Kind;
use super::strict::{Fields, Places, did_you_mean};
use crate::diagnostic::{Diagnostic, Sink};
use crate::source::{Source, child_pointer};

/// Where the tools of files stand in the document's 3.1 form, by name: `{method, path, operation}`, with the executor's own key,
/// such as `native` or `steps`, in place of the request.
pub(crate) const TOOLS: &str = "x-toolwright-tools";

/// Keys that other executors are going to have.
const RESERVED: [&str; 1] = ["sql"];

/// What a file says, in the document's words.
#[derive(Debug)]
pub(super) struct ToolFile {
    pub(super) name: String,
    pub(super) source: Arc<Source>,
    /// See [`TOOLS`].
    pub(super) node: Value,
    /// Pointer inside the node, pointer in the file.
    pub(super) origins: Vec<(String, String)>,
    pub(super) settings: IndexMap<String, ToolSetting>,
}

impl ToolFile {
    /// Whether a call makes requests of the API.
    pub(super) fn is_http(&self) -> bool {
        self.node.get("method").is_some() || self.node.get("steps").is_some()
    }
}

/// Whether a pointer of the 3.1 form leads into a tool file.
pub(crate) fn is_of_file(pointer: &str) -> bool {
    pointer.strip_prefix('/').and_then(|rest| rest.strip_prefix(TOOLS)).is_some_and(|rest| rest.starts_with('/'))
}

/// Files that are a tool each.
pub(super) const TOOL_FILES: Kind = Kind { folder: "tools", what: "tool", has_others: false };

/// Reads every tool file of a server.
pub(super) fn read_all(files: &Files, dir: &str, sink: &mut Sink) -> Vec<ToolFile> {
    TOOL_FILES.read_all(files, dir, sink, read)
}

fn read(name: &str, value: &Value, source: &Arc<Source>, sink: &mut Sink) -> Option<ToolFile> {
    let places = |pointer: &str| source.place(pointer);
    let known: Vec<&str> = names(TOOL).into_iter().chain(names(EXECUTORS)).chain(RESERVED).collect();
    let fields = Fields::open(value, "", &known, &places, sink)?;
    TOOL_FILES.check_name(&fields, name, sink);
    fields.require("description", "<what it does, first word a verb>", sink);
    let executor = executor(&fields, value, sink)?;
    keys_of_steps(&fields, executor, sink);
    let mut tool = Lowered::new(name, "", "/name");
    tool.texts(&fields, sink);
    tool.extension(&fields, executor, sink);
    let inputs = Inputs::read(&fields, &mut tool, &places, sink)?;
    let settings = settings(&fields, &places, sink);
    let accept = match executor {
        "http" => request::lower(&fields, &inputs, &settings, (&mut tool, &places), sink)?,
        _ => {
            let author = Author { fields: &fields, inputs: &inputs, settings: &settings, places: &places };
            own(executor, &author, &mut tool, sink)?;
            tool.body(inputs.members(), "/input");
            "application/json".to_owned()
        }
    };
    tool.output(&fields, &accept, &places, sink);
    Some(tool.finish(Arc::clone(source), settings))
}

/// What an executor needs to know of a file.
#[derive(Clone, Copy)]
struct Author<'f> {
    fields: &'f Fields<'f>,
    inputs: &'f Inputs,
    settings: &'f IndexMap<String, ToolSetting>,
    places: Places<'f>,
}

/// What is no request: a handler, a filter, a question, a command, or steps. Steps are read when the tools that they name are
/// known.
fn own(executor: &'static str, author: &Author<'_>, tool: &mut Lowered, sink: &mut Sink) -> Option<()> {
    let fields = author.fields;
    match executor {
        "llm" => {
            let plan = llm::plan(author, sink)?;
            tool.hand_over(executor, plan, &fields.pointer_of(executor));
        }
        "sandbox" => {
            let plan = sandbox::plan(author, tool, sink)?;
            tool.hand_over(executor, plan, &fields.pointer_of(executor));
        }
        "native" => {
            let native = fields.child(executor, &names(NATIVE), sink)?;
            let content = native.boolean("content", sink).unwrap_or(false);
            if content && fields.get("output").is_some() {
                let error =
                    Diagnostic::error("output-not-json", "`output` describes JSON, and the handler makes content");
                sink.push(error.at(fields.place("output")).help("remove `output`, or `content` under `native`"));
            }
            tool.node.insert(executor.to_owned(), json!({"content": content}));
        }
        "expression" => {
            let text = fields.string(executor, sink)?;
            filter::check(&text, executor, "the arguments", fields.place(executor), sink);
            tool.node.insert(executor.to_owned(), text.into());
        }
        _ => {
            for key in [executor, "outputs", "project"] {
                if let Some(value) = fields.get(key) {
                    tool.hand_over(key, value.clone(), &fields.pointer_of(key));
                }
            }
        }
    }
    Some(())
}

/// Keys that speak of steps.
fn keys_of_steps(fields: &Fields<'_>, executor: &str, sink: &mut Sink) {
    for key in ["outputs", "project"].into_iter().filter(|key| executor != "steps" && fields.get(key).is_some()) {
        let help = match (executor, key) {
            ("http" | "sandbox", "project") => &format!("write it below `{executor}`"),
            (_, "outputs") => "what comes back is described by `output`",
            _ => "remove it",
        };
        let error = Diagnostic::error("misplaced-key", format!("`{key}` belongs to a tool of `steps`"));
        sink.push(error.at(fields.place(key)).help(help));
    }
}

/// The one executor that the file names.
fn executor(fields: &Fields<'_>, value: &Value, sink: &mut Sink) -> Option<&'static str> {
    let all = names(EXECUTORS);
    let list = all.join(", ");
    let unknown: Vec<&str> = RESERVED.into_iter().filter(|key| fields.get(key).is_some()).collect();
    for key in &unknown {
        let error = Diagnostic::error("unknown-executor", format!("there is no executor `{key}`"));
        sink.push(error.at(fields.place(key)).help(format!("the executors are: {list}")));
    }
    let mut named = all.iter().copied().filter(|key| fields.get(key).is_some());
    let first = named.next();
    if let Some(second) = named.next() {
        let error = Diagnostic::error("two-executors", "a tool has one executor").at(fields.place(second));
        sink.push(error.help(format!("remove `{second}`, or make a second file of it")));
        return None;
    }
    let is_silent = unknown.is_empty() && !has_slip(value, &all);
    if first.is_none() && is_silent {
        let error = Diagnostic::error("missing-executor", "nothing says how a call is carried out");
        let help = format!("add `http: {{method: GET, path: /..}}` or `native: {{}}`; the executors are: {list}");
        sink.push(error.at(fields.place_at("")).help(help));
    }
    first.filter(|_| unknown.is_empty())
}

/// Whether a key was reported as a slip for an executor.
fn has_slip(value: &Value, executors: &[&str]) -> bool {
    let keys = value.as_object().into_iter().flat_map(|members| members.keys());
    let mut strange = keys.filter(|key| !names(TOOL).contains(&key.as_str()));
    strange.any(|key| did_you_mean(key, executors.iter().copied()).is_some())
}

fn settings(fields: &Fields<'_>, places: Places<'_>, sink: &mut Sink) -> IndexMap<String, ToolSetting> {
    let base = fields.pointer_of("settings");
    let mut found = IndexMap::new();
    for (key, value) in fields.named("settings", sink) {
        let pointer = child_pointer(&base, key);
        if !input::is_name(key) {
            let error = Diagnostic::error("setting-name", format!("`{key}` is no name of a setting"));
            sink.push(error.at(places(&pointer)).help("small letters, digits and `_`, first a letter"));
            continue;
        }
        let Some(setting) = Fields::open(value, &pointer, &names(SETTING), places, sink) else { continue };
        setting.require("description", "<what it is for>", sink);
        hidden::no_default_secret(&setting, sink);
        let setting = ToolSetting {
            description: setting.string("description", sink).unwrap_or_default(),
            default: setting.string("default", sink).unwrap_or_default(),
            secret: setting.boolean("secret", sink).unwrap_or(false),
            place: places(&pointer),
        };
        found.insert(key.clone(), setting);
    }
    found
}

/// A file on its way to an operation.
pub(super) struct Lowered {
    name: String,
    pub(super) node: Map<String, Value>,
    operation: Map<String, Value>,
    extension: Map<String, Value>,
    pub(super) origins: Vec<(String, String)>,
    /// What comes back where the author does not say it.
    outcome: Option<Value>,
}

/// The operation inside the node of a tool.
const OPERATION: &str = "/operation";

impl Lowered {
    /// A tool of that name: where the file has it, and where it says the name.
    pub(super) fn new(name: &str, root: &str, named_at: &str) -> Self {
        let mut tool = Lowered {
            name: name.to_owned(),
            node: Map::new(),
            operation: Map::new(),
            extension: Map::new(),
            origins: ["", OPERATION].map(|inside| (inside.to_owned(), root.to_owned())).into(),
            outcome: None,
        };
        tool.extend("name", name.into(), named_at);
        tool
    }

    /// Says a thing of the operation, and where the file says it.
    pub(super) fn say(&mut self, key: &str, value: Value, from: &str) {
        self.origins.push((format!("{OPERATION}/{key}"), from.to_owned()));
        self.operation.insert(key.to_owned(), value);
    }

    /// Says a thing under our own key.
    pub(super) fn extend(&mut self, key: &str, value: Value, from: &str) {
        self.origins.push((format!("{OPERATION}/x-toolwright/{key}"), from.to_owned()));
        self.extension.insert(key.to_owned(), value);
    }

    fn texts(&mut self, fields: &Fields<'_>, sink: &mut Sink) {
        for (key, own) in [("summary", "title"), ("description", "description")] {
            if let Some(text) = fields.string(own, sink) {
                self.say(key, text.into(), &fields.pointer_of(own));
            }
        }
        if let Some(tags) = fields.strings("tags", sink) {
            self.say("tags", json!(tags), "/tags");
        }
    }

    /// What overlays say under our own key is checked with theirs.
    fn extension(&mut self, fields: &Fields<'_>, executor: &str, sink: &mut Sink) {
        for key in ["caution", "returns", "search", "secret", "deadline_seconds", "long"] {
            if let Some(value) = fields.get(key) {
                self.extend(key, value.clone(), &fields.pointer_of(key));
            }
        }
        let hints = fields.child("hints", &names(HINTS), sink);
        for key in names(HINTS) {
            if let Some(value) = hints.as_ref().and_then(|hints| hints.get(key)) {
                self.extend(key, value.clone(), &format!("/hints/{key}"));
            }
        }
        if matches!(executor, "expression" | "llm") {
            self.computes(executor, fields, sink);
        }
        let is_wrong = fields.get("hints").is_some() && hints.is_none();
        if matches!(executor, "native" | "sandbox") && !is_wrong && !self.extension.contains_key("risk") {
            let error = Diagnostic::error("missing-key", "nothing says what a call may do");
            let help = "add `hints: { risk: read-only }`; the risks are: read-only, compute, write, destructive";
            let at = if fields.get("hints").is_some() { "/hints" } else { "" };
            sink.push(error.at(fields.place_at(at)).help(help));
        }
    }

    /// Neither a filter nor a model changes anything. A filter has the same outcome every time; what a model is asked leaves
    /// the server.
    fn computes(&mut self, executor: &str, fields: &Fields<'_>, sink: &mut Sink) {
        let (what, follows) = match executor {
            "llm" => ("a question to a model", ("open_world", Value::from(true))),
            _ => ("an expression", ("idempotent", Value::from(true))),
        };
        let risk = self.extension.get("risk").and_then(Value::as_str);
        if let Some(risk @ ("write" | "destructive")) = risk {
            let error = Diagnostic::error("contradicting-hints", format!("{what} that is declared `{risk}`"));
            let help = format!("remove the risk; {what} changes nothing");
            sink.push(error.at(fields.place_at("/hints/risk")).help(help));
        }
        for (key, value) in [("risk", Value::from("compute")), follows] {
            if !self.extension.contains_key(key) {
                self.extend(key, value, &fields.pointer_of(executor));
            }
        }
    }

    /// Puts a part of the file into the node as it is.
    pub(super) fn hand_over(&mut self, key: &str, value: Value, from: &str) {
        self.origins.push((format!("/{key}"), from.to_owned()));
        self.node.insert(key.to_owned(), value);
    }

    /// A JSON body, each of whose members is an argument: wire name, input.
    pub(super) fn body(&mut self, members: Vec<(String, Input)>, from: &str) {
        if members.is_empty() {
            return;
        }
        let properties = format!("{OPERATION}/requestBody/content/application~1json/schema/properties");
        let needed: Vec<&str> =
            members.iter().filter(|(_, input)| !input.optional).map(|(wire, _)| wire.as_str()).collect();
        let declared: Map<String, Value> =
            members.iter().map(|(wire, input)| (wire.clone(), input.schema.clone())).collect();
        let schema = json!({"type": "object", "properties": declared, "required": needed});
        let body = json!({"required": true, "content": {"application/json": {"schema": schema}}});
        self.say("requestBody", body, from);
        for (wire, input) in &members {
            self.origins.push((child_pointer(&properties, wire), input.pointer.clone()));
        }
        self.extend("body", "flattened".into(), from);
    }

    fn output(&mut self, fields: &Fields<'_>, accept: &str, places: Places<'_>, sink: &mut Sink) {
        let mut content = Map::new();
        let definitions = Definitions::of(fields.get("output"), "/output", "output_definitions", places, sink);
        definitions.hand_over(self, places, sink);
        let schema = fields.get("output");
        let schema = schema.map(|schema| definitions.resolved(schema, &self.name, "/output", places, sink));
        let schema = schema.or_else(|| self.outcome.take());
        if schema.is_some() && !accept.contains("json") {
            let error =
                Diagnostic::error("output-not-json", format!("`output` describes JSON, and the answer is {accept}"));
            sink.push(error.at(fields.place("output")).help("remove `output`, or `accept` under `http`"));
        }
        content.insert(accept.to_owned(), schema.map_or_else(|| json!({}), |schema| json!({"schema": schema})));
        let at = child_pointer(&format!("{OPERATION}/responses/200/content"), accept);
        self.origins.push((format!("{at}/schema"), "/output".to_owned()));
        self.operation.insert("responses".to_owned(), json!({"200": {"description": "", "content": content}}));
    }

    pub(super) fn finish(mut self, source: Arc<Source>, settings: IndexMap<String, ToolSetting>) -> ToolFile {
        self.operation.insert("x-toolwright".to_owned(), Value::Object(self.extension));
        self.node.insert("operation".to_owned(), Value::Object(self.operation));
        ToolFile { name: self.name, source, node: Value::Object(self.node), origins: self.origins, settings }
    }
}
