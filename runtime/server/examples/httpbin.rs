//! A server written by hand: two tools over an echoing HTTP service, without a document or generated code.
//!
//! `cargo run -p toolwright-server --example httpbin -- tools`

use std::process::ExitCode;

use toolwright_core::{
    Access, Binding, Body, Catalog, Declared, DocumentFacts, HttpBinding, Method, Risk, SearchTerms, ServerSpec,
    ToolSpec, assert_sorted_and_unique,
};

const ECHO: ToolSpec = ToolSpec {
    name: "echo",
    title: "Echo a message",
    description: "Sends a JSON body and returns what the service saw.",
    summary: "Sends a JSON body and returns what the service saw.",
    tags: &["echo"],
    risk: Risk::Compute,
    idempotent: true,
    open_world: true,
    input_schema: r#"{"type":"object","properties":{"request":{"type":"object","description":"What to send."}},"required":["request"],"additionalProperties":false}"#,
    advertised_schema: None,
    result_schema: None,
    search: SearchTerms { en: &["repeat"], ko: &[], ja: &[] },
    declared: Declared { method: "POST", path: "/anything" },
    binding: Binding::Http(HttpBinding {
        method: Method::Post,
        path: "/anything",
        body: Body::Json { argument: "request", media_type: "application/json" },
        produces: &["application/json"],
        ..HttpBinding::PLAIN
    }),
    deadline_seconds: None,
    long: false,
    secrets: &[],
};

const SHOW_ADDRESS: ToolSpec = ToolSpec {
    name: "show_address",
    title: "Show the caller's address",
    description: "Returns the address that the request came from.",
    summary: "Returns the address that the request came from.",
    risk: Risk::ReadOnly,
    input_schema: r#"{"type":"object","properties":{},"additionalProperties":false}"#,
    declared: Declared { method: "GET", path: "/ip" },
    binding: Binding::Http(HttpBinding { path: "/ip", produces: &["application/json"], ..HttpBinding::PLAIN }),
    ..ECHO
};

const ROWS: &[ToolSpec] = &[ECHO, SHOW_ADDRESS];
const _: () = assert_sorted_and_unique(ROWS);
static TOOLS: Catalog = Catalog::new(ROWS);

static SERVER: ServerSpec = ServerSpec {
    name: "httpbin",
    title: "httpbin",
    description: "Echoes requests.",
    version: "0.1.0",
    instructions: "Use echo to see a request as the service sees it.",
    env_prefix: "HTTPBIN",
    default_base_url: "http://127.0.0.1:8080",
    access: Access::NONE,
    preset: &["echo", "show_address"],
    health: &["show_address"],
    fixed_tools: &[],
    prompts: &[],
    resources: &[],
    document: DocumentFacts {
        dialect: "none",
        title: "httpbin",
        version: "0",
        sha256: "",
        paths: 2,
        operations: 2,
        definitions: 0,
        tools_of_files: &[],
    },
    catalog_sha256: "written-by-hand",
};

fn main() -> ExitCode {
    toolwright_server::Program::new(&SERVER, &TOOLS).run()
}
