//! Structured output over 50 schemas by both strategies: how often it succeeds, and after how many turns.

use std::{num::NonZeroU32, time::Instant};

use anyhow::{Context, ensure};
use serde_json::Value;
use toolwright_llm::{
    Message, Model, ModelError, OutputSchema, RetryPolicy, Strategy, Structured, StructuredError, Submitted,
    submit_structured,
};

use crate::upstream::{Upstream, patience};

const SCHEMAS: &str = include_str!("../schemas.json");

/// Of the loop. The model is too small to call tools, and more of them would only take longer.
const ATTEMPTS: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

/// The longest answers, in tokens. Prose says nothing to the loop, so it may be cut early.
const FIRST_STRATEGY_TOKENS: u32 = 120;
const LOOP_TOKENS: u32 = 16;

/// Model and server are pinned, but their arithmetic differs from processor to processor: a few may fall to either side.
const FEWEST_FITTING: usize = 44;

/// A question with its schema.
struct Case {
    name: String,
    prompt: String,
    schema: Value,
}

/// What one strategy came to.
#[derive(Default)]
struct Row {
    succeeded: usize,
    turns: u32,
    seconds: f64,
    missed: Vec<String>,
}

pub(crate) async fn measure(upstream: &Upstream) -> anyhow::Result<()> {
    // The server closes a connection after a hundred requests, sometimes just when the next one is on its way.
    let model = upstream.openai()?.with_retry(RetryPolicy::new(3, 0.1, 1.0)?);
    let cases = cases()?;
    ensure!(cases.len() == 50, "{} schemas were read", cases.len());
    let constrained = run(&model, &cases, Strategy::Constrained, FIRST_STRATEGY_TOKENS).await?;
    let by_tool = run(&model, &cases, Strategy::SubmitTool, LOOP_TOKENS).await?;
    println!("        structured output of {} over {} schemas", upstream.name(), cases.len());
    println!("        strategy              success  turns a schema  seconds a schema");
    constrained.print("constrained decoding", cases.len());
    by_tool.print("submit_result loop", cases.len());
    println!("        under a schema these did not fit it: {}", constrained.missed.join("; "));
    ensure!(constrained.succeeded >= FEWEST_FITTING, "only {} of 50 fit their schema", constrained.succeeded);
    Ok(())
}

fn cases() -> anyhow::Result<Vec<Case>> {
    let read: Vec<Value> = serde_json::from_str(SCHEMAS)?;
    read.into_iter()
        .map(|case| {
            let text = |name: &str| case.get(name).and_then(Value::as_str).map(str::to_owned);
            Some(Case { name: text("name")?, prompt: text("prompt")?, schema: case.get("schema")?.clone() })
        })
        .collect::<Option<_>>()
        .context("a case of schemas.json lacks a member")
}

async fn run(model: &Model, cases: &[Case], strategy: Strategy, tokens: u32) -> anyhow::Result<Row> {
    let mut row = Row::default();
    let started = Instant::now();
    for case in cases {
        let asked = Structured {
            strategy,
            max_attempts: ATTEMPTS,
            max_output_tokens: NonZeroU32::new(tokens),
            ..Structured::new(OutputSchema::new(case.schema.clone())?, "Be brief.", vec![Message::user(&*case.prompt)])
        };
        let outcome = submit_structured(model, &asked, &patience()).await;
        row.take(case, outcome).with_context(|| format!("the schema {:?}", case.name))?;
    }
    row.seconds = started.elapsed().as_secs_f64();
    Ok(row)
}

impl Row {
    /// Whatever comes must be a value of the right form, or one of the two ways to fail.
    fn take(&mut self, case: &Case, outcome: Result<Submitted, StructuredError>) -> anyhow::Result<()> {
        match outcome {
            Ok(submitted) => {
                has_required_members(&submitted.value, &case.schema)?;
                ensure!(submitted.usage.output_tokens.is_some_and(|count| count > 0), "no tokens were counted");
                self.succeeded += 1;
                self.turns += submitted.turns;
            }
            Err(StructuredError::Unfit(why)) => self.miss(case, &why),
            Err(StructuredError::Model(ModelError::Refused(refused))) if refused.status == 400 => {
                self.miss(case, &refused.message);
            }
            Err(StructuredError::NotSubmitted(failure)) => {
                ensure!(failure.attempts == ATTEMPTS.get(), "given up after {} attempts", failure.attempts);
                self.turns += failure.attempts;
                self.missed.push(case.name.clone());
            }
            Err(other) => return Err(other.into()),
        }
        Ok(())
    }

    fn miss(&mut self, case: &Case, why: &str) {
        self.turns += 1;
        self.missed.push(format!("{} ({})", case.name, why.lines().next().unwrap_or_default()));
    }

    fn print(&self, name: &str, cases: usize) {
        let each = |sum: f64| sum / cases as f64;
        let (turns, seconds) = (each(f64::from(self.turns)), each(self.seconds));
        println!("        {name:<20}  {:>4}/{cases}  {turns:>14.2}  {seconds:>16.2}", self.succeeded);
    }
}

/// A second look that shares nothing with the check of the library.
fn has_required_members(value: &Value, schema: &Value) -> anyhow::Result<()> {
    ensure!(value.is_object(), "not an object: {value}");
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        ensure!(name.as_str().is_some_and(|name| value.get(name).is_some()), "{name} is missing in {value}");
    }
    Ok(())
}
