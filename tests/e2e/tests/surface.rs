//! What an MCP client sees of the LocalAI server before it calls anything.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolwright_core::{Binding, Profile, Risk, ToolSpec};
use toolwright_e2e::{Session, Stage, structured};

const FIXED: [&str; 5] =
    ["list_additional_tools", "search_additional_tools", "execute_additional_tool", "server_health", "schema_audit"];

async fn session(exposed: Option<&str>) -> Session {
    let stage = Stage::set().unwrap();
    let environment: Vec<(&str, &str)> =
        exposed.map(|value| ("LOCALAI_MCP_EXPOSED_TOOLS", value)).into_iter().collect();
    stage.session(&environment).await.unwrap()
}

async fn names(exposed: Option<&str>) -> Vec<String> {
    session(exposed).await.list().await.unwrap().into_iter().map(|tool| tool.name.into_owned()).collect()
}

fn tools() -> &'static [ToolSpec] {
    localai_tools::TOOLS.tools()
}

#[tokio::test]
async fn twenty_and_five_tools_are_listed_in_path_order() {
    let names = names(None).await;
    assert_eq!(names.len(), 25);
    assert_eq!(names[..2], ["generate_3d_asset", "remesh_3d_asset"]);
    assert_eq!(names[20..], FIXED);
    for hidden in ["detokenize", "transcribe_audio", "stream_backend_logs", "raw_request", "probe_safe_endpoints"] {
        assert!(!names.iter().any(|name| name == hidden), "{hidden} is listed");
    }
}

#[tokio::test]
async fn the_surface_is_a_setting() {
    assert_eq!(names(Some("*")).await.len(), 128);
    for none in ["none", "gateway-only", "gateway_only", " NONE "] {
        assert_eq!(names(Some(none)).await, FIXED, "{none}");
    }
    assert_eq!(names(Some(" ")).await.len(), 25);
    assert_eq!(names(Some("chat, detokenize,,chat")).await.len(), 7);
}

#[tokio::test]
async fn unknown_names_stop_the_start_and_are_all_named() {
    let stage = Stage::set().unwrap();
    let mut command = stage.command(&[("LOCALAI_MCP_EXPOSED_TOOLS", "zebra,chat,*,raw_request")]);
    let output = command.arg("stdio").stdin(std::process::Stdio::null()).output().await.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let places: Vec<usize> = ["*", "raw_request", "zebra"].iter().map(|name| stderr.find(name).expect(name)).collect();
    assert!(places.is_sorted() && stderr.contains("LOCALAI_MCP_EXPOSED_TOOLS"), "{stderr}");
}

#[tokio::test]
async fn every_description_says_what_goes_in_and_what_comes_back() {
    for tool in tools() {
        let text = tool.description;
        assert!(text.chars().count() >= 80 && text.chars().count() <= 1400, "{}: {text}", tool.name);
        assert!(text.contains("Inputs:") && text.contains("Returns:"), "{}: {text}", tool.name);
        let http = format!("{} {}", tool.declared.method, tool.declared.path);
        assert!(!text.contains(&http), "{}: {text}", tool.name);
        let schema: Value = serde_json::from_str(tool.listed_schema()).unwrap();
        for argument in schema["properties"].as_object().unwrap().keys() {
            assert!(text.contains(&format!("`{argument}`")), "{} does not name `{argument}`: {text}", tool.name);
        }
        assert!(!tool.title.is_empty() && tool.title.chars().count() <= 40, "{}: {}", tool.name, tool.title);
    }
}

#[tokio::test]
async fn every_argument_and_advertised_field_is_described() {
    for tool in tools() {
        let schema: Value = serde_json::from_str(tool.input_schema).unwrap();
        for (argument, node) in schema["properties"].as_object().unwrap() {
            let resolved = node
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|text| schema.pointer(text.trim_start_matches('#')))
                .unwrap_or(node);
            assert!(node.get("description").is_some(), "{}: {argument} has no description", tool.name);
            for (field, node) in resolved.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let is_told = node.get("description").is_some() || node.get("$ref").is_some();
                assert!(is_told, "{}: {argument}.{field} has no description", tool.name);
            }
        }
    }
}

#[tokio::test]
async fn what_a_list_shows_of_messages_keeps_the_texts_of_their_fields() {
    for name in ["chat", "chat_with_mcp_tools"] {
        let tool = localai_tools::TOOLS.find(name).unwrap();
        let schema: Value = serde_json::from_str(tool.listed_schema()).unwrap();
        let fields = &schema["properties"]["request"]["properties"]["messages"]["items"]["properties"];
        for field in ["role", "content", "name", "tool_calls", "tool_call_id", "reasoning", "function_call"] {
            assert!(fields[field]["description"].is_string(), "{name}: {field} in {fields}");
        }
    }
}

#[tokio::test]
async fn whatever_changes_something_says_what() {
    for tool in tools().iter().filter(|tool| matches!(tool.risk, Risk::Write | Risk::Destructive)) {
        assert!(tool.description.contains("Caution: "), "{}: {}", tool.name, tool.description);
    }
}

#[tokio::test]
async fn names_are_reviewed_and_short() {
    let table = include_str!("../../golden/search_queries.tsv");
    assert!(table.len() > 1000);
    let names: BTreeSet<&str> = tools().iter().map(|tool| tool.name).collect();
    assert_eq!(names.len(), 123);
    for name in &names {
        assert!(name.len() <= 25 && !name.starts_with("localai_"), "{name}");
        for suffix in ["_get", "_post", "_put", "_patch", "_delete"] {
            assert!(!name.ends_with(suffix), "{name}");
        }
    }
    for sample in [
        "chat",
        "detokenize",
        "tokenize",
        "transcribe_audio",
        "redact_pii",
        "route_prompt",
        "set_node_vram_budget",
        "verify_speakers",
        "generate_video",
        "stream_audio_transform",
        "stream_backend_logs",
    ] {
        assert!(names.contains(sample), "{sample}");
    }
}

#[tokio::test]
async fn risks_add_up() {
    let count = |risk: Risk| tools().iter().filter(|tool| tool.risk == risk).count();
    assert_eq!(
        (count(Risk::ReadOnly), count(Risk::Compute), count(Risk::Destructive), count(Risk::Write)),
        (45, 41, 24, 13)
    );
}

#[tokio::test]
async fn hints_are_on_every_listed_tool() {
    for tool in session(Some("*")).await.list().await.unwrap() {
        let hints = tool.annotations.as_ref().unwrap_or_else(|| panic!("{} has no hints", tool.name));
        let Some(row) = localai_tools::TOOLS.find(&tool.name) else { continue };
        assert_eq!(hints.read_only_hint.unwrap_or(false), row.risk.leaves_state(), "{}", tool.name);
        let destructive = hints.destructive_hint.unwrap_or(true) && !hints.read_only_hint.unwrap_or(false);
        assert_eq!(destructive, row.risk == Risk::Destructive, "{}", tool.name);
        assert_eq!(hints.open_world_hint.unwrap_or(true), row.open_world, "{}", tool.name);
        assert!(tool.output_schema.is_none() || FIXED.contains(&&*tool.name), "{}", tool.name);
    }
}

#[tokio::test]
async fn schemas_are_what_every_client_takes() {
    for tool in session(Some("*")).await.list().await.unwrap() {
        let schema = Value::Object((*tool.input_schema).clone());
        assert_eq!(schema["type"], "object", "{}", tool.name);
        assert!(schema["properties"].is_object(), "{}", tool.name);
        for key in ["oneOf", "anyOf", "allOf", "$ref", "enum", "not"] {
            assert!(schema.get(key).is_none(), "{}: {key} at the root", tool.name);
        }
        let text = schema.to_string();
        for leak in [
            "\"nullable\"",
            "\"discriminator\"",
            "\"example\"",
            "\"xml\"",
            "int32",
            "int64",
            "float32",
            "float64",
            "\"collectionFormat\"",
            "\"x-",
            "#/definitions",
            "#/components",
        ] {
            assert!(!text.contains(leak), "{}: {leak} in {text}", tool.name);
        }
    }
    let health = session(None).await.list().await.unwrap().into_iter().find(|tool| tool.name == "get_system_info");
    let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
    assert_eq!(Value::Object((*health.unwrap().input_schema).clone()), none);
}

#[tokio::test]
async fn the_audit_adds_up() {
    let answer = structured(&session(None).await.call("schema_audit", json!({})).await.unwrap());
    let audit = answer.get("data").unwrap_or(&answer);
    for (name, expected) in [
        ("swagger_paths", 114),
        ("swagger_operations", 123),
        ("unique_operation_names", 123),
        ("exposed_operation_tools", 20),
        ("additional_operation_tools", 103),
        ("additional_helper_tools", 2),
        ("websocket_operations", 2),
        ("multipart_operations", 10),
    ] {
        assert_eq!(audit[name], expected, "{name} in {audit}");
    }
    let sum: i64 = audit["operations_by_tag"].as_object().unwrap().values().map(|count| count.as_i64().unwrap()).sum();
    assert_eq!(sum, 127);
    let websockets = tools().iter().filter(|tool| matches!(tool.binding, Binding::WebSocket(_))).count();
    assert_eq!(websockets, 2);
}

#[tokio::test]
async fn hidden_tools_are_listed_searched_and_executed() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[]).await.unwrap();
    let listed = structured(&session.call("list_additional_tools", json!({})).await.unwrap());
    let listed = listed.get("data").unwrap_or(&listed).clone();
    assert_eq!(listed["count"], 105);
    let names: Vec<&str> = listed["tools"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(names.is_sorted() && names.len() == 105);

    let found =
        structured(&session.call("search_additional_tools", json!({"query": "detokenize token ids"})).await.unwrap());
    let first = found.get("data").unwrap_or(&found)["matches"][0].clone();
    assert_eq!(first["name"], "detokenize");
    let schema = first["input_schema"].to_string();
    assert!(schema.contains("tokens") && schema.contains("model"), "{schema}");

    let refused = structured(&session.execute("get_agent_job", json!({"bogus": 1})).await.unwrap());
    assert_eq!((&refused["ok"], &refused["tool_name"]), (&json!(false), &json!("get_agent_job")));
    assert!(refused["error"].as_str().unwrap().contains("schema"));
    assert!(refused["validation_errors"].is_array() && refused["input_schema"].is_object());
    let direct = structured(&session.execute("chat", json!({})).await.unwrap());
    assert_eq!(direct["code"], "call_directly");
    let fixed = structured(&session.execute("server_health", json!({})).await.unwrap());
    assert_eq!(fixed["code"], "unknown_tool");
    let unknown = structured(&session.execute("detokenise", json!({})).await.unwrap());
    assert_eq!(unknown["code"], "unknown_tool");
    assert!(unknown["hint"].as_str().unwrap().contains("search_additional_tools"));
    assert!(stage.mock.requests().is_empty(), "nothing of this reaches the upstream");

    let ran = structured(
        &session.execute("detokenize", json!({"request": {"model": "m", "tokens": [1, 42, 9001]}})).await.unwrap(),
    );
    assert_eq!(ran["ok"], true, "{ran}");
    assert_eq!(stage.mock.requests()[0].json(), Some(json!({"model": "m", "tokens": [1, 42, 9001]})));
}

#[tokio::test]
async fn fields_that_are_not_advertised_are_accepted_and_checked() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[]).await.unwrap();
    let body = |extra: Value| json!({"request": {"model": "m", "messages": [], "typical_p": extra}});
    let accepted = structured(&session.call("chat", body(json!(5.0))).await.unwrap());
    assert_eq!(accepted["ok"], true, "{accepted}");
    let refused = structured(&session.call("chat", body(json!({"a": 1}))).await.unwrap());
    assert_eq!(refused["code"], "invalid_arguments", "{refused}");
}

#[tokio::test]
async fn the_list_fits_its_budget() {
    for (exposed, budget) in [(None, 5_000), (Some("none"), 600), (Some("*"), 24_000)] {
        let tools = session(exposed).await.list().await.unwrap();
        let tokens = bpe_openai::o200k_base().count(&serde_json::to_string(&tools).unwrap());
        println!("{exposed:?}: {} tools, {tokens} tokens", tools.len());
        assert!(tokens <= budget, "{exposed:?}: {tokens} tokens are more than {budget}");
    }
}

#[test]
fn every_schema_profile_keeps_its_rules_and_takes_the_same_arguments() {
    for profile in [Profile::Inlined, Profile::Plain] {
        for spec in localai_tools::TOOLS.tools() {
            assert_eq!(toolwright_samples::profile_faults(spec, profile), [""; 0], "{} as {profile:?}", spec.name);
        }
    }
}

#[tokio::test]
async fn a_client_is_shown_the_profile_that_the_setting_says() {
    let stage = Stage::set().unwrap();
    let listed = |profile| {
        let stage = &stage;
        async move {
            let session = stage.session(&[("LOCALAI_MCP_SCHEMA_PROFILE", profile)]).await.unwrap();
            let tools = session.list().await.unwrap();
            session.close().await.unwrap();
            serde_json::to_string(&tools.iter().map(|tool| &tool.input_schema).collect::<Vec<_>>()).unwrap()
        }
    };
    assert!(listed("standard").await.contains("additionalProperties"));
    assert!(!listed("plain").await.contains("additionalProperties"));
    // This client's name is none that is known to refuse anything.
    assert_eq!(listed("auto").await, listed("standard").await);
}
