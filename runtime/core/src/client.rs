//! Whoever called, asked back: questions to a person or a client while a call runs, and messages to its log.
//!
//! How a question travels depends on the protocol's era. In the one a request goes to the client and its answer comes while
//! the call waits; in the other the call ends with the question, and the client makes it again with the answer. A handler
//! sees no difference but one: in the second case it runs from its beginning again, so that whatever it changes must come
//! after its questions.

use std::fmt::Debug;
use std::pin::Pin;

use serde_json::{Map, Value};

use crate::{Code, OutputSchema, ToolError};

/// What can be asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// A form for the person in front of the client.
    Form {
        /// What is asked, for people.
        message: String,
        /// JSON Schema of the answer: an object whose properties are texts, numbers, booleans and choices (MCP 2025-11-25,
        /// Elicitation: Requested Schema).
        schema: Value,
    },
    /// A message that the client's model is to write, as the parameters of `sampling/createMessage`. Deprecated by MCP
    /// 2026-07-28; servers with a model of their own need none of the client's.
    Sample(Value),
    /// The folders that the client works in. Deprecated by MCP 2026-07-28.
    Roots,
}

/// What a client must be able to do to answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// Show a form.
    Form,
    /// Let its model write.
    Sample,
    /// Tell its folders.
    Roots,
}

impl Ability {
    /// The name of the capability in MCP.
    #[must_use]
    pub const fn capability(self) -> &'static str {
        match self {
            Ability::Form => "elicitation",
            Ability::Sample => "sampling",
            Ability::Roots => "roots",
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The form was filled in; what it holds fits the schema.
    Filled(Map<String, Value>),
    /// The person said no.
    Declined,
    /// The person gave no answer.
    Dismissed,
    /// What the client's model wrote, as the result of `sampling/createMessage`.
    Sampled(Map<String, Value>),
    /// The client's folders, as `roots/list` gives them.
    Roots(Vec<Value>),
}

impl Question {
    /// What a client must be able to do to answer.
    #[must_use]
    pub const fn needs(&self) -> Ability {
        match self {
            Question::Form { .. } => Ability::Form,
            Question::Sample(_) => Ability::Sample,
            Question::Roots => Ability::Roots,
        }
    }

    /// Reads the client's result, which is as untrusted as arguments are; `None` where it is no answer to this question.
    #[must_use]
    pub fn read(&self, result: &Value) -> Option<Reply> {
        let members = result.as_object()?;
        match self {
            Question::Form { schema, .. } => match members.get("action")?.as_str()? {
                "accept" => {
                    let content = members.get("content").cloned().unwrap_or_else(|| Map::new().into());
                    let fits = OutputSchema::new(&schema.to_string())?.check(&content).is_ok();
                    let Value::Object(content) = content else { return None };
                    fits.then_some(Reply::Filled(content))
                }
                "decline" => Some(Reply::Declined),
                "cancel" => Some(Reply::Dismissed),
                _ => None,
            },
            Question::Sample(_) => members.contains_key("content").then(|| Reply::Sampled(members.clone())),
            Question::Roots => Some(Reply::Roots(members.get("roots")?.as_array()?.clone())),
        }
    }
}

/// How serious a message is (RFC 5424 section 6.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Of use to whoever looks for a fault.
    Debug,
    /// What goes on.
    Info,
    /// Out of the ordinary.
    Notice,
    /// It may become a fault.
    Warning,
    /// A fault.
    Error,
}

/// Answers on their way.
pub type Asked<'a, T> = Pin<Box<dyn Future<Output = Result<T, ToolError>> + Send + 'a>>;

/// Whoever made a call. The server implements it over the protocol.
pub trait Client: Debug + Send + Sync {
    /// Whether it can answer such questions.
    fn can(&self, ability: Ability) -> bool;

    /// Asks all of these at once, each under its key; the answers come in their order.
    ///
    /// # Errors
    /// `missing_capability` where the client cannot answer; `input_required` where it is told the questions and makes the
    /// call again, which a handler passes on.
    fn ask(&self, questions: Vec<(String, Question)>) -> Asked<'_, Vec<Reply>>;

    /// Asks a person whether to go on. Unlike the answer to [`Client::ask`], a yes counts once, and only where this server put
    /// the question for this very call.
    ///
    /// # Errors
    /// As [`Client::ask`].
    fn confirm(&self, message: String) -> Asked<'_, Reply>;

    /// Sends a message to the client's log, where it wants such messages; never waits.
    fn log(&self, severity: Severity, message: Value);
}

/// A caller that cannot be asked: a program, a test, a step of a tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoClient;

impl Client for NoClient {
    fn can(&self, _ability: Ability) -> bool {
        false
    }

    fn ask(&self, questions: Vec<(String, Question)>) -> Asked<'_, Vec<Reply>> {
        let needed = questions.first().map_or(Ability::Form, |(_, question)| question.needs());
        Box::pin(std::future::ready(Err(cannot_answer(needed, "nobody is there to answer"))))
    }

    fn confirm(&self, _message: String) -> Asked<'_, Reply> {
        Box::pin(std::future::ready(Err(cannot_answer(Ability::Form, "nobody is there to answer"))))
    }

    fn log(&self, _severity: Severity, _message: Value) {}
}

/// The failure of a question that a client cannot answer.
#[must_use]
pub fn cannot_answer(needed: Ability, reason: &str) -> ToolError {
    let capability = needed.capability();
    let message = format!("the call needs an answer of its client ({capability}), and {reason}");
    ToolError::new(Code::MissingCapability, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form() -> Question {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
        Question::Form { message: "Who?".into(), schema }
    }

    #[test]
    fn a_form_is_filled_in_declined_or_dismissed() {
        let filled = form().read(&json!({"action": "accept", "content": {"name": "Ada"}}));
        assert_eq!(filled, Some(Reply::Filled(Map::from_iter([("name".to_owned(), "Ada".into())]))));
        assert_eq!(form().read(&json!({"action": "decline"})), Some(Reply::Declined));
        assert_eq!(form().read(&json!({"action": "cancel"})), Some(Reply::Dismissed));
    }

    #[test]
    fn what_does_not_fit_the_form_is_no_answer() {
        for result in [
            json!(12345),
            json!(null),
            json!({}),
            json!({"action": "accept"}),
            json!({"action": "accept", "content": {"name": 1}}),
            json!({"action": "agree", "content": {"name": "Ada"}}),
        ] {
            assert_eq!(form().read(&result), None, "{result}");
        }
    }

    #[test]
    fn a_model_writes_content_and_folders_are_a_list() {
        assert_eq!(Question::Sample(json!({})).read(&json!({"role": "assistant"})), None);
        assert_eq!(Question::Roots.read(&json!({"roots": {}})), None);
        assert_eq!(Question::Roots.read(&json!({"roots": []})), Some(Reply::Roots(Vec::new())));
    }
}
