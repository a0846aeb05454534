//! Asks a real model on loopback: `tests/llm/run` starts it. What the model answers is not judged, only its form.

mod failures;
mod protocols;
mod structured;
mod tool;
mod upstream;

use std::{future::Future, process::ExitCode, time::Instant};

use upstream::Upstream;

/// What the checks came to.
#[derive(Default)]
struct Tally {
    passed: u32,
    failed: u32,
}

impl Tally {
    async fn check(&mut self, name: &str, check: impl Future<Output = anyhow::Result<()>>) {
        let started = Instant::now();
        match check.await {
            Ok(()) => {
                self.passed += 1;
                println!("ok      {name} ({:.1} s)", started.elapsed().as_secs_f64());
            }
            Err(error) => {
                self.failed += 1;
                println!("FAILED  {name}: {error:#}");
            }
        }
    }
}

// One thread: what is measured is the model.
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<ExitCode> {
    let upstream = Upstream::from_environment()?;
    let mut tally = Tally::default();
    tally.check("chat completions are streamed and counted", protocols::openai(&upstream)).await;
    tally.check("Anthropic's messages are streamed and counted", protocols::anthropic(&upstream)).await;
    tally.check("Ollama's lines are streamed and counted", protocols::ollama(&upstream)).await;
    tally.check("Ollama holds an answer to a schema", protocols::ollama_schema(&upstream)).await;
    tally.check("the limit of length ends an answer", failures::length(&upstream)).await;
    tally.check("a prompt that is too long is refused and not repeated", failures::long_prompt(&upstream)).await;
    tally.check("a schema that leads nowhere is refused", failures::bad_schema(&upstream)).await;
    tally.check("a schema that the server refuses is left to the tool", failures::refused_schema(&upstream)).await;
    tally.check("a refusal in Ollama's form is told", failures::ollama_refusal(&upstream)).await;
    tally.check("a list without bounds runs away, keyed rows end", failures::runaway(&upstream)).await;
    tally.check("a tool of the tool language answers with text", tool::text(&upstream)).await;
    tally.check("a tool of the tool language answers with what its output allows", tool::structured(&upstream)).await;
    tally.check("the time for an answer holds", failures::timeout(&upstream)).await;
    tally.check("cancelling frees the model", failures::cancel(&upstream)).await;
    tally.check("questions at once are answered one after another", failures::queue(&upstream)).await;
    tally.check("structured output by both strategies", structured::measure(&upstream)).await;
    println!("model: {} passed, {} failed", tally.passed, tally.failed);
    Ok(if tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
