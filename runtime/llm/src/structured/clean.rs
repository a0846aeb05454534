//! The one JSON value in a text that was to be nothing else. Models put reasoning in front of it, and fences and
//! pleasantries around it; what is ambiguous is refused, never picked from.

use serde_json::{Value, de::StrRead};

/// What stood around a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cleaned {
    /// A block of reasoning in front.
    pub reasoning: bool,
    /// A Markdown fence.
    pub fence: bool,
    /// Other text before or behind.
    pub preamble: bool,
}

impl Cleaned {
    /// True where nothing had to be taken away.
    #[must_use]
    pub fn is_nothing(self) -> bool {
        self == Cleaned::default()
    }
}

/// Why a text has no value to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unclear {
    /// What stands within reasoning is a draft, not an answer.
    #[error("its reasoning does not end")]
    UnfinishedReasoning,
    /// There is none.
    #[error("it holds no JSON object")]
    Nothing,
    /// There are several, and they differ.
    #[error("it holds several JSON values, and does not say which is meant")]
    Several,
}

/// The tags that models reason between.
const TAGS: [(&str, &str); 3] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>")];

/// The value of a text. A text that is JSON is taken to the letter, whatever stands within its strings.
pub(crate) fn value_of(text: &str) -> Result<(Value, Cleaned), Unclear> {
    if let Ok(value) = serde_json::from_str::<Value>(text.trim()) {
        return Ok((value, Cleaned::default()));
    }
    let rest = without_reasoning(text)?;
    let mut cleaned = Cleaned { reasoning: rest.len() != text.trim().len(), ..Cleaned::default() };
    if let Ok(value) = serde_json::from_str::<Value>(rest) {
        return Ok((value, cleaned));
    }
    let fenced = fenced_values(rest);
    if !fenced.values.is_empty() {
        cleaned.fence = true;
        cleaned.preamble = fenced.has_text_around;
        return only(fenced.values).map(|value| (value, cleaned));
    }
    cleaned.preamble = true;
    only(bare_values(rest)).map(|value| (value, cleaned))
}

/// A text without the reasoning in front of it.
///
/// # Errors
/// [`Unclear::UnfinishedReasoning`] where it begins and does not end.
pub fn without_reasoning(text: &str) -> Result<&str, Unclear> {
    let mut rest = text.trim();
    while let Some((_, close)) = TAGS.iter().find(|(open, _)| starts_with(rest, open)) {
        let end = find(rest, close).ok_or(Unclear::UnfinishedReasoning)?;
        rest = rest.get(end + close.len()..).unwrap_or_default().trim_start();
    }
    // Some templates open the block themselves, so that only its end is in the text.
    for (open, close) in TAGS {
        if let Some(end) = find(rest, close)
            && find(rest, open).is_none_or(|at| at > end)
            && !rest.starts_with(['{', '['])
        {
            rest = rest.get(end + close.len()..).unwrap_or_default().trim_start();
        }
    }
    Ok(rest)
}

fn starts_with(text: &str, tag: &str) -> bool {
    text.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag))
}

/// The place of a tag, in any letter case.
fn find(text: &str, tag: &str) -> Option<usize> {
    text.as_bytes().windows(tag.len()).position(|window| window.eq_ignore_ascii_case(tag.as_bytes()))
}

struct Fenced {
    values: Vec<Value>,
    has_text_around: bool,
}

/// The values within Markdown fences. One that is not closed goes to the end: models stop when they are done.
fn fenced_values(text: &str) -> Fenced {
    let mut fenced = Fenced { values: Vec::new(), has_text_around: false };
    let mut inside: Option<String> = None;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        match (&mut inside, is_fence) {
            (None, true) => inside = Some(String::new()),
            (None, false) => fenced.has_text_around |= !line.trim().is_empty(),
            (Some(block), false) => {
                block.push_str(line);
                block.push('\n');
            }
            (Some(block), true) => {
                fenced.values.extend(serde_json::from_str::<Value>(block));
                inside = None;
            }
        }
    }
    fenced.values.extend(inside.and_then(|block| serde_json::from_str::<Value>(&block).ok()));
    fenced
}

/// The objects and arrays in a text, from left to right, none within another.
fn bare_values(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[']) {
        rest = rest.get(at..).unwrap_or_default();
        let mut stream = serde_json::Deserializer::new(StrRead::new(rest)).into_iter::<Value>();
        let after = match stream.next() {
            Some(Ok(value)) => {
                values.push(value);
                stream.byte_offset()
            }
            _ => 1,
        };
        rest = rest.get(after..).unwrap_or_default();
    }
    values
}

/// The one value that all agree on.
fn only(mut values: Vec<Value>) -> Result<Value, Unclear> {
    let last = values.pop().ok_or(Unclear::Nothing)?;
    match values.iter().all(|value| *value == last) {
        true => Ok(last),
        false => Err(Unclear::Several),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> (Value, Cleaned) {
        value_of(text).unwrap()
    }

    fn ok() -> Value {
        json!({"ok": true})
    }

    #[test]
    fn a_text_that_is_json_is_taken_to_the_letter() {
        let text = "{\"ok\":true,\"why\":\"use ```json``` and <think> tags\"}";
        let (value, cleaned) = read(text);
        assert_eq!(value["why"], "use ```json``` and <think> tags");
        assert!(cleaned.is_nothing());
    }

    #[test]
    fn a_fence_is_taken_away() {
        assert_eq!(read("```json\n{\"ok\":true}\n```"), (ok(), Cleaned { fence: true, ..Cleaned::default() }));
    }

    #[test]
    fn a_fence_that_is_not_closed_goes_to_the_end() {
        assert_eq!(read("```json\n{\"ok\":true}"), (ok(), Cleaned { fence: true, ..Cleaned::default() }));
    }

    #[test]
    fn text_around_is_taken_away() {
        let text = "Sure! Here {it} is:\n```\n{\"ok\":true}\n```\nAnything else?";
        assert_eq!(read(text), (ok(), Cleaned { fence: true, preamble: true, ..Cleaned::default() }));
        let text = "Sure! Here {it} is: {\"ok\":true} Anything else?";
        assert_eq!(read(text), (ok(), Cleaned { preamble: true, ..Cleaned::default() }));
    }

    #[test]
    fn a_draft_within_reasoning_is_no_answer() {
        let cleaned = Cleaned { reasoning: true, ..Cleaned::default() };
        assert_eq!(read("<think>maybe {\"ok\":false}?</think>\n{\"ok\":true}"), (ok(), cleaned));
        assert_eq!(read("maybe {\"ok\":false}?</think>\n{\"ok\":true}"), (ok(), cleaned));
        assert_eq!(read("<Thinking>{\"ok\":false}</THINKING>{\"ok\":true}"), (ok(), cleaned));
        assert_eq!(value_of("<think>no end tag {\"ok\":false}"), Err(Unclear::UnfinishedReasoning));
    }

    #[test]
    fn of_several_values_none_is_picked() {
        assert_eq!(value_of("{\"ok\":true} {\"ok\":false}"), Err(Unclear::Several));
        assert_eq!(value_of("```\n{\"ok\":true}\n```\nor\n```\n{\"ok\":false}\n```"), Err(Unclear::Several));
        assert_eq!(read("{\"ok\":true}\n{\"ok\":true}").0, ok());
    }

    #[test]
    fn a_text_without_a_value_has_none() {
        for text in ["", "I am sorry.", "{\"ok\":", "{it}", "<think></think>"] {
            assert_eq!(value_of(text), Err(Unclear::Nothing), "{text}");
        }
    }

    #[test]
    fn every_digit_is_kept() {
        assert_eq!(read("So: {\"n\": 9007199254740993}").0["n"].to_string(), "9007199254740993");
    }

    #[test]
    fn many_brackets_cost_no_more_than_their_number() {
        assert_eq!(value_of(&"[{".repeat(100_000)), Err(Unclear::Nothing));
    }
}
