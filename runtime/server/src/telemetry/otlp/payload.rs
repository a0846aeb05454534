//! Arguments and results in spans, where the operator has asked for them.

use serde_json::Value;
use toolwright_http::{KnownSecrets, mask_members};

/// Attributes that hold what was said, in the words of Langfuse and of OpenTelemetry's conventions for generative AI.
const PAYLOADS: [&str; 8] = [
    "langfuse.trace.input",
    "langfuse.trace.output",
    "langfuse.observation.input",
    "langfuse.observation.output",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.input",
    "gen_ai.output",
];

/// The longest text of one payload in bytes: what waits for a receiver stays bounded.
const LONGEST: usize = 16 * 1024;

/// True for attributes that leave this process only where payloads were asked for.
pub(super) fn is_payload(key: &str) -> bool {
    PAYLOADS.iter().any(|name| key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// A value as an attribute: without known secrets and what has the name of one, and cut where it is long.
pub(super) fn text(mut value: Value, known: &KnownSecrets) -> String {
    mask_members(&mut value);
    known.scrub_value(&mut value);
    let mut text = value.to_string();
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_said_is_known_by_its_name() {
        for key in ["langfuse.observation.input", "gen_ai.input.messages", "gen_ai.prompt.0.content"] {
            assert!(is_payload(key), "{key}");
        }
        for key in ["langfuse.observation.type", "gen_ai.tool.name", "gen_ai.inputs", "gen_ai.usage.input_tokens"] {
            assert!(!is_payload(key), "{key}");
        }
    }

    #[test]
    fn secrets_are_not_in_a_payload_by_name_or_by_what_is_known() {
        let known = KnownSecrets::default();
        known.keep(["s3cr3t".to_owned()]);
        let text = text(json!({"password": "hunter", "note": "it is s3cr3t", "n": 1}), &known);
        assert_eq!(text, r#"{"password":"[masked]","note":"it is [masked]","n":1}"#);
    }

    #[test]
    fn a_long_payload_is_cut_between_characters() {
        let text = text("안".repeat(LONGEST).into(), &KnownSecrets::default());
        assert!(text.len() <= LONGEST + 3 && text.ends_with("안…"), "{}", text.len());
    }
}
