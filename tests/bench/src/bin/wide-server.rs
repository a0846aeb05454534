//! A server of 1,000 operations, as wide APIs have them: what their lists cost. Its rows are made at the start, so that no
//! generated crate of this size has to lie in the repository. It takes the command line of every generated server.

use std::process::ExitCode;

use toolwright_core::{
    Access, Binding, Catalog, Declared, DocumentFacts, FixedTool, HttpBinding, Location, Parameter, Risk, SearchTerms,
    ServerSpec, Style, ToolSpec,
};

const OPERATIONS: usize = 1_000;

/// Arguments of a middling operation: one in the path, filters, and a page.
const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"id":{"type":"string","description":"Identifier of the record."},"#,
    r#""state":{"type":"string","enum":["open","closed","all"],"default":"open","description":"Which records."},"#,
    r#""labels":{"type":"array","items":{"type":"string"},"description":"Labels that all of them have."},"#,
    r#""per_page":{"type":"integer","minimum":1,"maximum":100,"default":30,"description":"Results a page."}},"#,
    r#""required":["id"],"additionalProperties":false}"#
);

static PARAMETERS: [Parameter; 4] = [
    parameter("id", Location::Path),
    parameter("state", Location::Query),
    parameter("labels", Location::Query),
    parameter("per_page", Location::Query),
];

const fn parameter(name: &'static str, location: Location) -> Parameter {
    Parameter { argument: name, wire: name, location, style: Style::Form, explode: true, reserved: false, send_as: &[] }
}

const fn fixed(name: &'static str) -> FixedTool {
    FixedTool { name, title: "A fixed tool", description: "What every server has.", arguments: &[] }
}

static SERVER: ServerSpec = ServerSpec {
    name: "wide",
    title: "Wide",
    description: "A server of many operations.",
    version: "0.1.0",
    instructions: "Call the tools.",
    env_prefix: "WIDE",
    default_base_url: "http://127.0.0.1:9",
    access: Access::NONE,
    preset: &[],
    health: &[],
    fixed_tools: &[
        fixed("list_additional_tools"),
        fixed("search_additional_tools"),
        fixed("execute_additional_tool"),
        fixed("server_health"),
        fixed("schema_audit"),
    ],
    prompts: &[],
    resources: &[],
    document: DocumentFacts {
        dialect: "OpenAPI 3.1",
        title: "Wide",
        version: "1",
        sha256: "00",
        paths: 1_000,
        operations: 1_000,
        definitions: 0,
        tools_of_files: &[],
    },
    catalog_sha256: "0000000000000000",
};

/// Rows live as long as the process.
fn row(number: usize) -> ToolSpec {
    let path = leak(format!("/projects/{number}/records/{{id}}"));
    ToolSpec {
        name: leak(format!("list_project_records_{number:04}")),
        title: "List project records",
        description: leak(format!(
            "List the records of project {number} that have a state and labels, newest first. Returns a page of them."
        )),
        summary: "List the records of a project.",
        tags: &["records"],
        risk: Risk::ReadOnly,
        idempotent: true,
        open_world: false,
        input_schema: SCHEMA,
        advertised_schema: None,
        result_schema: None,
        search: SearchTerms { en: &[], ko: &[], ja: &[] },
        declared: Declared { method: "GET", path },
        binding: Binding::Http(HttpBinding { path, parameters: &PARAMETERS, ..HttpBinding::PLAIN }),
        deadline_seconds: None,
        long: false,
        secrets: &[],
    }
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn main() -> ExitCode {
    let rows: Vec<ToolSpec> = (0..OPERATIONS).map(row).collect();
    toolwright_server::Program::new(&SERVER, Box::leak(Box::new(Catalog::new(rows.leak())))).run()
}
