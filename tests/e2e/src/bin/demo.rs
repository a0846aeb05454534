//! `cargo xtask demo localai`: a person watches an MCP client use `localai-server` against a mock of LocalAI.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use toolwright_e2e::{Session, repository, structured, vendored_document};
use toolwright_mock::{Mock, Options, Personality};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(server), Some(binary)) = (arguments.next(), arguments.next()) else {
        bail!("run it as `cargo xtask demo localai`");
    };
    if server != "localai" {
        bail!("there is no demo of {}; write `cargo xtask demo localai`", server.display());
    }
    let binary = PathBuf::from(binary);
    let mock = Mock::start(
        &vendored_document("localai")?,
        Options { personality: Personality::LocalAi, ..Options::default() },
    )?;
    let state = tempfile::tempdir()?;
    say(&format!("A mock of LocalAI listens at {}; the server is started as an MCP client would start it", mock.url()));
    let session = connect(&binary, &mock.url(), state.path()).await?;

    show_list(&session).await?;
    show_chat(&session).await?;
    show_speech(&session).await?;
    show_search(&session).await?;
    show_stream(&session).await?;
    show_refusal(&session).await?;

    session.close().await?;
    let violations = mock.violations();
    ensure!(violations.is_empty(), "the mock saw requests that break the document: {violations:?}");
    say(&format!("Done: {} requests reached the mock, each as LocalAI wants it", mock.requests().len()));
    Ok(())
}

async fn connect(binary: &Path, url: &str, state: &Path) -> anyhow::Result<Session> {
    let mut command = tokio::process::Command::new(binary);
    command.arg("stdio").env("LOCALAI_BASE_URL", url);
    for variable in ["XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(variable, state);
    }
    tokio::time::timeout(Duration::from_secs(20), Session::over_stdio(command))
        .await
        .context("the server did not answer within 20 seconds")?
}

async fn show_list(session: &Session) -> anyhow::Result<()> {
    let tools = session.list().await?;
    say(&format!("tools/list: {} tools", tools.len()));
    for tool in &tools {
        line(&format!("{:28} {}", tool.name, tool.title.as_deref().unwrap_or_default()));
    }
    ensure!(tools.len() == 25, "25 tools are expected, and {} were listed", tools.len());
    Ok(())
}

async fn show_chat(session: &Session) -> anyhow::Result<()> {
    let arguments = json!({"request": {"model": "demo-model", "messages": [{"role": "user", "content": "안녕하세요, who are you?"}]}});
    let answer = call(session, "chat", arguments).await?;
    line(&format!("assistant: {}", answer.pointer("/data/choices/0/message/content").unwrap_or(&Value::Null)));
    Ok(())
}

async fn show_speech(session: &Session) -> anyhow::Result<()> {
    let arguments = json!({"request": {"model": "demo-voice", "input": "Hello from Toolwright."}});
    let answer = call(session, "text_to_speech", arguments).await?;
    let path = answer.get("saved_path").and_then(Value::as_str).context("the answer names no saved file")?;
    let bytes = std::fs::read(path)?;
    ensure!(bytes.starts_with(b"RIFF"), "the saved file is not a WAV file");
    let kept = repository().join("target/demo/hello.wav");
    std::fs::create_dir_all(kept.parent().unwrap_or(Path::new(".")))?;
    std::fs::write(&kept, &bytes)?;
    line(&format!(
        "a WAV file of {} bytes, saved by the server; a copy to listen to: target/demo/hello.wav",
        bytes.len()
    ));
    Ok(())
}

async fn show_search(session: &Session) -> anyhow::Result<()> {
    let hidden = localai_tools::TOOLS.tools().len() - localai_tools::SERVER.preset.len();
    say(&format!("{hidden} further operations are not listed, and found by what they do:"));
    for question in ["설치된 백엔드 목록 보여줘", "モデルのインストールの進捗", "which models can be installed"]
    {
        line(&format!("{question}  ->  {}", first_match(session, question).await?));
    }
    let question = "turn token ids back into text";
    let first = first_match(session, question).await?;
    line(&format!("{question}  ->  {first}; it is hidden, so it runs through the gateway:"));
    let arguments = json!({"tool_name": first, "arguments": {"request": {"model": "m", "tokens": [1, 42, 9001]}}});
    call(session, "execute_additional_tool", arguments).await?;
    Ok(())
}

/// The name of the tool that fits a sentence best.
async fn first_match(session: &Session, question: &str) -> anyhow::Result<String> {
    let found = session.call("search_additional_tools", json!({"query": question, "limit": 3})).await?;
    let first = structured(&found).pointer("/matches/0/name").and_then(Value::as_str).map(str::to_owned);
    first.with_context(|| format!("nothing was found for {question}"))
}

async fn show_stream(session: &Session) -> anyhow::Result<()> {
    let before = session.progress().len();
    let arguments = json!({"request": {"model": "demo-model", "stream": true,
        "messages": [{"role": "user", "content": "Count to five."}]}});
    let answer = call(session, "chat", arguments).await?;
    let progress = session.progress();
    let updates: Vec<&str> = progress.iter().skip(before).filter_map(|update| update.message.as_deref()).collect();
    line(&format!("{} progress notifications while it streamed: {}", updates.len(), updates.join(" | ")));
    line(&format!("assembled: {}", answer.pointer("/data/choices/0/message/content").unwrap_or(&Value::Null)));
    Ok(())
}

async fn show_refusal(session: &Session) -> anyhow::Result<()> {
    let arguments = json!({"request": {"modle": "demo-model", "messages": "hello"}});
    say(&format!("chat {arguments}   (a misspelt field, and text where a list belongs)"));
    let result = session.call("chat", arguments).await?;
    ensure!(result.is_error == Some(true), "bad arguments must be refused");
    let refusal = structured(&result);
    line(&format!("refused: {}", refusal.get("error").and_then(Value::as_str).unwrap_or_default()));
    for violation in refusal.get("validation_errors").and_then(Value::as_array).into_iter().flatten() {
        line(&format!("- {}", violation.get("msg").and_then(Value::as_str).unwrap_or_default()));
    }
    Ok(())
}

/// Calls a tool, shows both sides briefly, and stops the demo where the call failed.
async fn call(session: &Session, name: &str, arguments: Value) -> anyhow::Result<Value> {
    say(&format!("{name} {}", brief(&arguments, 160)));
    let result: CallToolResult = session.call(name, arguments).await?;
    let answer = structured(&result);
    line(&brief(&answer, 240));
    ensure!(result.is_error != Some(true), "{name} failed: {answer}");
    Ok(answer)
}

fn brief(value: &Value, longest: usize) -> String {
    let text = value.to_string();
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "\n● {text}");
}

fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "  {text}");
}
