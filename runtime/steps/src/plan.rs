//! The plan of a tool that makes several calls: written by the generator as JSON, read once by a server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Calls that one run makes at most, repetitions included: `goto` can make a circle.
pub const MAX_CALLS: usize = 100;

/// Repetitions of a step that one action may ask for.
pub const MAX_RETRIES: u64 = 10;

/// Several calls as one. Values hold runtime expressions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Inputs whose argument has another name: input, argument.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
    /// The steps, in the order in which they follow each other.
    pub steps: Vec<Step>,
    /// What the tool answers: name, value. Without any, the outputs of all steps by their names.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub outputs: Map<String, Value>,
    /// jq filter over those, which makes `data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// One call, and what follows from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its name.
    pub id: String,
    /// What is called.
    pub call: Call,
    /// What must hold for a success; without any, that the call succeeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub success: Vec<Criterion>,
    /// What later steps can use: name, value.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub outputs: Map<String, Value>,
    /// The first whose criteria hold is done after a success; without one, the next step follows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_success: Vec<Action>,
    /// The first whose criteria hold is done after a failure; without one, the tool fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_failure: Vec<Action>,
}

/// What a step calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// A tool of the same server.
    Tool {
        /// Its name.
        name: String,
        /// Its arguments.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        arguments: Map<String, Value>,
        /// A value whose members are further arguments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spread: Option<Spread>,
    },
    /// A request of the API that no tool describes.
    Request {
        /// HTTP method.
        method: String,
        /// Path below the base URL; what expressions in it say is percent-encoded.
        path: String,
        /// Query parameters.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        query: Map<String, Value>,
        /// Headers.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        headers: Map<String, Value>,
        /// The JSON body.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<Value>,
        /// Whether it leaves the API's state as it is.
        reads: bool,
    },
}

/// A value whose members are arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The value: an object.
    pub value: Value,
    /// Its members by the names of their arguments: member, argument.
    pub members: BTreeMap<String, String>,
}

/// What must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// A simple condition, a regular expression or a jq filter.
    pub condition: String,
    /// Which of them.
    #[serde(default)]
    pub kind: CriterionKind,
    /// The expression whose value the regular expression or filter is applied to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

/// How a criterion is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionKind {
    /// [`crate::Condition`].
    #[default]
    Simple,
    /// A jq filter; null and false do not hold. Regular expressions are filters as well.
    Jq,
}

/// What follows a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// What it is.
    pub next: Next,
    /// What must hold for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Criterion>,
}

/// Where a run goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Nowhere: the tool answers, or fails.
    End,
    /// At that step.
    Goto(String),
    /// At the same step, after a while.
    Retry {
        /// Seconds to wait, where the answer has no `Retry-After`.
        after: f64,
        /// How often.
        limit: u64,
    },
}

impl Plan {
    /// Headers of answers that it speaks of, in lower case.
    #[must_use]
    pub fn headers(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut add = |expression: &crate::Expression| {
            if let crate::Expression::Header(name) = expression
                && !found.contains(name)
            {
                found.push(name.clone());
            }
        };
        for step in &self.steps {
            crate::expressions(&Value::Object(step.outputs.clone()), "", &mut |_, expression| {
                expression.iter().for_each(&mut add);
            });
            let actions = step.on_success.iter().chain(&step.on_failure).flat_map(|action| &action.criteria);
            for criterion in step.success.iter().chain(actions) {
                if let Ok(condition) = crate::Condition::parse(&criterion.condition)
                    && criterion.kind == CriterionKind::Simple
                {
                    condition.expressions(&mut add);
                }
                let context = criterion.context.as_deref().map(crate::Expression::parse);
                context.iter().flatten().for_each(&mut add);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_is_read_back_as_it_was_written() {
        let written = json!({
            "steps": [{
                "id": "find",
                "call": {"tool": {"name": "find_user", "arguments": {"q": "$inputs.name"}}},
                "success": [{"condition": "$response.header.ETag != null", "kind": "simple"}],
                "outputs": {"id": "$response.body#/id"},
                "on_failure": [{"next": {"retry": {"after": 1.0, "limit": 2}}}, {"next": {"goto": "find"}}, {"next": "end"}],
            }],
            "outputs": {"id": "$steps.find.outputs.id"},
        });
        let plan: Plan = serde_json::from_str(&written.to_string()).unwrap();
        assert_eq!(plan.headers(), ["etag"]);
        assert_eq!(plan.steps[0].on_failure[0].next, Next::Retry { after: 1.0, limit: 2 });
        let again: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
        assert_eq!(plan, again);
    }
}
