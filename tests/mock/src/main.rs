//! Serve an API document as a mock upstream, for trying things by hand.

use clap::Parser;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use toolwright_mock::{Mock, Options, Personality};

const DOORS: &str = "\
The address is the first line of the output, and the base of the document's paths the second where it is another.
Beside the document's operations the mock has doors of its own:
  GET  /__mock/requests     what arrived            GET  /__mock/operations   what is served
  GET  /__mock/violations   what was wrong with it  POST /__mock/clear        forget all of it
  GET  /__mock/big?bytes=N  N bytes
  POST /__mock/faults       {\"operation\": \"GET /a\", \"fault\": {\"status\": {\"code\": 503, \"retry_after\": 1}}, \"times\": 2}
A single request asks for a fault by the header x-mock-fault: delay:200, status:503, drop, truncated, malformed_sse, ...";

#[derive(Parser)]
#[command(version, about = "Serve an API document as a mock upstream on loopback", after_help = DOORS)]
struct Arguments {
    /// A Swagger 2.0 or OpenAPI 3 document, JSON or YAML.
    document: PathBuf,
    /// The port; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Behave like the real LocalAI where it differs from its document.
    #[arg(long)]
    localai: bool,
    /// Require this key.
    #[arg(long)]
    key: Option<String>,
    /// Answer requests that break the document with 400.
    #[arg(long)]
    refuse: bool,
    /// Stop after this many seconds.
    #[arg(long, default_value_t = 3600)]
    stop_after: u64,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("toolwright-mock: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(&arguments.document)?;
    let personality = if arguments.localai { Personality::LocalAi } else { Personality::Document };
    let options = Options {
        personality,
        port: arguments.port,
        bearer: arguments.key,
        refuse: arguments.refuse,
        ..Options::default()
    };
    let mock = Mock::start_text(&text, options)?;
    let mut out = std::io::stdout();
    // The first line is the address of the mock's own doors. Who waits for it finds the other one there as well.
    let mut lines = format!("{}\n", mock.url());
    if mock.base_url() != mock.url() {
        lines.push_str(&format!("base: {}\n", mock.base_url()));
    }
    out.write_all(lines.as_bytes())?;
    out.flush()?;
    std::thread::sleep(Duration::from_secs(arguments.stop_after));
    mock.stop();
    Ok(())
}
