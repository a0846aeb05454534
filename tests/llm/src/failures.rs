//! What goes wrong with real servers.

use std::{
    num::NonZeroU32,
    time::{Duration, Instant},
};

use anyhow::{bail, ensure};
use serde_json::{Value, json};
use toolwright_http::CallContext;
use toolwright_llm::{
    Message, ModelError, OutputSchema, Refused, Request, StopReason, Strategy, Structured, StructuredError,
    submit_structured,
};

use crate::upstream::{Upstream, patience, question};

pub(crate) async fn length(upstream: &Upstream) -> anyhow::Result<()> {
    let model = upstream.openai()?;
    let answer = model.complete(&question("Tell me a long story.", 8), &patience()).await?;
    ensure!(answer.stop == StopReason::Length, "it ended by {:?}", answer.stop);
    ensure!(answer.usage.output_tokens == Some(8), "{:?}", answer.usage);
    let schema = OutputSchema::new(json!({
        "type": "object", "properties": {"story": {"type": "string", "minLength": 200}}, "required": ["story"]}))?;
    let asked = Structured {
        strategy: Strategy::Constrained,
        max_output_tokens: NonZeroU32::new(8),
        ..Structured::new(schema, "", vec![Message::user("Tell me a long story.")])
    };
    match submit_structured(&model, &asked, &patience()).await {
        Err(StructuredError::Unfit(why)) if why.contains("limit of its length") => Ok(()),
        other => bail!("{other:?}"),
    }
}

pub(crate) async fn long_prompt(upstream: &Upstream) -> anyhow::Result<()> {
    let refused = refused(upstream, &question("word ".repeat(9_000), 8)).await?;
    ensure!(refused.kind.as_deref() == Some("exceed_context_size_error"), "{refused:?}");
    Ok(())
}

pub(crate) async fn bad_schema(upstream: &Upstream) -> anyhow::Result<()> {
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}});
    let refused = refused(upstream, &Request { output_schema: Some(schema), ..question("Hi", 8) }).await?;
    ensure!(refused.kind.as_deref() == Some("invalid_request_error"), "{refused:?}");
    Ok(())
}

/// Where the server knows a schema less well than we do, the loop takes over.
pub(crate) async fn refused_schema(upstream: &Upstream) -> anyhow::Result<()> {
    let schema = OutputSchema::new(json!({
        "type": "object",
        "properties": {"pair": {"type": "array", "prefixItems": [{"type": "integer"}], "items": false}},
        "required": ["pair"]}))?;
    let asked = Structured {
        max_attempts: NonZeroU32::MIN,
        max_output_tokens: NonZeroU32::new(16),
        ..Structured::new(schema, "", vec![Message::user("A number?")])
    };
    match submit_structured(&upstream.openai()?, &asked, &patience()).await {
        Ok(submitted) if submitted.by == Strategy::SubmitTool => Ok(()),
        Err(StructuredError::NotSubmitted(failure)) if failure.attempts == 1 => Ok(()),
        other => bail!("{other:?}"),
    }
}

/// What the server says against a request: status 400.
async fn refused(upstream: &Upstream, request: &Request) -> anyhow::Result<Refused> {
    match upstream.openai()?.complete(request, &patience()).await {
        Err(ModelError::Refused(refused)) if refused.status == 400 => Ok(*refused),
        other => bail!("{other:?}"),
    }
}

/// Real servers of Ollama cut such a prompt instead; this one passes the refusal on, as a text without a kind.
pub(crate) async fn ollama_refusal(upstream: &Upstream) -> anyhow::Result<()> {
    match upstream.ollama()?.complete(&question("word ".repeat(9_000), 8), &patience()).await {
        Err(ModelError::Refused(refused)) => {
            ensure!(refused.status == 400 && refused.message.contains("context"), "{refused:?}");
            Ok(())
        }
        other => bail!("{other:?}"),
    }
}

/// Rows as a list have no end for a small model; rows as keys do.
pub(crate) async fn runaway(upstream: &Upstream) -> anyhow::Result<()> {
    let label = json!({"type": "string", "enum": ["fruit", "animal", "tool"]});
    let prompt = "Label each row: 1 apple, 2 dog, 3 hammer, 4 pear, 5 cat, 6 saw.";
    let list = json!({
        "type": "object", "properties": {"rows": {"type": "array", "items": label}}, "required": ["rows"]});
    let names: Vec<String> = (1..=6).map(|row| format!("row_{row}")).collect();
    let properties: serde_json::Map<String, Value> = names.iter().map(|name| (name.clone(), label.clone())).collect();
    let keyed = json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false});
    let model = upstream.openai()?;
    let ask = |schema: Value| {
        let request = Request { output_schema: Some(schema), ..question(prompt, 150) };
        let model = &model;
        async move { model.complete(&request, &patience()).await }
    };
    let keyed = ask(keyed).await?;
    ensure!(keyed.stop == StopReason::End, "keyed rows ended by {:?}: {}", keyed.stop, keyed.text);
    let rows: Value = serde_json::from_str(&keyed.text)?;
    ensure!(rows.as_object().is_some_and(|rows| rows.len() == 6), "{rows}");
    let list = ask(list).await?;
    ensure!(list.stop == StopReason::Length, "the list ended by {:?}: {}", list.stop, list.text);
    Ok(())
}

pub(crate) async fn timeout(upstream: &Upstream) -> anyhow::Result<()> {
    let model = upstream.hasty(0.5)?;
    match model.complete(&endless(), &patience()).await {
        Err(ModelError::ReadTimeout { seconds, .. }) => ensure!(seconds == 0.5, "{seconds}"),
        other => bail!("{other:?}"),
    }
    is_free(upstream).await
}

pub(crate) async fn cancel(upstream: &Upstream) -> anyhow::Result<()> {
    let model = upstream.openai()?;
    let context = patience();
    let (request, cancel) = (endless(), context.cancel.clone());
    let asking = model.complete(&request, &context);
    let cancelling = async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(asking, cancelling);
    ensure!(matches!(outcome, Err(ModelError::Cancelled { .. })), "{outcome:?}");
    is_free(upstream).await
}

/// A question that takes the model much longer than any of the limits here: the schema has no shorter answer.
fn endless() -> Request {
    let properties: serde_json::Map<String, Value> = (0..300).map(|n| (format!("k{n}"), json!({"const": n}))).collect();
    let required: Vec<String> = properties.keys().cloned().collect();
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false});
    Request { output_schema: Some(schema), ..question("Count.", 4_000) }
}

/// The model has only one place: while the last question is still worked at, the next one waits.
async fn is_free(upstream: &Upstream) -> anyhow::Result<()> {
    let context = CallContext::within(Duration::from_secs(10));
    upstream.openai()?.complete(&question("Hi", 4), &context).await?;
    Ok(())
}

pub(crate) async fn queue(upstream: &Upstream) -> anyhow::Result<()> {
    let model = upstream.openai()?;
    let started = Instant::now();
    let ask = |text: &'static str| {
        let model = &model;
        async move {
            model.complete(&question(text, 12), &patience()).await?;
            Ok::<_, ModelError>(started.elapsed())
        }
    };
    let (a, b, c, d) = tokio::try_join!(ask("One?"), ask("Two?"), ask("Three?"), ask("Four?"))?;
    let mut ends = [a, b, c, d];
    ends.sort_unstable();
    println!("        four questions at once ended after {ends:.2?}");
    Ok(())
}
