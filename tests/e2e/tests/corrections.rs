//! Where LocalAI's document contradicts the real server: one test a defect, against a mock that behaves as the real
//! server does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use localai_tools::backends::ListBackends;
use localai_tools::client::{Client, Config, parse_base_url};
use localai_tools::monitoring::{ListBackendTraces, ListRequestTraces};
use serde_json::{Value, json};
use toolwright_core::Binding;
use toolwright_e2e::{Session, Stage, file_for, structured};
use toolwright_mock::Recorded;

struct Run {
    answer: Value,
    requests: Vec<Recorded>,
}

impl Run {
    fn sent(&self) -> &Recorded {
        self.requests.first().expect("a request was sent")
    }

    fn line(&self) -> String {
        format!("{} {}", self.sent().method, self.sent().path)
    }
}

async fn run(name: &str, arguments: Value) -> Run {
    let stage = Stage::set().unwrap();
    let session: Session = stage.session(&[]).await.unwrap();
    let result = match stage.is_listed(name) || name == "schema_audit" {
        true => session.call(name, arguments).await,
        false => session.execute(name, arguments).await,
    };
    let answer = structured(&result.unwrap());
    let violations = stage.mock.violations();
    assert!(violations.is_empty(), "{violations:?}");
    assert!(!answer["warnings"].to_string().contains("the document declares"), "{answer}");
    Run { answer, requests: stage.mock.requests() }
}

#[tokio::test]
async fn routes_that_do_not_exist_name_what_to_use_instead() {
    for (name, instead) in [("list_backend_jobs", "get_backend_job"), ("get_token_metrics_v1", "get_metrics")] {
        let run = run(name, json!({})).await;
        assert_eq!((&run.answer["ok"], &run.answer["code"]), (&json!(false), &json!("no_route")));
        assert!(run.answer["error"].as_str().unwrap().contains(instead), "{}", run.answer);
        assert!(run.requests.is_empty());
    }
}

#[tokio::test]
async fn the_token_metrics_of_the_default_set_yield_the_servers_metrics() {
    let run = run("get_token_metrics", json!({})).await;
    assert_eq!(run.line(), "GET /metrics");
    assert_eq!(run.answer["ok"], true);
    assert!(run.answer["text"].as_str().unwrap().contains('#'), "{}", run.answer);
    assert!(run.answer["warnings"][0].as_str().is_some(), "the stand-in is said");
}

#[tokio::test]
async fn the_toggles_use_the_real_paths() {
    let pin = run("set_model_pin_state", json!({"name": "org/model", "action": "pin"})).await;
    assert_eq!(pin.line(), "PUT /models/toggle-pinned/org%2Fmodel/pin");
    let enable = run("set_model_enabled_state", json!({"name": "m", "action": "disable"})).await;
    assert_eq!(enable.line(), "PUT /models/toggle-state/m/disable");
}

#[tokio::test]
async fn a_toggle_takes_only_its_own_actions() {
    let run = run("set_model_pin_state", json!({"name": "m", "action": "enable"})).await;
    assert_eq!(run.answer["code"], "invalid_arguments");
    assert!(run.requests.is_empty());
}

#[tokio::test]
async fn jobs_are_followed_by_their_id() {
    for (install, follow, body) in [
        ("install_model", "get_model_job", json!({"id": "localai@demo"})),
        ("install_backend", "get_backend_job", json!({"id": "localai@llama-cpp"})),
    ] {
        let stage = Stage::set().unwrap();
        let session = stage.session(&[]).await.unwrap();
        let started = structured(&session.execute(install, json!({"request": body})).await.unwrap());
        let uuid = started.pointer("/data/uuid").or_else(|| started.pointer("/data/id")).expect("an id").clone();
        let mut done = false;
        for _ in 0..20 {
            let job = structured(&session.execute(follow, json!({"uuid": uuid})).await.unwrap());
            assert_eq!(job["ok"], true, "{job}");
            done = job["data"]["processed"] == true;
            if done {
                break;
            }
        }
        assert!(done, "{follow} never says that the job is done");
    }
}

#[tokio::test]
async fn chat_needs_no_file() {
    let run = run("chat", json!({"request": {"model": "m", "messages": []}})).await;
    assert_eq!(run.answer["ok"], true);
}

#[tokio::test]
async fn a_models_configuration_is_patched_with_a_body() {
    let missing = run("update_model_config", json!({"name": "m"})).await;
    assert_eq!(missing.answer["code"], "invalid_arguments");
    let patched = run("update_model_config", json!({"name": "m", "body": {"threads": 4}})).await;
    assert_eq!(patched.sent().json(), Some(json!({"threads": 4})));
    assert_eq!(patched.answer["ok"], true);
}

#[tokio::test]
async fn speech_with_a_voice_sends_the_real_body_and_saves_audio() {
    let arguments = json!({"voice_id": "v/1", "request": {"text": "안녕", "model_id": "m", "language_code": "ko"}});
    let run = run("text_to_speech_with_voice", arguments).await;
    assert_eq!(run.line(), "POST /v1/text-to-speech/v%2F1");
    assert_eq!(run.sent().json(), Some(json!({"text": "안녕", "model_id": "m", "language_code": "ko"})));
    assert!(run.answer["saved_path"].is_string(), "{}", run.answer);
}

#[tokio::test]
async fn a_voice_needs_a_model() {
    let run =
        run("text_to_speech_with_voice", json!({"voice_id": "v", "request": {"text": "hi", "model_id": ""}})).await;
    assert_eq!(run.answer["code"], "invalid_arguments");
    assert!(run.requests.is_empty());
}

#[tokio::test]
async fn sounds_and_speech_are_audio_of_any_format() {
    for (name, request) in [
        ("generate_sound", json!({"model_id": "m", "text": "rain"})),
        ("text_to_speech", json!({"model": "m", "input": "hi", "response_format": "mp3"})),
        ("text_to_speech_legacy", json!({"model": "m", "input": "hi"})),
        ("text_to_speech", json!({"model": "m", "input": "hi", "stream": true})),
    ] {
        let run = run(name, json!({"request": request})).await;
        assert!(run.answer["mime_type"].as_str().unwrap().starts_with("audio/"), "{}", run.answer);
        let spec = localai_tools::TOOLS.find(name).unwrap();
        let Binding::Http(http) = spec.binding else { panic!("{name} is sent over HTTP") };
        assert_eq!(http.produces, ["audio/*"], "{name}");
    }
}

#[tokio::test]
async fn traces_are_arrays_also_for_the_typed_client() {
    let stage = Stage::set().unwrap();
    let client = Client::new(Config::new("localai", parse_base_url(&stage.mock.url()).unwrap())).unwrap();
    let requests = ListRequestTraces { limit: Some(2000), offset: None, full: None };
    assert_eq!(client.call(&requests).await.unwrap().data.len(), 3);
    let backends = ListBackendTraces { limit: None, offset: None, full: None };
    let reply = client.call(&backends).await.unwrap();
    assert_eq!((reply.data.len(), reply.envelope.warnings), (3, Vec::<String>::new()));
}

#[tokio::test]
async fn installed_backends_have_the_names_of_the_servers_own_type() {
    let listed = run("list_backends", json!({})).await;
    let backend = &listed.answer["data"][0];
    assert_eq!((&backend["Name"], &backend["upgrade_available"]), (&json!("llama-cpp"), &json!(true)));

    let stage = Stage::set().unwrap();
    let client = Client::new(Config::new("localai", parse_base_url(&stage.mock.url()).unwrap())).unwrap();
    let backends = client.call(&ListBackends {}).await.unwrap().data;
    assert_eq!(backends[0].name.as_deref(), Some("llama-cpp"));
    assert_eq!(backends[1].is_system, Some(true));
}

#[tokio::test]
async fn a_guide_is_text_or_json_as_asked() {
    let prose = run("get_instruction_guide", json!({"name": "chat", "format": "markdown"})).await;
    assert!(prose.answer["text"].as_str().unwrap().starts_with('#'), "{}", prose.answer);
    let fragment = run("get_instruction_guide", json!({"name": "chat", "format": "json"})).await;
    assert!(fragment.answer["data"].is_object(), "{}", fragment.answer);
}

#[tokio::test]
async fn the_audit_shows_all_five_routes_that_the_document_gets_wrong() {
    let audit = run("schema_audit", json!({})).await.answer;
    assert_eq!(audit["operations_without_route"].as_array().unwrap().len(), 3);
    let moved: Vec<&str> = audit["operations_served_elsewhere"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["served"].as_str())
        .collect();
    assert_eq!(moved, ["/models/toggle-state/{name}/{action}", "/models/toggle-pinned/{name}/{action}"]);
    assert_eq!(audit["document"].get("title"), None, "the document has none");
}

#[tokio::test]
async fn transcription_sends_repeated_granularities_and_txt_for_text() {
    let arguments = json!({"model": "m", "file": file_for("file"), "timestamp_granularities": ["word", "segment"],
        "response_format": "text", "language": "ko", "diarize": false});
    let run = run("transcribe_audio", arguments).await;
    let parts: Vec<(String, String)> = run
        .sent()
        .parts
        .iter()
        .filter(|part| part.filename.is_none())
        .map(|part| (part.name.trim_end_matches("[]").to_owned(), String::from_utf8_lossy(&part.bytes).into_owned()))
        .collect();
    let of = |name: &str| parts.iter().filter(|(n, _)| n == name).map(|(_, v)| v.as_str()).collect::<Vec<_>>();
    assert_eq!(of("timestamp_granularities"), ["word", "segment"]);
    assert_eq!(of("response_format"), ["txt"], "`text` is OpenAI's word for it");
    assert_eq!((of("language"), of("diarize")), (vec!["ko"], vec!["false"]));
    let file = run.sent().part("file").unwrap();
    assert_eq!(file.content_type.as_deref(), Some("audio/wav"));
    assert!(file.filename.is_some() && file.bytes.starts_with(b"RIFF"));
    assert!(run.answer["text"].is_string(), "{}", run.answer);
}

#[tokio::test]
async fn transcription_takes_the_servers_own_word_for_text() {
    let arguments = json!({"model": "m", "file": file_for("file"), "response_format": "txt"});
    let run = run("transcribe_audio", arguments).await;
    assert_eq!(run.sent().part("response_format").map(|part| part.bytes.as_ref()), Some(b"txt".as_ref()));
    assert!(run.answer["text"].is_string(), "{}", run.answer);
}

#[tokio::test]
async fn transform_options_are_sent_one_by_one() {
    let arguments = json!({"model": "m", "audio": file_for("audio"), "params": {"noise_gate": "true"}});
    let run = run("transform_audio", arguments).await;
    assert_eq!(run.sent().part("params[noise_gate]").map(|part| part.bytes.as_ref()), Some(b"true".as_ref()));
    assert!(run.answer["headers"].to_string().contains("x-audio"), "{}", run.answer);
}

#[tokio::test]
async fn unions_take_each_of_their_types() {
    for system in [json!("be brief"), json!([{"type": "text", "text": "be brief"}])] {
        let request =
            json!({"model": "m", "max_tokens": 5, "system": system, "messages": [{"role": "user", "content": "hi"}]});
        assert_eq!(run("create_message", json!({"request": request})).await.answer["ok"], true);
    }
    for input in [json!("a"), json!(["a", "b"])] {
        assert_eq!(run("moderate_text", json!({"request": {"model": "m", "input": input}})).await.answer["ok"], true);
    }
}

#[tokio::test]
async fn models_are_filtered_by_undeclared_query_parameters() {
    let arguments = json!({"filter": "^llama", "exclude_configured": true});
    let run = run("list_models", arguments).await;
    let query = run.sent().query.clone().unwrap();
    assert!(query.contains("excludeConfigured=true") && query.contains("filter=%5Ellama"), "{query}");
}

#[tokio::test]
async fn a_multipart_upload_without_a_file_stays_multipart() {
    let arguments = json!({"name": "테스트", "description": "", "language": "ko", "transcript": "안녕하세요",
        "consent_confirmed": true, "audio": file_for("audio")});
    let run = run("create_voice_profile", arguments).await;
    assert!(run.sent().header("content-type").unwrap().starts_with("multipart/form-data"));
    assert_eq!(run.sent().part("name").unwrap().bytes.as_ref(), "테스트".as_bytes());
}

#[tokio::test]
async fn the_p2p_token_is_masked() {
    let run = run("get_p2p_token", json!({})).await;
    assert_eq!(run.answer["ok"], true);
    let text = run.answer.to_string();
    assert!(!text.contains("mock-p2p") && text.contains("masked"), "{text}");
}

#[tokio::test]
async fn a_live_audit_of_the_vendored_document_shows_corrections_alone() {
    let audit = run("schema_audit", json!({"live": true})).await.answer;
    let live = &audit["live"];
    assert_eq!((&live["same_operations"], &live["operations"]), (&json!(true), &json!(123)), "{live}");
    let changed = live["changed"].as_array().unwrap();
    let inputs =
        |operation: &str| changed.iter().find(|it| it["operation"] == operation).map(|it| it["inputs"].clone());
    let added = json!(["query excludeConfigured: only here", "query filter: only here"]);
    assert_eq!(inputs("GET /v1/models"), Some(added), "an overlay adds what the document leaves out");
    for as_declared in ["POST /v1/detokenize", "POST /v1/chat/completions", "POST /v1/images/generations", "POST /vad"]
    {
        assert_eq!(inputs(as_declared), None);
    }
}
