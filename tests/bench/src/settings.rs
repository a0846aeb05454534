//! What settings and secrets cost at start.

use std::{fs, time::Instant};

use toolwright_core::Secrets as _;
use toolwright_server::settings::Settings;

use crate::report::{Report, median};

const ROUNDS: usize = 500;

/// Every level of the file, a table of another part, and a secret in a variable.
const FILE: &str = r#"
schema_version = 1
log_level = "warn"
max_concurrency = 8

[llm]
backend = "openai_compatible"
base_url = "http://127.0.0.1:8080/v1"
[llm.models."qwen3-4b"]
temperature = "zero"

[secrets.llm_api_key]
env_vars = ["COMPANY_LLM_KEY"]

[server.localai]
exposed_tools = ["chat", "list_models"]
request_timeout = 60
[server.localai.llm]
response_timeout = 30
[server.localai.profiles.lab]
base_url = "http://lab.example:8080"
"#;

/// Reads the file and all settings, and looks one secret up, as a server does before it serves.
pub(crate) fn read(report: &mut Report) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("config.toml");
    fs::write(&file, FILE)?;
    let variables = [("HOME", "/home/u"), ("LOCALAI_API_KEY", "k"), ("COMPANY_LLM_KEY", "k")];
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let settings = Settings::read(&localai_tools::SERVER, Some(&file), variables)
            .map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
        anyhow::ensure!(settings.secret_sources.get("llm_api_key")?.is_some(), "the secret is there");
        times.push(started.elapsed().as_secs_f64() * 1000.0);
    }
    let time = median(times);
    report.row("settings and secrets at start", format!("{time:.3} ms"), "<= 1 ms", time <= 1.0);
    Ok(())
}
