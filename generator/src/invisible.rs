//! Characters that nobody sees: controls, marks that turn the direction of text, and others of no width. In a document
//! they can only hide something from its readers, so texts lose them, and names show them as escapes.

use std::borrow::Cow;

use serde_json::Value;

/// Whether a character is not seen. Line breaks and tabs are white space, and joiners (U+200C, U+200D) are parts of words
/// and emoji.
pub(crate) fn is_invisible(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        // Soft hyphen, Arabic letter mark, Hangul and Mongolian fillers, and what Unicode calls format characters.
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        // Tags: a whole alphabet that no font shows.
        '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}

/// The text without what nobody sees.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    match text.contains(is_invisible) {
        true => Cow::Owned(text.chars().filter(|c| !is_invisible(*c)).collect()),
        false => Cow::Borrowed(text),
    }
}

/// The text with escapes for what nobody sees.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, |c, out| out.extend(c.escape_unicode()))
}

/// The content of a generated file with escapes in the language of the file: such characters stand in its strings alone.
pub(crate) fn in_file(path: &str, text: &str) -> Option<String> {
    let escape: fn(char, &mut String) = match path.rsplit('.').next() {
        Some("json") => {
            |c, out| c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")))
        }
        Some("rs") => |c, out| out.extend(c.escape_unicode()),
        Some("toml" | "yaml") => |c, out| out.push_str(&format!("\\U{:08X}", u32::from(c))),
        _ => |_, _| {},
    };
    match escaped(text, escape) {
        Cow::Owned(text) => Some(text),
        Cow::Borrowed(_) => None,
    }
}

fn escaped(text: &str, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| if is_invisible(c) { escape(c, &mut out) } else { out.push(c) });
    Cow::Owned(out)
}

/// Takes what nobody sees out of a text of a document.
pub(crate) fn clear(text: &mut Value) {
    if let Value::String(text) = text
        && let Cow::Owned(clean) = visible(text)
    {
        *text = clean;
    }
}

#[cfg(test)]
mod tests {
    use super::{in_file, shown, visible};

    #[test]
    fn texts_lose_what_nobody_sees_and_keep_what_is_writing() {
        assert_eq!(visible("a\u{202e}b\u{200b}\u{1b}[1m\u{e0041}\nc\td"), "ab[1m\nc\td");
        for text in ["می\u{200c}خواهم", "👩\u{200d}💻", "한글 é"] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn names_show_it_in_the_escapes_of_their_file() {
        let escaped = |path: &str| in_file(path, "\"a\u{202e}\u{e0041}\"");
        assert_eq!(escaped("a.json").unwrap(), "\"a\\u202e\\udb40\\udc41\"");
        assert_eq!(escaped("a.rs").unwrap(), "\"a\\u{202e}\\u{e0041}\"");
        assert_eq!(escaped("a.toml").unwrap(), "\"a\\U0000202E\\U000E0041\"");
        assert_eq!(escaped("a.md").unwrap(), "\"a\"");
        assert_eq!(in_file("a.rs", "plain"), None);
        assert_eq!(shown("a\u{1b}"), "a\\u{1b}");
    }
}
