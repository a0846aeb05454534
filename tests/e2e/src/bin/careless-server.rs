//! A server whose tools do with secrets what no tool should: say them, log them, panic with them. Its API, its model and
//! its collector are the test's own.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolwright_core::{
    Access, Binding, Catalog, Context, Declared, DocumentFacts, HttpBinding, LinkedBinding, Location, NativeCall,
    NativeTools, Risk, SchemeKind, SearchTerms, SecurityScheme, ServerSpec, Setting, ToolError, ToolSpec,
    assert_sorted_and_unique, native_output, no_handler,
};
use toolwright_llm::LlmExecutor;

const ROW: ToolSpec = ToolSpec {
    name: "",
    title: "Careless",
    description: "Does with secrets what no tool should.",
    summary: "Does with secrets what no tool should.",
    tags: &[],
    risk: Risk::ReadOnly,
    idempotent: true,
    open_world: true,
    input_schema: r#"{"type":"object","properties":{},"additionalProperties":false}"#,
    advertised_schema: None,
    result_schema: None,
    search: SearchTerms { en: &[], ko: &[], ja: &[] },
    declared: Declared { method: "", path: "" },
    binding: Binding::Native,
    deadline_seconds: None,
    long: false,
    secrets: &[],
};

const fn request(name: &'static str, path: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        declared: Declared { method: "GET", path },
        binding: Binding::Http(HttpBinding { path, produces: &["application/json"], ..HttpBinding::PLAIN }),
        ..ROW
    }
}

const ASK: Binding = Binding::Linked(LinkedBinding {
    executor: "llm",
    plan: r#"{"model":"m","prompt":"Say something."}"#,
    project: None,
});

const ROWS: &[ToolSpec] = &[
    ToolSpec { name: "ask", binding: ASK, ..ROW },
    request("echo", "/echo"),
    request("fail", "/fail"),
    ToolSpec { name: "fail_with_it", ..ROW },
    ToolSpec { name: "log_it", ..ROW },
    ToolSpec { name: "panic_with_it", ..ROW },
    ToolSpec { deadline_seconds: Some(1), ..request("slow", "/slow") },
    ToolSpec { name: "tell_it", ..ROW },
    ToolSpec { name: "wait_with_it", deadline_seconds: Some(1), ..ROW },
];
const _: () = assert_sorted_and_unique(ROWS);
static TOOLS: Catalog = Catalog::new(ROWS);

static SERVER: ServerSpec = ServerSpec {
    name: "careless",
    title: "Careless",
    description: "Has secrets and tools that do not keep them.",
    version: "0.1.0",
    instructions: "",
    env_prefix: "CARELESS",
    default_base_url: "http://127.0.0.1:9",
    access: Access {
        settings: &[Setting {
            key: "signature",
            env: "CARELESS_SIGNATURE",
            default: "",
            help: "Key in X-Signature.",
            secret: true,
            allowed: &[],
        }],
        schemes: &[
            SecurityScheme {
                name: "signed",
                kind: SchemeKind::ApiKey { location: Location::Header, wire: "X-Signature", setting: "signature" },
            },
            SecurityScheme { name: "bearer", kind: SchemeKind::Bearer { setting: "api_key" } },
        ],
        security: &[&["signed", "bearer"]],
    },
    preset: &["ask", "echo", "fail", "fail_with_it", "log_it", "panic_with_it", "slow", "tell_it", "wait_with_it"],
    health: &["echo"],
    fixed_tools: &[],
    prompts: &[],
    resources: &[],
    document: DocumentFacts {
        dialect: "none",
        title: "Careless",
        version: "0",
        sha256: "",
        paths: 3,
        operations: 3,
        definitions: 0,
        tools_of_files: &[],
    },
    catalog_sha256: "written-by-hand",
};

struct Careless;

impl NativeTools for Careless {
    fn call<'a>(&'a self, tool: &'a str, _: Map<String, Value>, context: &'a Context) -> NativeCall<'a> {
        Box::pin(async move {
            let secret = context.required_setting("signature")?;
            context.progress(1.0, None, &format!("it is {secret}"));
            match tool {
                "tell_it" => native_output(json!({"it": secret, secret: [format!("within {secret} a text")]})),
                "fail_with_it" => Err(ToolError::failed(format!("it failed with {secret}"))),
                "log_it" => {
                    log(secret);
                    native_output(Value::Null)
                }
                #[expect(clippy::panic, reason = "what becomes of a panic's text is what is tested")]
                "panic_with_it" => panic!("it is {secret}"),
                "wait_with_it" => {
                    tokio::time::sleep(Duration::from_secs(60)).await;
                    native_output(secret)
                }
                other => Err(no_handler(other)),
            }
        })
    }
}

/// In the text, in a field, and in the name of a span.
fn log(secret: &str) {
    let span = tracing::error_span!("careless", secret);
    let _inside = span.enter();
    tracing::error!(secret, "it is {secret}");
}

fn main() -> ExitCode {
    toolwright_server::Program::new(&SERVER, &TOOLS).native(Careless).executor(LlmExecutor::new()).run()
}
