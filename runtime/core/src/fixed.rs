//! The tools that every server has, as lists show them where a server's spec has no texts of its own. They stand here
//! because the runtime lists them, and the generator weighs the list.

use serde_json::{Map, Value, json};

use crate::Risk;

/// A tool that every server has. The texts are those of a server whose spec has none of its own.
#[derive(Debug)]
pub struct Fixed {
    /// Name in MCP.
    pub name: &'static str,
    /// Short title for people.
    pub title: &'static str,
    /// Description for models.
    pub description: &'static str,
    /// Words that group tools.
    pub tags: &'static [&'static str],
    /// What a call may do.
    pub risk: Risk,
    /// Whether a second call changes nothing more.
    pub idempotent: bool,
    /// Whether a call reaches beyond the API's own state.
    pub open_world: bool,
    /// The arguments, in their order.
    pub arguments: &'static [FixedArgument],
}

/// An argument of such a tool.
#[derive(Debug)]
pub struct FixedArgument {
    /// Name.
    pub name: &'static str,
    /// JSON Schema as text, without a description.
    pub schema: &'static str,
    /// Description for models.
    pub description: &'static str,
    /// Whether a call must give it.
    pub required: bool,
}

impl Fixed {
    /// JSON Schema of the arguments, with the server's description of an argument where `given` has one.
    #[must_use]
    pub fn schema<'t>(&self, given: impl Fn(&str) -> Option<&'t str>) -> Map<String, Value> {
        let mut properties = Map::new();
        for argument in self.arguments {
            let description = given(argument.name).unwrap_or(argument.description);
            let mut schema = serde_json::from_str(argument.schema).unwrap_or_else(|_| json!({}));
            if let (Some(schema), false) = (schema.as_object_mut(), description.is_empty()) {
                schema.insert("description".into(), description.into());
            }
            properties.insert(argument.name.into(), schema);
        }
        let required: Vec<&str> =
            self.arguments.iter().filter(|argument| argument.required).map(|argument| argument.name).collect();
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), properties.into());
        if !required.is_empty() {
            schema.insert("required".into(), required.into());
        }
        schema.insert("additionalProperties".into(), false.into());
        schema
    }
}

/// Those that every list holds, in their order. The others, [`PROBE_SAFE_ENDPOINTS`] and [`RAW_REQUEST`], are hidden.
pub const LISTED: [&Fixed; 5] =
    [&LIST_ADDITIONAL_TOOLS, &SEARCH_ADDITIONAL_TOOLS, &EXECUTE_ADDITIONAL_TOOL, &SERVER_HEALTH, &SCHEMA_AUDIT];

/// The names of everything that is not listed.
pub const LIST_ADDITIONAL_TOOLS: Fixed = Fixed {
    name: "list_additional_tools",
    title: "List additional tools",
    description: "List the names of all tools that are not listed here. To find one by what it does use search_additional_tools.",
    tags: &["help", "discovery"],
    risk: Risk::ReadOnly,
    idempotent: true,
    open_world: false,
    arguments: &[],
};

/// Finds tools by words, and shows the best with their schemas within a size budget.
pub const SEARCH_ADDITIONAL_TOOLS: Fixed = Fixed {
    name: "search_additional_tools",
    title: "Search tools",
    description: "Find tools by what they do, in English, Korean or Japanese. Each match says how to call it.",
    tags: &["help", "discovery"],
    risk: Risk::ReadOnly,
    idempotent: true,
    open_world: false,
    arguments: &[
        FixedArgument {
            name: "query",
            schema: r#"{"type":"string"}"#,
            description: "A few words or a plain sentence.",
            required: true,
        },
        FixedArgument {
            name: "limit",
            schema: r#"{"type":"integer","default":5}"#,
            description: "At most 20.",
            required: false,
        },
        FixedArgument {
            name: "detail",
            schema: r#"{"enum":["auto","brief","full"],"default":"auto"}"#,
            description: "full adds what results look like.",
            required: false,
        },
    ],
};

/// Calls a hidden tool on the same path as a listed one.
pub const EXECUTE_ADDITIONAL_TOOL: Fixed = Fixed {
    name: "execute_additional_tool",
    title: "Execute additional tool",
    description: "Call a tool that is not listed here, with the same checks and results as a listed one.",
    tags: &["help", "discovery"],
    risk: Risk::Destructive,
    idempotent: false,
    open_world: true,
    arguments: &[
        FixedArgument {
            name: "tool_name",
            schema: r#"{"type":"string"}"#,
            description: "Name from search_additional_tools.",
            required: true,
        },
        FixedArgument {
            name: "arguments",
            schema: r#"{"type":"object"}"#,
            description: "As its input_schema says.",
            required: true,
        },
    ],
};

/// The spec's health calls at the same time, with their answers in short.
pub const SERVER_HEALTH: Fixed = Fixed {
    name: "server_health",
    title: "Server health",
    description: "Check that the API answers, with the essentials of its state in short.",
    tags: &["help", "diagnostics"],
    risk: Risk::ReadOnly,
    idempotent: true,
    open_world: false,
    arguments: &[],
};

/// What the server was made from and what became of it, without network unless asked.
pub const SCHEMA_AUDIT: Fixed = Fixed {
    name: "schema_audit",
    title: "Schema audit",
    description: "Report which API document this server was made from and how its operations became tools.",
    tags: &["help", "diagnostics"],
    risk: Risk::ReadOnly,
    idempotent: true,
    open_world: false,
    arguments: &[FixedArgument {
        name: "live",
        schema: r#"{"type":"boolean","default":false}"#,
        description: "Compare with the document that the API serves now.",
        required: false,
    }],
};

/// Calls every reading operation that needs no argument, and reports which answer.
pub const PROBE_SAFE_ENDPOINTS: Fixed = Fixed {
    name: "probe_safe_endpoints",
    title: "Probe endpoints",
    description: "Call every reading operation that needs no argument and report which ones answer.",
    tags: &["management", "test"],
    risk: Risk::ReadOnly,
    idempotent: true,
    open_world: false,
    arguments: &[FixedArgument {
        name: "concurrency",
        schema: r#"{"type":"integer","default":8}"#,
        description: "Calls at a time, at most 32.",
        required: false,
    }],
};

/// Any request below the base URL, for what no tool covers.
pub const RAW_REQUEST: Fixed = Fixed {
    name: "raw_request",
    title: "Raw request",
    description: "Send any HTTP request to the API, where no tool fits. Files cannot be sent.",
    tags: &["raw", "management"],
    risk: Risk::Destructive,
    idempotent: false,
    open_world: true,
    arguments: &[
        FixedArgument { name: "method", schema: r#"{"type":"string"}"#, description: "HTTP method.", required: true },
        FixedArgument {
            name: "path",
            schema: r#"{"type":"string"}"#,
            description: "Absolute path of the API, such as /v1/models.",
            required: true,
        },
        FixedArgument {
            name: "query",
            schema: r#"{"type":"object"}"#,
            description: "Query parameters.",
            required: false,
        },
        FixedArgument { name: "body", schema: "{}", description: "JSON body.", required: false },
        FixedArgument {
            name: "extra_headers",
            schema: r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
            description: "Further request headers.",
            required: false,
        },
        FixedArgument {
            name: "timeout_seconds",
            schema: r#"{"type":"number","exclusiveMinimum":0}"#,
            description: "Deadline, where it is to be shorter than the server's.",
            required: false,
        },
    ],
};
