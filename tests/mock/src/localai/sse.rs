//! Event streams.

use crate::answer::Answer;
use bytes::Bytes;
use serde_json::Value;
use std::time::Duration;

/// An unnamed event with JSON data.
pub(super) fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// An event with its name, as Anthropic's and the Responses dialect have them.
pub(super) fn named(name: &str, value: &Value) -> String {
    format!("event: {name}\ndata: {value}\n\n")
}

/// The end mark of OpenAI's dialects.
pub(super) const DONE: &str = "data: [DONE]\n\n";

/// Every event goes out in two pieces, cut in the middle of its bytes: a reader must join lines and characters again.
pub(super) fn stream(events: impl IntoIterator<Item = String>, pause: Duration) -> Answer {
    let pieces = events.into_iter().flat_map(|event| {
        let mut first = Bytes::from(event);
        let second = first.split_off(first.len() / 2);
        [first, second]
    });
    Answer::pieces("text/event-stream", pieces.collect(), pause).with("cache-control", "no-cache")
}

/// A text in pieces of a few characters, as tokens come.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(5).map(|chunk| chunk.iter().collect()).collect()
}
