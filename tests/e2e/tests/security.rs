//! What a model, a document, or a web page must not be able to do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use toolwright_e2e::{Http, Session, Stage, file_for, structured};
use toolwright_mock::Fault;

const KEY: &str = "sk-planted-secret-5309";

async fn refused(session: &Session, name: &str, arguments: Value) -> Value {
    let result = match localai_tools::SERVER.preset.contains(&name) {
        true => session.call(name, arguments).await.unwrap(),
        false => session.execute(name, arguments).await.unwrap(),
    };
    let answer = structured(&result);
    assert_eq!(answer["ok"], false, "{name}: {answer}");
    assert_eq!(result.is_error, Some(true));
    answer
}

#[tokio::test]
async fn a_path_value_never_leaves_its_segment() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[]).await.unwrap();
    for id in ["", ".", "..", "%2e%2e", "../../v1/models?x=1#y"] {
        let result = session.execute("get_agent_job", json!({"id": id})).await.unwrap();
        let answer = structured(&result);
        for request in stage.mock.requests() {
            assert!(
                request.path.starts_with("/api/agent/jobs/") && !request.path.contains("/../"),
                "{id}: {}",
                request.path
            );
            assert_eq!(request.operation.as_deref(), Some("GET /api/agent/jobs/{id}"), "{id}: {}", request.path);
        }
        if matches!(id, "" | "." | "..") {
            assert_eq!(answer["ok"], false, "{id}: {answer}");
            assert!(stage.mock.requests().is_empty(), "{id}");
        }
        stage.mock.clear();
    }
}

#[tokio::test]
async fn a_raw_request_stays_on_the_upstream_and_keeps_its_credentials() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[("LOCALAI_API_KEY", KEY)]).await.unwrap();
    for path in ["models", "//evil.example/x", "http://evil.example/x", "/a/../../etc", "/a\r\nX: 1"] {
        refused(&session, "raw_request", json!({"method": "GET", "path": path})).await;
    }
    for header in ["Authorization", "AUTHORIZATION", "Host", "Cookie", "X-Forwarded-Host", "x-api-key"] {
        let arguments = json!({"method": "GET", "path": "/v1/models", "extra_headers": {header: "x"}});
        refused(&session, "raw_request", arguments).await;
    }
    let line_break = json!({"method": "GET", "path": "/v1/models", "extra_headers": {"X-Note": "a\r\nX-Evil: 1"}});
    refused(&session, "raw_request", line_break).await;
    assert!(stage.mock.requests().is_empty());

    let fine =
        structured(&session.execute("raw_request", json!({"method": "get", "path": "/v1/models"})).await.unwrap());
    assert_eq!(fine["ok"], true, "{fine}");
    assert_eq!(stage.mock.requests()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[tokio::test]
async fn a_raw_request_that_may_change_something_is_audited_by_method_and_path() {
    let stage = Stage::set().unwrap();
    let log = stage.home().join("audit.log");
    let session = stage.session(&[("TOOLWRIGHT_LOG_FILE", log.to_str().unwrap())]).await.unwrap();
    let query = json!({"note": "in-the-query"});
    for method in ["POST", "GET"] {
        let request = json!({"method": method, "path": "/v1/models", "query": query});
        session.execute("raw_request", request).await.unwrap();
    }
    let log = std::fs::read_to_string(log).unwrap();
    let told: Vec<&str> = log.lines().filter(|line| line.contains("/v1/models")).collect();
    assert_eq!(told.len(), 1, "{log}");
    assert!(told[0].contains("toolwright::audit") && told[0].contains("POST"), "{log}");
    assert!(!log.contains("in-the-query"), "{log}");
}

#[tokio::test]
async fn files_come_from_below_the_root_only() {
    let stage = Stage::set().unwrap();
    let root = stage.home().join("inputs");
    std::fs::create_dir_all(&root).unwrap();
    let outside = stage.home().join("secret.wav");
    std::fs::write(&outside, toolwright_e2e::wav(1)).unwrap();
    std::fs::write(root.join("한글.wav"), toolwright_e2e::wav(1)).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("link.wav")).unwrap();
    std::os::unix::fs::symlink("한글.wav", root.join("inner.wav")).unwrap();
    let session = stage.session(&[("LOCALAI_MCP_FILE_ROOT", root.to_str().unwrap())]).await.unwrap();

    let arguments = |file: &str| json!({"model": "m", "file": file});
    for file in [
        outside.to_str().unwrap(),
        "../secret.wav",
        "link.wav",
        "missing.wav",
        "~/secret.wav",
        "http://127.0.0.1:1/x.wav",
        "file:///etc/passwd",
        "base64:!!!",
        "data:audio/wav;base64,###",
    ] {
        let answer = refused(&session, "transcribe_audio", arguments(file)).await;
        assert_eq!(answer["code"], "file_refused", "{file}: {answer}");
        assert!(!answer.to_string().contains(root.to_str().unwrap()), "{file}: the root leaks: {answer}");
    }
    assert!(stage.mock.requests().is_empty());

    let fine = structured(&session.execute("transcribe_audio", arguments("한글.wav")).await.unwrap());
    assert_eq!(fine["ok"], true, "{fine}");
    assert_eq!(stage.mock.requests()[0].part("file").unwrap().filename.as_deref(), Some("한글.wav"));
    let linked = structured(&session.execute("transcribe_audio", arguments("inner.wav")).await.unwrap());
    assert_eq!(linked["ok"], true, "{linked}");
}

#[tokio::test]
async fn what_one_call_received_no_other_sends() {
    let stage = Stage::set().unwrap();
    let root = stage.home().join("data");
    let output = root.join("output");
    std::fs::create_dir_all(&output).unwrap();
    std::fs::write(output.join("saved.wav"), toolwright_e2e::wav(1)).unwrap();
    let folders =
        [("LOCALAI_MCP_FILE_ROOT", root.to_str().unwrap()), ("LOCALAI_MCP_OUTPUT_DIR", output.to_str().unwrap())];
    let session = stage.session(&folders).await.unwrap();
    let answer = refused(&session, "transcribe_audio", json!({"model": "m", "file": "output/saved.wav"})).await;
    assert_eq!(answer["code"], "file_refused", "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("the output folder"), "{answer}");
    assert!(stage.mock.requests().is_empty());
}

#[tokio::test]
async fn secrets_in_answers_are_masked_by_their_names() {
    let stage = Stage::set().unwrap();
    let body = r#"[{"request":{"headers":{"authorization":"SECRET1"},"body":"{\"api_key\":\"SECRET2\"}"},
        "data":{"token":"SECRET3"},"nested":{"api_keys":["SECRET4"],"password":"SECRET5","max_tokens":7}}]"#;
    let calls = [
        ("list_request_traces", json!({"full": true})),
        ("list_backend_traces", json!({"full": true})),
        ("raw_request", json!({"method": "GET", "path": "/api/traces"})),
        ("raw_request", json!({"method": "GET", "path": "/api/settings"})),
    ];
    for reveals in ["false", "true"] {
        let session = stage.session(&[("LOCALAI_MCP_REVEAL_SECRETS", reveals)]).await.unwrap();
        for (name, arguments) in &calls {
            stage.mock.fault("*", Fault::Status { code: 200, body: Some(body.into()), retry_after: None }, 1);
            let answer = structured(&session.execute(name, arguments.clone()).await.unwrap());
            let shown = answer["data"].to_string();
            assert_eq!(answer["ok"], true, "{name}: {answer}");
            assert_eq!(shown.contains("SECRET"), reveals == "true", "{name}: {shown}");
            assert_eq!(answer["data"][0]["nested"]["max_tokens"], 7);
        }
    }
}

#[tokio::test]
async fn urls_never_reach_private_addresses_even_when_enabled() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[("LOCALAI_MCP_FILE_URLS", "true")]).await.unwrap();
    let own = format!("{}/branding/asset/logo", stage.mock.url());
    for url in [
        own.as_str(),
        "http://localhost/x",
        "http://169.254.169.254/latest",
        "http://[::1]/x",
        "http://10.0.0.1/x",
        "http://[::ffff:127.0.0.1]/x",
        "http://0.0.0.0/x",
        "http://2130706433/x",
    ] {
        let answer = refused(&session, "transcribe_audio", json!({"model": "m", "file": url})).await;
        assert_eq!(answer["code"], "file_refused", "{url}: {answer}");
    }
    assert!(stage.mock.requests().is_empty());
}

#[tokio::test]
async fn an_upload_beyond_the_limit_is_refused() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[("LOCALAI_MCP_MAX_UPLOAD_BYTES", "1000")]).await.unwrap();
    let answer = refused(&session, "transcribe_audio", json!({"model": "m", "file": file_for("file")})).await;
    assert_eq!(answer["code"], "too_large", "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("1000"));
    assert!(stage.mock.requests().is_empty());
}

#[tokio::test]
async fn a_read_only_server_changes_nothing() {
    let stage = Stage::set().unwrap();
    let session =
        stage.session(&[("LOCALAI_MCP_READ_ONLY", "true"), ("LOCALAI_MCP_EXPOSED_TOOLS", "*")]).await.unwrap();
    let listed = session.list().await.unwrap();
    let names: Vec<&str> = listed.iter().map(|tool| &*tool.name).collect();
    assert!(names.contains(&"list_models") && !names.contains(&"delete_model"), "{names:?}");
    for (name, arguments) in [
        ("delete_model", json!({"name": "m"})),
        ("install_model", json!({"request": {"id": "x"}})),
        ("raw_request", json!({"method": "DELETE", "path": "/x"})),
    ] {
        let answer = structured(&session.execute(name, arguments).await.unwrap());
        assert_eq!(answer["code"], "not_allowed", "{name}: {answer}");
    }
    assert!(stage.mock.requests().is_empty());
    let chat = session.call("chat", json!({"request": {"model": "m", "messages": []}})).await.unwrap();
    assert_eq!(structured(&chat)["ok"], true);
}

#[tokio::test]
async fn allow_and_deny_hold_for_hidden_tools() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[("LOCALAI_MCP_DENY", "detokenize,raw_request")]).await.unwrap();
    let body = json!({"request": {"model": "m", "tokens": [1]}});
    assert_eq!(structured(&session.execute("detokenize", body.clone()).await.unwrap())["code"], "not_allowed");
    let only = stage.session(&[("LOCALAI_MCP_ALLOW", "detokenize")]).await.unwrap();
    assert_eq!(structured(&only.execute("detokenize", body).await.unwrap())["ok"], true);
    assert_eq!(structured(&only.execute("list_agent_jobs", json!({})).await.unwrap())["code"], "not_allowed");
}

#[tokio::test]
async fn the_key_is_in_no_answer_and_no_log() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[("LOCALAI_API_KEY", KEY), ("TOOLWRIGHT_LOG_LEVEL", "trace")]).await.unwrap();
    let mut seen = String::new();
    for (name, arguments) in
        [("list_models", json!({})), ("server_health", json!({})), ("chat", json!({"request": {}}))]
    {
        seen.push_str(&structured(&session.call(name, arguments).await.unwrap()).to_string());
    }
    let down = stage.session(&[("LOCALAI_API_KEY", KEY), ("LOCALAI_BASE_URL", "http://127.0.0.1:9")]).await.unwrap();
    seen.push_str(&structured(&down.call("list_models", json!({})).await.unwrap()).to_string());
    for arguments in [vec!["doctor"], vec!["call", "list_models", "--dry-run"], vec!["config", "example"]] {
        let output = stage.command(&[("LOCALAI_API_KEY", KEY)]).args(&arguments).output().await.unwrap();
        seen.push_str(&String::from_utf8_lossy(&output.stdout));
        seen.push_str(&String::from_utf8_lossy(&output.stderr));
    }
    session.close().await.unwrap();
    let written = files_below(stage.home());
    let is_log = |path: &Path| path.extension().is_some_and(|extension| extension == "log");
    let logs = written.iter().filter(|(path, _)| is_log(path)).count();
    written.iter().for_each(|(_, text)| seen.push_str(text));
    assert!(logs > 0, "there is a log to look into");
    assert!(!seen.contains(KEY), "the key leaks");
}

#[tokio::test]
async fn a_state_changing_call_leaves_an_audit_line() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[]).await.unwrap();
    session.execute("delete_model", json!({"name": "m-audited"})).await.unwrap();
    session.close().await.unwrap();
    let written = files_below(stage.home());
    let found = written
        .iter()
        .flat_map(|(_, text)| text.lines())
        .any(|line| line.contains("delete_model") && line.contains("audit"));
    assert!(found);
}

#[tokio::test]
async fn off_loopback_a_token_is_required_to_start() {
    let stage = Stage::set().unwrap();
    let mut command = stage.command(&[("MCP_HOST", "0.0.0.0"), ("MCP_PORT", "0")]);
    let output = command.arg("http").stdin(Stdio::null()).output().await.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("MCP_AUTH_TOKEN"));
}

#[tokio::test]
async fn every_wrong_setting_is_named_at_once() {
    let stage = Stage::set().unwrap();
    let environment = [
        ("LOCALAI_REQUEST_TIMEOUT", "soon"),
        ("LOCALAI_BASE_URL", "ftp://x"),
        ("MCP_PORT", "99999"),
        ("MCP_STATELESS_HTTP", "false"),
        ("MCP_STATE_KEY", "short"),
        ("LOCALAI_MCP_MAX_UPLOAD_BYTES", "-1"),
    ];
    let output = stage.command(&environment).arg("http").stdin(Stdio::null()).output().await.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    for (name, _) in environment {
        assert!(stderr.contains(name), "{name} is not named in: {stderr}");
    }
}

#[tokio::test]
async fn hosts_origins_and_tokens_are_checked() {
    let stage = Stage::set().unwrap();
    let server = Http::start(&stage, &[("MCP_AUTH_TOKEN", "t0ken")]).await.unwrap();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let cases: [(&[(&str, &str)], u16); 6] = [
        (&[], 401),
        (&[("authorization", "Bearer wrong")], 401),
        (&[("authorization", "Bearer t0ken")], 200),
        (&[("authorization", "Bearer t0ken"), ("host", "evil.example")], 403),
        (&[("authorization", "Bearer t0ken"), ("origin", "https://evil.example")], 403),
        (&[("authorization", "Bearer t0ken"), ("origin", "null")], 403),
    ];
    for (headers, expected) in cases {
        assert_eq!(server.post(&list, headers).await.unwrap().status, expected, "{headers:?}");
    }
    assert_eq!(server.get("/healthz").await.unwrap().status, 200);
}

#[tokio::test]
async fn eof_ends_the_server_quietly() {
    let stage = Stage::set().unwrap();
    let output = stage.command(&[]).arg("stdio").stdin(Stdio::null()).output().await.unwrap();
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
}

/// Every file below a folder, with its text.
fn files_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files_below(&path)),
            false => {
                let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                found.push((path, text));
            }
        }
    }
    found
}
