//! The keys of our own files, declared once: the reader takes its known keys from here, and editors the JSON Schema.

use serde_json::{Map, Value, json};

use super::config::FIXED_TOOLS;

mod content;
mod executor;
mod workflow;

pub(crate) use content::{ANNOTATIONS, ANSWER, EMBEDDED, MESSAGE, PROMPT, PROMPT_ARGUMENT, RESOURCE};
pub(super) use executor::{ACCESS, EFFORTS, LEVELS, LIMITS, LLM, MODEL, ROOT, SANDBOX};
use workflow::VALUES;
pub(crate) use workflow::{ACTION, ARAZZO, CRITERION, STEP, STEP_BODY, STEP_HTTP, STEP_PARAMETER, WORKFLOW};

/// One key of a mapping in a file of ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    kind: Kind,
    is_required: bool,
    about: &'static str,
}

/// What stands behind a key.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Any value.
    Any,
    Text,
    /// A text of this form (ECMA-262).
    Pattern(&'static str),
    Switch,
    /// A whole number from 1 to this.
    Whole(u64),
    /// A whole number from 0 to this.
    Count(u32),
    Texts,
    /// One of these.
    Words(&'static [&'static str]),
    /// A mapping with these keys and no others.
    Keys(&'static [Key]),
    /// A mapping from names of the author's own.
    Map(&'static Kind),
    List(&'static Kind),
    /// Any of these.
    Either(&'static [Kind]),
    /// A JSON Schema.
    Schema,
    /// Arguments by name, each a JSON Schema; or the JSON Schema of them all.
    Input,
    /// Texts of the tools that every server has.
    FixedTools,
}

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, is_required: false, about }
}

const fn required(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { is_required: true, ..key(name, kind, about) }
}

impl Key {
    /// The largest number that may stand behind it.
    pub(super) const fn most(&self) -> u64 {
        match self.kind {
            Kind::Whole(most) => most,
            _ => u64::MAX,
        }
    }
}

/// The names alone.
pub(crate) fn names(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

/// More than any model reads.
pub(crate) const MOST_TOKENS: u64 = 10_000_000;
const TOOL_NAME: Kind = Kind::Pattern("^[a-z][a-z0-9_]{0,47}$");
const RISK: Kind = Kind::Words(&["read-only", "compute", "write", "destructive"]);
const TEXT_OR_TEXTS: Kind = Kind::Either(&[Kind::Text, Kind::Texts]);
/// Where the values of a request's part come from: its names with inputs, or inputs that have the names of the part.
const PLACED: Kind = Kind::Either(&[Kind::Map(&Kind::Either(&[Kind::Text, Kind::Keys(SENT)])), Kind::Texts]);

/// What is sent in a place that no input fills.
pub(super) const SENT: &[Key] = &[
    key("constant", Kind::Any, "A value that is always sent."),
    key("setting", Kind::Text, "A setting of the tool whose value is sent."),
    key("schema", Kind::Schema, "JSON Schema of the setting's value, where it is no text."),
];

pub(super) const HINTS: &[Key] = &[
    key("risk", RISK, "What a call may do; all MCP hints follow from it."),
    key("idempotent", Kind::Switch, "Whether repeating a call has no further effect."),
    key("open_world", Kind::Switch, "Whether a call reaches beyond the API itself."),
];

const SEARCH: &[Key] = &[
    key("en", Kind::Texts, "English phrases."),
    key("ko", Kind::Texts, "Korean phrases."),
    key("ja", Kind::Texts, "Japanese phrases."),
];

pub(super) const SETTING: &[Key] = &[
    required("description", Kind::Text, "What the setting is for, in one sentence."),
    key("default", Kind::Text, "Its value where the operator sets none."),
    key("secret", Kind::Switch, "Whether its value is never shown and no flag exists."),
];

pub(super) const HTTP: &[Key] = &[
    required("method", Kind::Words(METHODS), "The HTTP method."),
    required("path", Kind::Pattern("^/"), "The path below the base URL; what stands in braces is an input."),
    key(
        "query",
        PLACED,
        "Query parameters: name in the query, input, `{constant: ..}` or `{setting: ..}`. Or a list of inputs with the same names.",
    ),
    key("headers", PLACED, "Headers, in the same way."),
    key(
        "body",
        Kind::Either(&[Kind::Text, PLACED]),
        "The JSON body: members with their inputs, or the one input that is the body.",
    ),
    key("accept", Kind::Text, "Media type of the answer; application/json by default."),
    key("project", Kind::Text, "A jq filter that makes `data` of a JSON answer."),
    key("paginate", Kind::Keys(PAGINATE), "How further pages are asked for; arguments by their names on the wire."),
];

const PAGINATE: &[Key] = &[
    key(
        "items",
        Kind::Pattern("^(/|$)"),
        "JSON pointer of the list in an answer; nothing where the answer is the list.",
    ),
    key("link", Kind::Switch, "Follow the `Link` header with rel=next."),
    key(
        "cursor",
        Kind::Keys(&[
            required("answer", Kind::Pattern("^(/|$)"), "JSON pointer of the cursor in an answer."),
            required("argument", Kind::Text, "The parameter that takes it."),
        ]),
        "Give a value of the answer back.",
    ),
    key(
        "offset",
        Kind::Keys(&[
            required("argument", Kind::Text, "The parameter that says how many items to leave out."),
            key("size_argument", Kind::Text, "The parameter that says how many items a page has."),
        ]),
        "Leave out the items that came.",
    ),
    key(
        "page",
        Kind::Keys(&[
            required("argument", Kind::Text, "The parameter that holds the number of the page."),
            key("size_argument", Kind::Text, "The parameter that says how many items a page has."),
            key("first", Kind::Any, "The number of the first page: 0 or 1."),
        ]),
        "Count pages.",
    ),
];

/// The methods of `http`.
pub(crate) const METHODS: &[&str] = &["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS"];

/// Keys of `native`.
pub(super) const NATIVE: &[Key] =
    &[key("content", Kind::Switch, "Whether the handler makes content blocks, such as images, in place of JSON.")];

/// What carries out a tool. A file names one.
pub(super) const EXECUTORS: &[Key] = &[
    key("http", Kind::Keys(HTTP), "One request of the API."),
    key("native", Kind::Keys(NATIVE), "A handler in Rust, in the server's own crate `native/`."),
    key("expression", Kind::Text, "A jq filter over the arguments."),
    key("llm", Kind::Keys(LLM), "A question to a language model."),
    key("sandbox", Kind::Keys(SANDBOX), "A command in a sandbox: within folders, with listed programs, within limits."),
    key("steps", Kind::List(&Kind::Keys(STEP)), "Several calls as one, in the words of OpenAPI Arazzo 1.0."),
];

/// Keys of a tool file beside its executor.
pub(super) const TOOL: &[Key] = &[
    key("name", TOOL_NAME, "The tool's name; that of the file where it is left out."),
    key("title", Kind::Text, "The name for people, at most 40 characters."),
    required("description", Kind::Text, "What the tool does: one or two short sentences, first word a verb."),
    key("hints", Kind::Keys(HINTS), "What a call may do."),
    key("tags", Kind::Texts, "Areas, of which the first is the tool's own."),
    key("search", Kind::Keys(SEARCH), "Phrases that people use for this and the texts do not hold."),
    key("caution", Kind::Text, "What changes or is lost."),
    key("returns", Kind::Text, "What comes back, as a phrase that continues \"Returns: \"."),
    key("input", Kind::Input, "The arguments: name, JSON Schema. A name that ends in `?` is optional."),
    key("output", Kind::Schema, "JSON Schema of what comes back."),
    key("settings", Kind::Map(&Kind::Keys(SETTING)), "Settings of the server that this tool needs."),
    key("outputs", VALUES, "What a tool of `steps` answers: name, value. By default, the outputs of all steps."),
    key("project", Kind::Text, "A jq filter over the outputs of `steps`, which makes `data`."),
    key(
        "secret",
        Kind::Either(&[Kind::Words(&["text"]), Kind::Texts]),
        "JSON pointers into the result whose values are masked.",
    ),
    key("deadline_seconds", Kind::Whole(86_400), "Deadline of a call, where it differs from the server's."),
    key("long", Kind::Switch, "Whether clients that know MCP tasks get one instead of waiting for the result."),
];

const AUTH: &[Key] = &[required("bearer", Kind::Words(&["api_key"]), "The setting that holds the bearer token.")];

pub(super) const UPSTREAM: &[Key] = &[
    key("base_url", Kind::Pattern("^https?://"), "Where the API is by default."),
    required("env_prefix", Kind::Pattern("^[A-Z][A-Z0-9_]*$"), "Prefix of the environment variables."),
    key("auth", Kind::Keys(AUTH), "How the server proves who it is, in place of the document's security schemes."),
];

const SELECTOR: &[Key] = &[
    key("tag", TEXT_OR_TEXTS, "Glob over tags."),
    key("path", TEXT_OR_TEXTS, "Glob over declared paths."),
    key("method", TEXT_OR_TEXTS, "Methods."),
    key("hint", TEXT_OR_TEXTS, "read-only, compute, write, destructive, idempotent or open-world."),
    key("name", TEXT_OR_TEXTS, "Glob over tool names."),
];

const HINT_RULE: &[Key] = &[
    key("tag", TEXT_OR_TEXTS, "Glob over tags."),
    key("path", TEXT_OR_TEXTS, "Glob over declared paths."),
    key("method", TEXT_OR_TEXTS, "Methods."),
    key("name", TEXT_OR_TEXTS, "Glob over tool names."),
    key("risk", RISK, "What calls may do."),
    key("idempotent", Kind::Switch, "Whether a call may be repeated."),
    key("open_world", Kind::Switch, "Whether a call reaches beyond the API itself."),
    key("caution", Kind::Text, "What changes or is lost; `risk: destructive` needs it."),
];

/// Keys of a rule that hides an argument of many operations.
pub(super) const ARGUMENT_RULE: &[Key] = &[
    required("name", Kind::Text, "The argument's name on the wire."),
    key("in", Kind::Words(&["path", "query", "header", "cookie", "body"]), "Where it stands in a request."),
    key("tag", TEXT_OR_TEXTS, "Glob over tags."),
    key("path", TEXT_OR_TEXTS, "Glob over declared paths."),
    key("method", TEXT_OR_TEXTS, "Methods."),
    key("constant", Kind::Any, "What is sent with every call."),
    key("setting", Kind::Pattern("^[a-z][a-z0-9_]{0,47}$"), "The setting of the server that holds what is sent."),
    key("description", Kind::Text, "What the setting is for, in one sentence."),
    key("default", Kind::Any, "What the setting is where nothing is set."),
    key("secret", Kind::Switch, "Whether the setting's value is never shown."),
];

/// Keys of `server.yaml`.
pub(super) const SERVER: &[Key] = &[
    required("server", Kind::Pattern("^[a-z][a-z0-9-]*$"), "The name of the folder; names the generated packages."),
    required("title", Kind::Text, "The name for people."),
    key("description", Kind::Text, "One sentence about the server."),
    key("version", Kind::Text, "Version of the generated packages: three numbers."),
    key("document", Kind::Text, "The API document, relative to this folder. A server of tool files alone has none."),
    key("prose", Kind::Words(&["keep", "drop"]), "Whether the document's own words are used."),
    key("body", Kind::Words(&["flattened", "wrapped"]), "Whether each member of a JSON body is an argument."),
    key("overlays", Kind::Texts, "Overlay files, in the order in which they apply."),
    key("instructions", Kind::Text, "The MCP instructions."),
    key("upstream", Kind::Keys(UPSTREAM), "The API behind the server. A server whose tools call none has no such key."),
    key("exposed", Kind::Texts, "Tools that are listed by default."),
    key("expose", Kind::List(&Kind::Keys(SELECTOR)), "Rules whose tools are listed, too."),
    key("hide", Kind::List(&Kind::Keys(SELECTOR)), "Rules whose tools are not listed."),
    key("hints", Kind::List(&Kind::Keys(HINT_RULE)), "What calls may do, where nothing nearer says it."),
    key(
        "arguments",
        Kind::List(&Kind::Keys(ARGUMENT_RULE)),
        "Arguments that callers never see, and what is sent for them.",
    ),
    key(
        "budget",
        Kind::Whole(MOST_TOKENS),
        "Most tokens that the tools listed by default may take; more is an error of `regenerate`.",
    ),
    key("read_only", Kind::Switch, "Whether only tools that read or compute are made."),
    key("structs", Kind::Texts, "Tags whose tools get a Rust struct each in a large server."),
    key("health", Kind::Texts, "Tools that `server_health` calls."),
    key("require_descriptions", Kind::Switch, "Whether a missing text is an error."),
    key("fixed_tools", Kind::FixedTools, "Texts of the tools that every server has."),
];

/// JSON Schema (2020-12) of tool files, for editors.
#[must_use]
pub fn tool_file_schema() -> Value {
    let all: Vec<Key> = TOOL.iter().chain(EXECUTORS).copied().collect();
    let mut root = headed("A tool file: specs/SERVER/tools/NAME.yaml", mapping(&all));
    let one: Vec<Value> = EXECUTORS.iter().map(|executor| json!({"required": [executor.name]})).collect();
    root.insert("oneOf".to_owned(), one.into());
    root.into()
}

/// JSON Schema (2020-12) of prompt files, for editors.
#[must_use]
pub fn prompt_file_schema() -> Value {
    headed("A prompt file: specs/SERVER/prompts/NAME.yaml", mapping(PROMPT)).into()
}

/// JSON Schema (2020-12) of resource files, for editors.
#[must_use]
pub fn resource_file_schema() -> Value {
    let mut root = headed("A resource file: specs/SERVER/resources/NAME.yaml", mapping(RESOURCE));
    let one: Vec<Value> = ["text", "file", "tool"].iter().map(|key| json!({"required": [key]})).collect();
    root.insert("oneOf".to_owned(), one.into());
    root.into()
}

/// JSON Schema (2020-12) of `server.yaml`, for editors.
#[must_use]
pub fn server_file_schema() -> Value {
    headed("The settings of a server: specs/SERVER/server.yaml", mapping(SERVER)).into()
}

fn headed(title: &str, schema: Map<String, Value>) -> Map<String, Value> {
    let head = [("$schema", "https://json-schema.org/draft/2020-12/schema"), ("title", title)];
    head.into_iter().map(|(key, text)| (key.to_owned(), text.into())).chain(schema).collect()
}

/// A closed mapping, but for keys of others, which begin with `x-`.
fn mapping(keys: &[Key]) -> Map<String, Value> {
    let properties: Map<String, Value> = keys
        .iter()
        .map(|key| {
            let mut schema = schema(key.kind);
            schema.insert("description".to_owned(), key.about.into());
            (key.name.to_owned(), schema.into())
        })
        .collect();
    let required: Vec<&str> = keys.iter().filter(|key| key.is_required).map(|key| key.name).collect();
    let mut root = object(json!({"type": "object", "properties": properties}));
    if !required.is_empty() {
        root.insert("required".to_owned(), json!(required));
    }
    root.insert("patternProperties".to_owned(), json!({"^x-": {}}));
    root.insert("additionalProperties".to_owned(), false.into());
    root
}

fn schema(kind: Kind) -> Map<String, Value> {
    let of = |kind: Kind| Value::from(schema(kind));
    object(match kind {
        Kind::Any => json!({}),
        Kind::Text => json!({"type": "string"}),
        Kind::Pattern(pattern) => json!({"type": "string", "pattern": pattern}),
        Kind::Switch => json!({"type": "boolean"}),
        Kind::Whole(most) => json!({"type": "integer", "minimum": 1, "maximum": most}),
        Kind::Count(most) => json!({"type": "integer", "minimum": 0, "maximum": most}),
        Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Words(words) => json!({"enum": words}),
        Kind::Keys(keys) => return mapping(keys),
        Kind::Map(kind) => json!({"type": "object", "additionalProperties": of(*kind)}),
        Kind::List(kind) => json!({"type": "array", "items": of(*kind)}),
        Kind::Either(kinds) => json!({"anyOf": kinds.iter().copied().map(of).collect::<Vec<_>>()}),
        Kind::Schema => json!({"type": ["object", "boolean"]}),
        Kind::Input => {
            json!({"type": "object", "additionalProperties": {"type": ["object", "boolean", "array", "string"]}})
        }
        Kind::FixedTools => fixed_tools(),
    })
}

fn fixed_tools() -> Value {
    let text = json!({"type": "string"});
    let tool = |arguments: &[&str]| {
        let texts: Map<String, Value> = arguments.iter().map(|name| ((*name).to_owned(), text.clone())).collect();
        json!({
            "type": "object",
            "properties": {
                "title": text,
                "description": text,
                "arguments": {"type": "object", "properties": texts, "additionalProperties": false},
            },
            "required": ["title", "description"],
        })
    };
    let tools: Map<String, Value> =
        FIXED_TOOLS.iter().map(|(name, arguments)| ((*name).to_owned(), tool(arguments))).collect();
    json!({"type": "object", "properties": tools, "additionalProperties": false})
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{extension, select};

    #[test]
    fn the_words_of_a_risk_are_those_that_the_reader_takes() {
        let Kind::Words(words) = RISK else { panic!("a risk is a word") };
        assert_eq!(words, extension::risk_words());
    }

    #[test]
    fn rules_have_the_keys_that_the_reader_takes() {
        assert_eq!(names(SELECTOR), select::KEYS);
        assert_eq!(names(HINT_RULE), select::HINT_KEYS);
    }
}
