//! One answer in each dialect.

use anyhow::ensure;
use serde_json::{Value, json};
use toolwright_llm::{Model, Request, StopReason};

use crate::upstream::{Upstream, patience, question};

pub(crate) async fn openai(upstream: &Upstream) -> anyhow::Result<()> {
    answers(&upstream.openai()?).await
}

pub(crate) async fn anthropic(upstream: &Upstream) -> anyhow::Result<()> {
    answers(&upstream.anthropic()?).await
}

pub(crate) async fn ollama(upstream: &Upstream) -> anyhow::Result<()> {
    answers(&upstream.ollama()?).await
}

pub(crate) async fn ollama_schema(upstream: &Upstream) -> anyhow::Result<()> {
    let schema = json!({
        "type": "object",
        "properties": {"mood": {"type": "string", "enum": ["good", "bad"]}},
        "required": ["mood"]
    });
    let request = Request { output_schema: Some(schema), ..question("How are you?", 40) };
    let answer = upstream.ollama()?.complete(&request, &patience()).await?;
    let value: Value = serde_json::from_str(&answer.text)?;
    ensure!(matches!(value.get("mood").and_then(Value::as_str), Some("good" | "bad")), "{value}");
    Ok(())
}

async fn answers(model: &Model) -> anyhow::Result<()> {
    let answer = model.complete(&question("Hi", 200), &patience()).await?;
    ensure!(!answer.text.trim().is_empty(), "the answer is empty");
    ensure!(answer.stop == StopReason::End, "it ended by {:?}", answer.stop);
    ensure!(answer.usage.input_tokens.is_some_and(|count| count > 0), "{:?}", answer.usage);
    ensure!(answer.usage.output_tokens.is_some_and(|count| (1..200).contains(&count)), "{:?}", answer.usage);
    Ok(())
}
