//! A small hand-written server for tests.

mod upstream;
mod wire;

pub(crate) use upstream::Upstream;
pub(crate) use wire::Wire;

use std::sync::Arc;

use toolwright_core::{
    Access, Binding, Body, Catalog, Declared, DocumentFacts, FixedTool, HttpBinding, Location, Method, Parameter, Risk,
    SearchTerms, ServerSpec, Style, ToolSpec,
};

use crate::App;
use crate::settings::{SettingValue as _, Settings};

const fn row(name: &'static str, risk: Risk, method: &'static str, path: &'static str, http: HttpBinding) -> ToolSpec {
    ToolSpec {
        name,
        title: "Title",
        description: "What it does.",
        summary: "What it does.",
        tags: &["items"],
        risk,
        idempotent: false,
        open_world: false,
        input_schema: r#"{"type":"object","properties":{},"additionalProperties":false}"#,
        advertised_schema: None,
        result_schema: None,
        search: SearchTerms { en: &[], ko: &[], ja: &[] },
        declared: Declared { method, path },
        binding: Binding::Http(http),
        deadline_seconds: None,
        long: false,
        secrets: &[],
    }
}

const fn http(method: Method, path: &'static str) -> HttpBinding {
    HttpBinding { method, path, produces: &["application/json"], ..HttpBinding::PLAIN }
}

const ID: Parameter = Parameter {
    argument: "id",
    wire: "id",
    location: Location::Path,
    style: Style::Simple,
    explode: false,
    reserved: false,
    send_as: &[],
};

const BY_ID: &str =
    r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}"#;
const WITH_BODY: &str = r#"{"type":"object","properties":{"request":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}},"required":["request"],"additionalProperties":false}"#;

/// The rows, sorted by name.
pub(crate) static ROWS: &[ToolSpec] = &[
    ToolSpec {
        input_schema: WITH_BODY,
        ..row(
            "add_item",
            Risk::Write,
            "POST",
            "/items",
            HttpBinding {
                body: Body::Json { argument: "request", media_type: "application/json" },
                ..http(Method::Post, "/items")
            },
        )
    },
    ToolSpec {
        input_schema: BY_ID,
        ..row(
            "delete_item",
            Risk::Destructive,
            "DELETE",
            "/items/{id}",
            HttpBinding { parameters: &[ID], ..http(Method::Delete, "/items/{id}") },
        )
    },
    ToolSpec {
        input_schema: BY_ID,
        ..row(
            "get_item",
            Risk::ReadOnly,
            "GET",
            "/items/{id}",
            HttpBinding { parameters: &[ID], ..http(Method::Get, "/items/{id}") },
        )
    },
    row("list_items", Risk::ReadOnly, "GET", "/items", http(Method::Get, "/items")),
    ToolSpec {
        deadline_seconds: Some(1),
        ..row("slow_report", Risk::Compute, "GET", "/slow", http(Method::Get, "/slow"))
    },
];

/// The catalog.
pub(crate) static CATALOG: Catalog = Catalog::new(ROWS);

const fn fixed(name: &'static str) -> FixedTool {
    FixedTool { name, title: "Title", description: "What it does.", arguments: &[] }
}

/// The server.
pub(crate) static SERVER: ServerSpec = ServerSpec {
    name: "demo",
    title: "Demo",
    description: "A server for tests.",
    version: "1.2.3",
    instructions: "Call the tools.",
    env_prefix: "DEMO",
    default_base_url: "http://127.0.0.1:8080",
    access: Access::NONE,
    preset: &["get_item", "list_items", "delete_item", "slow_report"],
    health: &["list_items"],
    fixed_tools: &[
        fixed("list_additional_tools"),
        fixed("search_additional_tools"),
        fixed("execute_additional_tool"),
        fixed("server_health"),
        fixed("schema_audit"),
        fixed("raw_request"),
        fixed("probe_safe_endpoints"),
    ],
    prompts: &[],
    resources: &[],
    document: DocumentFacts {
        dialect: "OpenAPI 3.1",
        title: "Demo",
        version: "1",
        sha256: "00",
        paths: 3,
        operations: 5,
        definitions: 0,
        tools_of_files: &["delete_item"],
    },
    catalog_sha256: "abcdef0123456789",
};

/// The settings of the server where nothing is configured, with its files in a folder that no test shares.
pub(crate) fn settings(state: &tempfile::TempDir) -> Settings {
    Settings::defaults(&SERVER, state.path()).unwrap()
}

/// The server in front of that API, after changes to its settings.
pub(crate) fn app(state: &tempfile::TempDir, upstream: &Upstream, change: impl FnOnce(&mut Settings)) -> Arc<App> {
    let mut settings = settings(state);
    settings.base_url = crate::settings::BaseUrl::read(&upstream.url()).unwrap();
    change(&mut settings);
    App::new(&SERVER, &CATALOG, settings).unwrap()
}
