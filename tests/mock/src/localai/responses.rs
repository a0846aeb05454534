//! The Responses dialect.

use super::chat::{CREATED, function_call, last_text, model, reply, wants_stream};
use super::sse;
use crate::answer::Answer;
use crate::check::Call;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn answer(key: &str, call: &Call, pause: Duration) -> Option<Answer> {
    match key {
        "POST /v1/responses" => Some(create(&call.json()?, pause)),
        "GET /v1/responses/{id}" => Some(resume(call, pause)),
        "POST /v1/responses/{id}/cancel" => Some(cancelled(call)),
        _ => None,
    }
}

/// A response under way or done.
struct Made {
    id: String,
    request: Value,
    text: String,
    call: Option<(String, String)>,
}

impl Made {
    fn new(id: &str, request: Value) -> Self {
        let question = match request.get("input") {
            Some(Value::String(text)) => text.clone(),
            list => last_text(list),
        };
        Self { id: id.to_owned(), text: reply(&question), call: function_call(&request), request }
    }

    fn item(&self, status: &str) -> Value {
        match &self.call {
            Some((name, arguments)) => {
                json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": arguments, "status": status})
            }
            None => {
                json!({"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": [self.part()]})
            }
        }
    }

    fn part(&self) -> Value {
        json!({"type": "output_text", "text": self.text, "annotations": [], "logprobs": []})
    }

    fn resource(&self, status: &str) -> Value {
        let done = status == "completed";
        let output = if done { json!([self.item("completed")]) } else { json!([]) };
        let usage = done.then(|| {
            json!({"input_tokens": 7, "output_tokens": 12, "total_tokens": 19,
                "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}})
        });
        json!({
            "id": self.id, "object": "response", "created_at": CREATED, "completed_at": done.then_some(CREATED),
            "status": status, "model": model(&self.request), "output": output, "error": null, "incomplete_details": null,
            "instructions": null, "metadata": {}, "parallel_tool_calls": true, "temperature": 1.0, "top_p": 1.0,
            "tool_choice": "auto", "tools": [], "text": {"format": {"type": "text"}}, "truncation": "disabled",
            "store": true, "background": false, "usage": usage,
        })
    }

    /// All events with their sequence numbers.
    fn events(&self) -> Vec<String> {
        let mut bodies = vec![
            ("response.created", json!({"response": self.resource("in_progress")})),
            ("response.in_progress", json!({"response": self.resource("in_progress")})),
        ];
        let mut opened = self.item("in_progress");
        if let Some(fields) = opened.as_object_mut() {
            let (key, empty) = if self.call.is_some() { ("arguments", json!("")) } else { ("content", json!([])) };
            fields.insert(key.to_owned(), empty);
        }
        bodies.push(("response.output_item.added", json!({"output_index": 0, "item": opened})));
        match &self.call {
            Some((_, arguments)) => call_events(arguments, &mut bodies),
            None => self.text_events(&mut bodies),
        }
        bodies.push(("response.output_item.done", json!({"output_index": 0, "item": self.item("completed")})));
        bodies.push(("response.completed", json!({"response": self.resource("completed")})));
        bodies.into_iter().enumerate().map(|(number, (name, body))| numbered(number, name, body)).collect()
    }

    fn text_events(&self, bodies: &mut Vec<(&'static str, Value)>) {
        let at = |more: Value| merged(json!({"item_id": "msg_1", "output_index": 0, "content_index": 0}), more);
        let empty = json!({"type": "output_text", "text": "", "annotations": [], "logprobs": []});
        bodies.push(("response.content_part.added", at(json!({"part": empty}))));
        for token in sse::tokens(&self.text) {
            bodies.push(("response.output_text.delta", at(json!({"delta": token, "logprobs": []}))));
        }
        bodies.push(("response.output_text.done", at(json!({"text": self.text, "logprobs": []}))));
        bodies.push(("response.content_part.done", at(json!({"part": self.part()}))));
    }
}

fn call_events(arguments: &str, bodies: &mut Vec<(&'static str, Value)>) {
    for token in sse::tokens(arguments) {
        bodies.push((
            "response.function_call_arguments.delta",
            json!({"item_id": "fc_1", "output_index": 0, "delta": token}),
        ));
    }
    bodies.push((
        "response.function_call_arguments.done",
        json!({"item_id": "fc_1", "output_index": 0, "arguments": arguments}),
    ));
}

fn numbered(number: usize, name: &str, body: Value) -> String {
    sse::named(name, &merged(json!({"type": name, "sequence_number": number}), body))
}

fn merged(mut first: Value, second: Value) -> Value {
    if let (Some(fields), Value::Object(more)) = (first.as_object_mut(), second) {
        fields.extend(more);
    }
    first
}

fn create(request: &Value, pause: Duration) -> Answer {
    let made = Made::new("resp_1", request.clone());
    if wants_stream(request) {
        return sse::stream(made.events().into_iter().chain([sse::DONE.to_owned()]).collect::<Vec<_>>(), pause);
    }
    Answer::json(200, &made.resource("completed"))
}

/// `?stream=true&starting_after=N` sends the events after number N again.
fn resume(call: &Call, pause: Duration) -> Answer {
    let made = Made::new(&call.path_value("id"), json!({"input": "again"}));
    if call.query_value("stream").as_deref() != Some("true") {
        return Answer::json(200, &made.resource("completed"));
    }
    let after = call.query_value("starting_after").and_then(|n| n.parse::<usize>().ok());
    let events = made.events().into_iter().skip(after.map_or(0, |n| n + 1));
    sse::stream(events.chain([sse::DONE.to_owned()]).collect::<Vec<_>>(), pause)
}

fn cancelled(call: &Call) -> Answer {
    let made = Made::new(&call.path_value("id"), json!({"input": "again"}));
    Answer::json(200, &made.resource("cancelled"))
}
