//! Secrets are planted in every place that may hold one, a server does with them what it should not, and whatever it says
//! is searched for them: results, progress, errors, logs, panics, traces, printed requests and printed settings.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright_e2e::{Collector, Http, Manner};

/// Each secret by where it is planted. Signs that URLs and JSON write in other ways are part of them.
const API_KEY: &str = "api/k3y+5309&one";
const SIGNATURE: &str = "sign\"ature=5309?two";
const AUTH_TOKEN: &str = "t0ken/5309+three";
const LLM_KEY: &str = "llm-k3y/5309+four";
const LLM_HEADER: &str = "llm-header-5309-five";
const COLLECTOR_KEY: &str = "collector-5309-six";
const LANGFUSE_KEY: &str = "sk-lf-5309-seven";
const SECRETS: [&str; 7] = [API_KEY, SIGNATURE, AUTH_TOKEN, LLM_KEY, LLM_HEADER, COLLECTOR_KEY, LANGFUSE_KEY];

const TOOLS: [&str; 9] =
    ["ask", "echo", "fail", "fail_with_it", "log_it", "panic_with_it", "slow", "tell_it", "wait_with_it"];

/// The API and the model: both say back what they were sent.
struct Indiscreet {
    address: SocketAddr,
    heads: Arc<Mutex<String>>,
}

impl Indiscreet {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let (address, heads) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(String::new())));
        let seen = Arc::clone(&heads);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || answer(stream, &seen));
            }
        });
        Indiscreet { address, heads }
    }

    fn was_sent(&self, text: &str) -> bool {
        self.heads.lock().unwrap().contains(text)
    }
}

fn answer(stream: TcpStream, seen: &Mutex<String>) {
    let mut answers = stream.try_clone().unwrap();
    let mut lines = BufReader::new(stream).lines();
    let head: Vec<String> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let head = head.join("\n");
    seen.lock().unwrap().push_str(&head);
    let (status, body) = match head.split(' ').nth(1).unwrap_or_default() {
        "/slow" => return std::thread::sleep(Duration::from_secs(30)),
        "/echo" => (200, json!({"head": head, SIGNATURE: [API_KEY], "none": null})),
        "/fail" => (500, json!({"error": format!("what is this? {head}")})),
        _ => (401, json!({"error": {"message": format!("incorrect key in {head}"), "type": "authentication_error"}})),
    };
    let body = body.to_string();
    let length = body.len();
    let _ = write!(
        answers,
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
}

/// What a server is started with.
struct Scene {
    api: Indiscreet,
    collector: Collector,
    state: TempDir,
    configuration: TempDir,
}

impl Scene {
    fn set() -> Self {
        let scene = Scene {
            api: Indiscreet::start(),
            collector: Collector::start(Manner::Answers(200)).unwrap(),
            state: tempfile::tempdir().unwrap(),
            configuration: tempfile::tempdir().unwrap(),
        };
        let text = format!(
            "[llm]\nbackend = \"openai_compatible\"\nbase_url = \"http://{}/v1\"\n[llm.default_headers]\n\
             x-team = \"{LLM_HEADER}\"\n[secrets.llm_api_key]\nenv_vars = [\"COMPANY_LLM_KEY\"]\n\
             [server.careless]\nsignature = '{SIGNATURE}'\n",
            scene.api.address
        );
        std::fs::write(scene.file("config.toml"), text).unwrap();
        scene
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.configuration.path().join(name)
    }

    fn environment(&self) -> Vec<(String, String)> {
        let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        vec![
            own("HOME", &self.state.path().to_string_lossy()),
            own("TOOLWRIGHT_CONFIG", &self.file("config.toml").to_string_lossy()),
            own("CARELESS_BASE_URL", &format!("http://{}", self.api.address)),
            own("CARELESS_API_KEY", API_KEY),
            own("COMPANY_LLM_KEY", LLM_KEY),
            own("MCP_AUTH_TOKEN", AUTH_TOKEN),
            own("TOOLWRIGHT_LOG_LEVEL", "trace"),
            own("OTEL_EXPORTER_OTLP_ENDPOINT", &self.collector.url()),
            own("OTEL_EXPORTER_OTLP_HEADERS", &format!("x-key={COLLECTOR_KEY}")),
            own("TOOLWRIGHT_LANGFUSE_ENABLED", "true"),
            own("TOOLWRIGHT_LANGFUSE_CAPTURE_PAYLOADS", "true"),
            own("LANGFUSE_BASE_URL", &self.collector.url()),
            own("LANGFUSE_PUBLIC_KEY", "pk-lf"),
            own("LANGFUSE_SECRET_KEY", LANGFUSE_KEY),
        ]
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_careless-server"));
        command.env_clear().envs(self.environment());
        command
    }

    /// What a command prints.
    fn printed(&self, arguments: &[&str], environment: &[(&str, &str)]) -> String {
        let output = self.command().args(arguments).envs(environment.iter().copied()).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    }

    /// Everything that a session over stdio with a call of every tool writes.
    fn over_stdio(&self) -> String {
        let mut command = self.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut seen = String::new();
        for (id, message) in messages().enumerate() {
            let mut message = message;
            if message.get("method").is_some_and(|method| method != "notifications/initialized") {
                message["id"] = id.into();
            }
            writeln!(input, "{message}").unwrap();
            // Progress comes in between.
            while message.get("id").is_some() {
                let start = seen.len();
                assert!(output.read_line(&mut seen).unwrap() > 0, "the server ended: {seen}");
                if seen[start..].contains(&format!("\"id\":{id}")) {
                    break;
                }
            }
        }
        drop(input);
        output.read_to_string(&mut seen).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut seen).unwrap();
        assert!(child.wait().unwrap().success());
        seen
    }

    /// Everything that calls of every tool over HTTP answer, and what the server writes to stderr, where its log goes.
    async fn over_http(&self) -> String {
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let log = self.file("stderr");
        let child = tokio::process::Command::from(self.command())
            .args(["http", "--port", &port.to_string()])
            .stderr(std::fs::File::create(&log).unwrap())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let server = Http { child, port };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let mut seen = String::new();
        let bearer = format!("Bearer {AUTH_TOKEN}");
        for (id, mut message) in messages().skip(2).enumerate() {
            message["id"] = id.into();
            for (authorization, expected) in [(bearer.as_str(), 200), ("Bearer wrong", 401)] {
                let answer = server.post(&message, &[("authorization", authorization)]).await.unwrap();
                assert_eq!(answer.status, expected, "{answer:?}");
                seen.push_str(&format!("{answer:?}\n"));
            }
        }
        seen.push_str(&server.get("/metrics").await.unwrap().body);
        drop(server);
        seen.push_str(&std::fs::read_to_string(log).unwrap());
        seen
    }
}

/// A session without ids: the greeting, the list, and a call of every tool that wants progress.
fn messages() -> impl Iterator<Item = Value> {
    let hello = json!({"jsonrpc": "2.0", "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let list = json!({"jsonrpc": "2.0", "method": "tools/list"});
    let calls = TOOLS.map(|name| {
        json!({"jsonrpc": "2.0", "method": "tools/call",
            "params": {"name": name, "arguments": {}, "_meta": {"progressToken": name}}})
    });
    [hello, ready, list].into_iter().chain(calls)
}

/// Fails where a text holds a secret in any of the forms in which secrets are written, and says where.
fn assert_none(what: &str, text: &str) {
    for secret in SECRETS {
        let percent: String = secret
            .bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' => char::from(byte).to_string(),
                _ => format!("%{byte:02X}"),
            })
            .collect();
        let json = json!(secret).to_string().trim_matches('"').to_owned();
        for form in [secret.to_owned(), STANDARD.encode(secret), percent, json] {
            if let Some(at) = text.find(&form) {
                let from = text[..at].char_indices().rev().nth(160).map_or(0, |(start, _)| start);
                panic!("{what} hold {form}, after: {}", &text[from..at]);
            }
        }
    }
    assert!(
        !text.contains(&STANDARD.encode(format!("pk-lf:{LANGFUSE_KEY}"))),
        "{what} hold the credentials of Langfuse"
    );
}

fn files_below(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| match path.is_dir() {
            true => files_below(&path),
            false => String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned(),
        })
        .collect()
}

#[test]
fn a_session_over_stdio_shows_no_secret_anywhere() {
    let scene = Scene::set();
    let seen = scene.over_stdio();
    let log = files_below(scene.state.path());
    let paths = ["/v1/traces", "/v1/metrics", "/api/public/otel/v1/traces"];
    let bodies = paths.map(|path| {
        let received = scene.collector.received(path);
        received.iter().map(|request| String::from_utf8_lossy(&request.body).into_owned()).collect::<String>()
    });

    // Every secret was there to be said.
    for sent in [API_KEY, SIGNATURE, LLM_KEY, LLM_HEADER] {
        assert!(scene.api.was_sent(sent), "{sent} was not used");
    }
    assert!(scene.collector.text().contains(COLLECTOR_KEY), "the key of the collector was not used");
    assert!(seen.contains("within [masked] a text"), "{seen}");
    assert!(log.contains("it is [masked]") && log.contains("panicked"), "{log}");
    for (path, body) in paths.iter().zip(&bodies) {
        assert!(!body.is_empty(), "nothing came to {path}");
    }

    assert_none("results", &seen);
    assert_none("logs", &log);
    for (path, body) in paths.iter().zip(&bodies) {
        assert_none(path, body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_over_http_shows_no_secret_anywhere() {
    let scene = Scene::set();
    let seen = scene.over_http().await;
    assert!(seen.contains("within [masked] a text") && seen.contains("it is [masked]"), "{seen}");
    assert_none("answers and the log", &seen);
}

#[test]
fn no_command_prints_a_secret() {
    let scene = Scene::set();
    for arguments in [
        &["doctor"][..],
        &["doctor", "--profile", "absent"],
        &["call", "echo", "--dry-run"],
        &["call", "ask", "--dry-run"],
        &["call", "fail"],
        &["call", "panic_with_it"],
        &["config", "example"],
        &["config", "clients"],
        &["config", "table"],
        &["config", "secret", "signature"],
        &["tools", "--json"],
        &["--help"],
    ] {
        assert_none(&format!("{arguments:?}"), &scene.printed(arguments, &[]));
    }
    let doctor = scene.printed(&["doctor"], &[]);
    for line in [
        "*** (set)                                    env CARELESS_API_KEY",
        "*** (set)                                    env COMPANY_LLM_KEY",
    ] {
        assert!(doctor.contains(line), "{line}: {doctor}");
    }
    let plain = "config.toml: server.careless.signature (plain in the file; use the environment or the keyring)";
    assert!(doctor.contains(plain), "{doctor}");
}

#[test]
fn no_fault_of_the_configuration_shows_a_secret() {
    let scene = Scene::set();
    let llm = |rest: &str| format!("[llm]\nbackend = 'openai_compatible'\nbase_url = 'http://127.0.0.1:1'\n{rest}\n");
    for (name, text) in [
        ("llm-number.toml", llm(&format!("response_timeout = '{LLM_KEY}'"))),
        ("llm-boolean.toml", llm(&format!("stream_usage = '{LLM_KEY}'"))),
        ("llm-headers.toml", llm(&format!("default_headers = '{LLM_HEADER}'"))),
        ("llm-header.toml", llm(&format!("[llm.default_headers]\nx-team = \"{LLM_HEADER}\\n\""))),
        ("llm-models.toml", llm(&format!("[llm.models]\nm = '{LLM_KEY}'"))),
        ("llm-dialect.toml", llm(&format!("[llm.models.m]\ndialect = '{LLM_KEY}'"))),
        ("llm-backend.toml", format!("[llm]\nbackend = '{LLM_KEY}'\n")),
        ("llm-address.toml", format!("[llm]\nbackend = 'openai_compatible'\nbase_url = '{LLM_KEY}'\n")),
        ("llm-table.toml", format!("llm = '{LLM_KEY}'\n")),
        ("cut.toml", format!("[server.careless]\nsignature = '{SIGNATURE}\n")),
        ("twice.toml", format!("[server.careless]\nsignature = '{SIGNATURE}'\nsignature = '{SIGNATURE}'\n")),
        ("inside.toml", format!("[secrets.signature]\nvalue = '{SIGNATURE}'\n")),
        ("account.toml", format!("[secrets.signature]\nname = '{SIGNATURE}'\nenv_vars = '{SIGNATURE}'\n")),
        ("plain.toml", format!("[secrets]\nsignature = '{SIGNATURE}'\n")),
        ("lines.toml", format!("[server.careless]\nsignature = \"\"\"{}\nx\"\"\"\n", SIGNATURE.replace('"', "\\\""))),
    ] {
        std::fs::write(scene.file(name), text).unwrap();
        let path = scene.file(name);
        let printed = scene.printed(&["--config", &path.to_string_lossy(), "http"], &[]);
        assert!(printed.contains(name), "{name} is not named: {printed}");
        assert_none(name, &printed);
    }
    let printed = scene.printed(&["http"], &[("MCP_AUTH_TOKEN", &format!("{AUTH_TOKEN} with spaces"))]);
    assert!(printed.contains("MCP_AUTH_TOKEN"), "{printed}");
    assert_none("the fault of a token", &printed);
}
