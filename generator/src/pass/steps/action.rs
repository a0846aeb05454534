//! `onSuccess` and `onFailure`: where a run goes on.

use serde_json::Value;
use toolwright_steps::{Action, MAX_RETRIES, Next};

use super::values::suggestion;
use super::{Reader, Stage};
use crate::load::language::{ACTION, names};
use crate::load::strict::{Fields, wrong_kind};

/// A wait of a day is no wait for an answer.
const MOST_SECONDS: f64 = 60.0;

impl Reader<'_, '_> {
    pub(super) fn actions(&mut self, fields: &Fields<'_>, key: &str, stage: Stage) -> Vec<Action> {
        let found = fields.elements(key, "a list", self.sink);
        found.into_iter().filter_map(|(at, item)| self.action(item, &at, key, stage)).collect()
    }

    fn action(&mut self, value: &Value, at: &str, key: &str, stage: Stage) -> Option<Action> {
        let fields = Fields::open(value, at, &names(ACTION), self.places, self.sink)?;
        fields.require("type", "end", self.sink);
        let criteria = self.criteria(&fields, "criteria", stage);
        if fields.get("workflowId").is_some() {
            let help = "go to a step of this tool with `stepId`";
            let at = fields.pointer_of("workflowId");
            self.report("other-workflow", "an action cannot go to another workflow".to_owned(), &at, help);
        }
        // Arazzo 1.0 section "Success Action Object": after a success nothing is repeated.
        let words: &[(&str, &str)] = match key {
            "onSuccess" => &[("end", "end"), ("goto", "goto")],
            _ => &[("end", "end"), ("goto", "goto"), ("retry", "retry")],
        };
        let next = match fields.choice("type", words, self.sink)? {
            "end" => Next::End,
            "goto" => Next::Goto(self.target(&fields)?),
            _ => Next::Retry { after: self.after(&fields), limit: self.limit(&fields) },
        };
        Some(Action { next, criteria })
    }

    fn target(&mut self, fields: &Fields<'_>) -> Option<String> {
        fields.require("stepId", "<the step to go to>", self.sink);
        let id = fields.string("stepId", self.sink)?;
        let known: Vec<&str> = self.known.iter().map(|known| known.id.as_str()).collect();
        if !known.contains(&id.as_str()) {
            let help = suggestion(&id, &known, "the steps are", "there are none");
            self.report("unknown-step", format!("there is no step `{id}`"), &fields.pointer_of("stepId"), help);
        }
        Some(id)
    }

    fn after(&mut self, fields: &Fields<'_>) -> f64 {
        let Some(value) = fields.get("retryAfter") else { return 1.0 };
        let seconds = value.as_f64().filter(|seconds| (0.0..=MOST_SECONDS).contains(seconds));
        seconds.unwrap_or_else(|| {
            let wanted = format!("seconds, from 0 to {MOST_SECONDS}");
            self.sink.push(wrong_kind(&fields.pointer_of("retryAfter"), &wanted, value, self.places));
            1.0
        })
    }

    fn limit(&mut self, fields: &Fields<'_>) -> u64 {
        fields.positive("retryLimit", MAX_RETRIES, self.sink).unwrap_or(1)
    }
}
