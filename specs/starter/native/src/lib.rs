//! Handlers of the starter server's tools that are Rust.

use starter_tools::native::Handlers;
use starter_tools::text::{MeasureText, MeasureTextResult};
use toolwright_core::{Context, ToolError};

/// The handlers, as the server's binary takes them.
#[must_use]
pub fn handlers() -> impl Handlers {
    Desk
}

/// What the handlers share. A pool of connections or a cache would be a field.
struct Desk;

impl Handlers for Desk {
    async fn measure_text(&self, input: MeasureText, context: &Context) -> Result<MeasureTextResult, ToolError> {
        let pace = words_per_minute(context)?;
        let words: Vec<&str> = input.text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
        let count = words.len() as u64;
        Ok(MeasureTextResult {
            words: count,
            sentences: sentences(&input.text),
            reading_seconds: (count * 60).div_ceil(pace),
            longest_word: longest(&words),
        })
    }
}

/// The operator's reading pace. A value that is no number is the operator's mistake, so that the failure names it.
fn words_per_minute(context: &Context) -> Result<u64, ToolError> {
    let text = context.required_setting("words_per_minute")?;
    let wrong =
        || ToolError::failed(format!("the setting `words_per_minute` must be a whole number above 0, not `{text}`"));
    text.parse().ok().filter(|pace| *pace > 0).ok_or_else(wrong)
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Stretches of text that end in a full stop, a question or an exclamation mark, in any script.
fn sentences(text: &str) -> u64 {
    text.split(['.', '!', '?', '。', '！', '？']).filter(|part| part.chars().any(char::is_alphanumeric)).count() as u64
}

/// The longest word by characters; of equals the first.
fn longest(words: &[&str]) -> Option<String> {
    let longest = words.iter().rev().max_by_key(|word| word.chars().count());
    longest.map(|word| (*word).to_owned())
}
