//! A tool of the tool language that asks the model: what a generated server does with a plan.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, ensure};
use serde_json::{Map, Value, json};
use toolwright_core::{
    Binding, Configuration, Context, Declared, Executor as _, LinkedBinding, LinkedTool, NoSecrets, Risk, SearchTerms,
    ToolSpec,
};
use toolwright_llm::LlmExecutor;

use crate::upstream::Upstream;

const PLAN: &str =
    r#"{"model":{"setting":"model"},"prompt":"What is this text about?\n{$inputs.text}","max_output_tokens":60}"#;

static TEXT: ToolSpec = ToolSpec {
    name: "sum_up",
    title: "Sum up",
    description: "Sum a text up.",
    summary: "Sum a text up.",
    tags: &[],
    risk: Risk::Compute,
    idempotent: false,
    open_world: true,
    input_schema: "{}",
    advertised_schema: None,
    result_schema: None,
    search: SearchTerms { en: &[], ko: &[], ja: &[] },
    declared: Declared { method: "", path: "" },
    binding: Binding::Linked(LinkedBinding { executor: "llm", plan: PLAN, project: None }),
    deadline_seconds: None,
    long: false,
    secrets: &[],
};

static STRUCTURED: ToolSpec =
    ToolSpec { result_schema: Some(r#"{"type":"string","enum":["weather","sport"]}"#), ..TEXT };

async fn called(upstream: &Upstream, row: &'static ToolSpec) -> anyhow::Result<Map<String, Value>> {
    let mut executor = LlmExecutor::new();
    let models = json!({upstream.name(): {"constrained_output": true}});
    let table = json!({"backend": "openai_compatible", "base_url": upstream.url(), "models": models});
    // The model on loopback wants no key.
    let configured = executor.configure(Configuration { table: Some(table), secrets: Arc::new(NoSecrets) });
    configured.map_err(|faults| anyhow::anyhow!("{faults:?}"))?;
    let context = Context::alone(Duration::from_secs(120), [("model", upstream.name())]);
    let arguments = json!({"text": "It rained all day."});
    let arguments = arguments.as_object().cloned().context("no arguments")?;
    Ok(executor.call(LinkedTool { row, plan: PLAN }, arguments, &context).await.into_json())
}

/// Text, the model and what it cost.
pub(crate) async fn text(upstream: &Upstream) -> anyhow::Result<()> {
    let envelope = called(upstream, &TEXT).await?;
    ensure!(envelope.get("text").and_then(Value::as_str).is_some_and(|text| !text.is_empty()), "{envelope:?}");
    ensure!(envelope.get("model") == Some(&json!(upstream.name())), "{envelope:?}");
    let tokens = envelope.get("usage").and_then(|usage| usage.get("output_tokens")).and_then(Value::as_u64);
    ensure!(tokens.is_some_and(|tokens| (1..=60).contains(&tokens)), "{envelope:?}");
    Ok(())
}

/// An output that is no object: one of two words, whichever it is.
pub(crate) async fn structured(upstream: &Upstream) -> anyhow::Result<()> {
    let envelope = called(upstream, &STRUCTURED).await?;
    let data = envelope.get("data").and_then(Value::as_str);
    ensure!(data.is_some_and(|word| ["weather", "sport"].contains(&word)), "{envelope:?}");
    Ok(())
}
