//! Surrogate escapes of JSON in YAML, which knows none.

/// A text whose surrogates YAML can read.
pub(super) struct Joined {
    pub(super) text: String,
    /// Offsets in the text before of halves without their other half.
    pub(super) lone: Vec<usize>,
}

/// Turns escaped surrogate pairs (JSON, RFC 8259 section 7) into the one escape that YAML has for them, and halves into
/// U+FFFD. Only tried on text that YAML refuses, because outside double quotes these are plain characters.
pub(super) fn join_surrogates(text: &str) -> Option<Joined> {
    let mut joined = Joined { text: String::with_capacity(text.len()), lone: Vec::new() };
    let mut rest = text;
    let mut changed = false;
    while let Some(at) = rest.find('\\') {
        let (before, tail) = rest.split_at(at);
        joined.text.push_str(before);
        let read = match (surrogate(tail, 0), surrogate(tail, 6)) {
            (Some(first @ 0xd800..0xdc00), Some(second @ 0xdc00..)) => {
                let c = char::decode_utf16([first, second]).next().and_then(Result::ok);
                joined.text.push_str(&format!("\\U{:08X}", u32::from(c.unwrap_or(char::REPLACEMENT_CHARACTER))));
                12
            }
            (Some(_), _) => {
                joined.lone.push(text.len() - tail.len());
                joined.text.push_str("\\uFFFD");
                6
            }
            _ => 0,
        };
        changed |= read > 0;
        if read > 0 {
            rest = tail.get(read..).unwrap_or_default();
        } else {
            // A backslash and what it escapes go together, so that `\\ud83d` stays as it is.
            let mut chars = tail.chars();
            joined.text.extend(chars.by_ref().take(2));
            rest = chars.as_str();
        }
    }
    joined.text.push_str(rest);
    changed.then_some(joined)
}

/// The half of a surrogate pair whose escape stands there.
fn surrogate(text: &str, from: usize) -> Option<u16> {
    let escape = text.get(from..from + 6)?;
    let unit = u16::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()?;
    (0xd800..0xe000).contains(&unit).then_some(unit)
}
