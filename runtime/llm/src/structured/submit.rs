//! The loop around the tool by which a model submits.

use std::{future::Future, pin::Pin};

use serde_json::{Map, Value};
use toolwright_http::CallContext;

use super::{Cleaned, NotSubmitted, Strategy, Structured, StructuredError, Submitted};
use crate::{
    answer::{StopReason, Usage},
    model::Model,
    request::{Arguments, Message, Request, ToolCall, ToolDefinition},
};

/// Tools that a model may use on its way to a result.
pub trait Tools: Send + Sync {
    /// The tools.
    fn definitions(&self) -> Vec<ToolDefinition>;

    /// Runs a call: what the model is told, or what it is told went wrong.
    fn run<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Map<String, Value>,
        context: &'a CallContext,
    ) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;
}

pub(super) async fn ask(
    model: &Model,
    asked: &Structured,
    tools: Option<&dyn Tools>,
    context: &CallContext,
) -> Result<Submitted, StructuredError> {
    let mut run = Run::new(asked, tools, context);
    for turn in 1..=asked.max_turns.get() {
        let answer = model.complete(&run.request, context).await?;
        run.usage.add(answer.usage);
        if answer.stop == StopReason::Refusal && answer.calls.is_empty() {
            return Err(StructuredError::Refusal { model: model.id().to_owned() });
        }
        run.was_cut = answer.stop == StopReason::Length;
        let turn_of_model = answer.into_turn();
        let calls = turn_of_model.calls.clone();
        run.request.messages.push(Message::Assistant(turn_of_model));
        if let Some(value) = run.take(&calls).await? {
            let (by, cleaned, usage) = (Strategy::SubmitTool, Cleaned::default(), run.usage);
            let messages = run.request.messages;
            return Ok(Submitted { value, by, turns: turn, failed_attempts: run.attempts, cleaned, usage, messages });
        }
    }
    Err(StructuredError::TooManyTurns { tool_name: asked.tool_name.clone(), turns: asked.max_turns.get() })
}

/// What is wrong with a turn.
struct Fault {
    /// For the model, with what to do next.
    to_model: String,
    /// For people, should it be the last.
    to_people: String,
}

/// One run of the loop. Attempts are counted anew in every run, whatever the conversation already holds.
struct Run<'a> {
    asked: &'a Structured,
    tools: Option<&'a dyn Tools>,
    context: &'a CallContext,
    request: Request,
    attempts: u32,
    usage: Usage,
    /// Whether the last answer was cut at the limit of its length.
    was_cut: bool,
}

/// The calls of one turn. What is in none of these lists calls a tool that does not exist.
#[derive(Default)]
struct Sorted<'a> {
    submissions: Vec<(&'a ToolCall, &'a Map<String, Value>)>,
    others: Vec<(&'a ToolCall, &'a Map<String, Value>)>,
    unreadable: Vec<(&'a ToolCall, &'a str)>,
}

impl<'a> Run<'a> {
    fn new(asked: &'a Structured, tools: Option<&'a dyn Tools>, context: &'a CallContext) -> Self {
        let system = match asked.system.trim_end() {
            "" => instruction(&asked.tool_name),
            system => format!("{system}\n\n{}", instruction(&asked.tool_name)),
        };
        let mut request = asked.request(system, asked.messages.clone());
        request.tools = tools.map(Tools::definitions).unwrap_or_default();
        request.tools.push(ToolDefinition {
            name: asked.tool_name.clone(),
            description: asked.tool_description.clone(),
            parameters: asked.schema.value().clone(),
        });
        Run { asked, tools, context, request, attempts: 0, usage: Usage::default(), was_cut: false }
    }

    /// Takes the calls of a turn: the value, where one is submitted.
    async fn take(&mut self, calls: &[ToolCall]) -> Result<Option<Value>, StructuredError> {
        let sorted = self.sort(calls);
        let verdict = match sorted.submissions.as_slice() {
            [(call, value)] => Some(self.judge(call, value)),
            [] => None,
            several => Some(Err(too_many(&self.asked.tool_name, several.len()))),
        };
        if let Some(Ok(value)) = verdict {
            self.acknowledge(calls, &sorted);
            return Ok(Some(value));
        }
        let fault = verdict.and_then(Result::err);
        let last_fault = self.answer_calls(calls, &sorted, fault.as_ref()).await;
        let failed = fault.is_some() || sorted.unreadable.iter().any(|(call, _)| call.name == self.asked.tool_name);
        if !failed && !sorted.others.is_empty() {
            return Ok(None);
        }
        self.attempts += 1;
        match self.attempts < self.asked.max_attempts.get() {
            true => Ok(None),
            false => Err(StructuredError::NotSubmitted(Box::new(NotSubmitted {
                tool_name: self.asked.tool_name.clone(),
                attempts: self.attempts,
                was_held: false,
                last_fault,
            }))),
        }
    }

    fn sort<'b>(&self, calls: &'b [ToolCall]) -> Sorted<'b> {
        let mut sorted = Sorted::default();
        for call in calls {
            match &call.arguments {
                Arguments::Unreadable { reason } => sorted.unreadable.push((call, reason)),
                Arguments::Object(value) if call.name == self.asked.tool_name => sorted.submissions.push((call, value)),
                Arguments::Object(value) if self.knows(&call.name) => sorted.others.push((call, value)),
                Arguments::Object(_) => {}
            }
        }
        sorted
    }

    /// The value of the only submission, or what is wrong with it.
    fn judge(&self, call: &ToolCall, value: &Map<String, Value>) -> Result<Value, Fault> {
        let value = Value::Object(value.clone());
        match self.asked.schema.faults(&value) {
            None => Ok(value),
            Some(faults) => Err(Fault {
                to_model: format!(
                    "The arguments of {} do not fit its schema. Correct them and call it again:\n{faults}",
                    call.name
                ),
                to_people: format!("the arguments of {} do not fit its schema:\n{faults}", call.name),
            }),
        }
    }

    /// The result is in: it is acknowledged, and nothing else of the turn runs.
    fn acknowledge(&mut self, calls: &[ToolCall], sorted: &Sorted<'_>) {
        for call in calls {
            let is_submission = sorted.submissions.iter().any(|(submission, _)| submission.id == call.id);
            let content = match is_submission {
                true => "The result is submitted.",
                false => "This call was not run, because the result is submitted.",
            };
            self.reply(call, content.to_owned(), !is_submission);
        }
    }

    /// Answers every call of a turn without a result, in order. Returned is what was wrong with the turn, for people.
    async fn answer_calls(&mut self, calls: &[ToolCall], sorted: &Sorted<'_>, fault: Option<&Fault>) -> String {
        let mut wrong = fault.map(|fault| fault.to_people.clone());
        for call in calls {
            if let Some((_, reason)) = sorted.unreadable.iter().find(|(unread, _)| unread.id == call.id) {
                let what = format!("arguments of {} were not a JSON object: {reason}", call.name);
                wrong.get_or_insert_with(|| format!("the {what}"));
                self.reply(call, format!("The {what}. Call it again with a JSON object."), true);
            } else if let Some((_, arguments)) = sorted.others.iter().find(|(other, _)| other.id == call.id) {
                let outcome = self.run_other(&call.name, arguments).await;
                let (content, is_error) = match outcome {
                    Ok(content) => (content, false),
                    Err(content) => (content, true),
                };
                self.reply(call, content, is_error);
            } else if call.name == self.asked.tool_name {
                let content = fault.map(|fault| fault.to_model.clone()).unwrap_or_default();
                self.reply(call, content, true);
            } else {
                let message = self.no_such_tool(&call.name);
                wrong.get_or_insert_with(|| format!("it called {:?}, which is no tool", call.name));
                self.reply(call, message, true);
            }
        }
        if calls.is_empty() {
            let cut = |whose: &str| match self.was_cut {
                true => format!(": {whose} answer was cut at the limit of its length"),
                false => String::new(),
            };
            wrong = Some(format!("it answered without the tool{}", cut("the")));
            let message =
                format!("You have not submitted a result{}. {}", cut("your"), instruction(&self.asked.tool_name));
            self.request.messages.push(Message::user(message));
        }
        wrong.unwrap_or_default()
    }

    fn knows(&self, name: &str) -> bool {
        self.tools.is_some() && self.request.tools.iter().any(|tool| tool.name == name)
    }

    async fn run_other(&self, name: &str, arguments: &Map<String, Value>) -> Result<String, String> {
        match self.tools {
            Some(tools) => tools.run(name, arguments, self.context).await,
            None => Err(self.no_such_tool(name)),
        }
    }

    fn no_such_tool(&self, name: &str) -> String {
        let known: Vec<&str> = self.request.tools.iter().map(|tool| tool.name.as_str()).collect();
        format!("There is no tool {name:?}. There are: {}.", known.join(", "))
    }

    fn reply(&mut self, call: &ToolCall, content: String, is_error: bool) {
        let (call_id, tool_name) = (call.id.clone(), call.name.clone());
        self.request.messages.push(Message::ToolResult { call_id, tool_name, content, is_error });
    }
}

fn instruction(tool_name: &str) -> String {
    format!(
        "When you are done, call the tool {tool_name} exactly once with the complete result. A final answer that is \
         written as plain text is not seen by anyone."
    )
}

fn too_many(tool_name: &str, count: usize) -> Fault {
    let to_people = format!("{tool_name} was called {count} times in one turn");
    Fault { to_model: format!("{to_people}. Call it exactly once, with the complete result."), to_people }
}
