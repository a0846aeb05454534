//! Texts and URIs with places for values.

use std::collections::BTreeMap;

/// The values of places, by name.
pub type Values = BTreeMap<String, String>;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// As it is.
    Text(&'static str),
    /// Where the value of that name goes.
    Place(&'static str),
}

/// The text with values in their places. A line with a place that has no value is left out.
#[must_use]
pub fn fill(pieces: &[Piece], values: &Values) -> String {
    let (mut out, mut line, mut is_whole) = (String::new(), String::new(), true);
    for piece in pieces {
        match piece {
            Piece::Place(name) => match values.get(*name) {
                Some(value) => line.push_str(value),
                None => is_whole = false,
            },
            Piece::Text(text) => {
                for part in text.split_inclusive('\n') {
                    line.push_str(part);
                    if part.ends_with('\n') {
                        keep(&mut out, &mut line, &mut is_whole);
                    }
                }
            }
        }
    }
    keep(&mut out, &mut line, &mut is_whole);
    out
}

/// Ends a line.
fn keep(out: &mut String, line: &mut String, is_whole: &mut bool) {
    if *is_whole {
        out.push_str(line);
    }
    line.clear();
    *is_whole = true;
}

/// The URI with values in their places, percent-encoded (RFC 6570, section 3.2.2). A place that stands alone takes a
/// whole URI, as it is.
#[must_use]
pub fn expand(uri: &[Piece], values: &Values) -> String {
    if let [Piece::Place(name)] = uri {
        return values.get(*name).cloned().unwrap_or_default();
    }
    let part = |piece: &Piece| match piece {
        Piece::Text(text) => (*text).to_owned(),
        Piece::Place(name) => values.get(*name).map(|value| encoded(value)).unwrap_or_default(),
    };
    uri.iter().map(part).collect()
}

/// The template as clients see it, such as `things://{id}`.
#[must_use]
pub fn template(uri: &[Piece]) -> String {
    let part = |piece: &Piece| match piece {
        Piece::Text(text) => (*text).to_owned(),
        Piece::Place(name) => format!("{{{name}}}"),
    };
    uri.iter().map(part).collect()
}

/// Names of the places.
pub fn places(pieces: &[Piece]) -> impl Iterator<Item = &'static str> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Place(name) => Some(*name),
        Piece::Text(_) => None,
    })
}

/// The values by which a template makes a URI; `None` where it makes none such.
///
/// A value ends where the text behind its place first occurs, and holds no `/`, `?` or `#`, which an expansion encodes.
/// Other characters are taken as they are, since people write URIs by hand.
#[must_use]
pub fn matches(template: &[Piece], uri: &str) -> Option<Values> {
    let mut values = Values::new();
    let mut rest = uri;
    let mut pieces = template.iter().peekable();
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Text(text) => rest = rest.strip_prefix(text)?,
            Piece::Place(name) => {
                let end = match pieces.peek() {
                    Some(Piece::Text(text)) => rest.find(text)?,
                    _ => rest.len(),
                };
                let (value, after) = rest.split_at(end);
                if value.is_empty() || value.contains(['/', '?', '#']) {
                    return None;
                }
                values.insert((*name).to_owned(), decoded(value)?);
                rest = after;
            }
        }
    }
    rest.is_empty().then_some(values)
}

/// Everything but unreserved characters as its bytes in hexadecimal (RFC 3986, section 2).
fn encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// `None` where the escapes are broken, or hide what is no UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::Piece::{Place, Text};
    use super::*;

    fn values(pairs: &[(&str, &str)]) -> Values {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    const MODEL: &[Piece] = &[Text("things://models/"), Place("model"), Text("/files/"), Place("file")];

    #[test]
    fn values_stand_in_their_places() {
        assert_eq!(fill(&[Text("Hello "), Place("name"), Text("!")], &values(&[("name", "{Kim}")])), "Hello {Kim}!");
    }

    #[test]
    fn a_line_with_a_place_that_has_no_value_is_left_out() {
        let text = [Text("First.\nIn the style of "), Place("style"), Text(".\nLast "), Place("word")];
        assert_eq!(fill(&text, &values(&[("word", "word")])), "First.\nLast word");
        assert_eq!(fill(&text, &values(&[("style", "Kim")])), "First.\nIn the style of Kim.\n");
    }

    #[test]
    fn an_expansion_encodes_what_would_be_read_as_something_else() {
        let uri = expand(MODEL, &values(&[("model", "a/b c"), ("file", "é?#")]));
        assert_eq!(uri, "things://models/a%2Fb%20c/files/%C3%A9%3F%23");
    }

    #[test]
    fn what_is_expanded_matches_with_the_same_values() {
        let values = values(&[("model", "hf://a/b@c%20"), ("file", "한글/../x")]);
        assert_eq!(matches(MODEL, &expand(MODEL, &values)), Some(values));
    }

    #[test]
    fn a_place_that_stands_alone_takes_a_whole_uri() {
        assert_eq!(expand(&[Place("uri")], &values(&[("uri", "things://a/b")])), "things://a/b");
    }

    #[test]
    fn uris_written_by_hand_may_leave_harmless_characters_as_they_are() {
        let found = matches(MODEL, "things://models/llama:8b/files/a b").unwrap();
        assert_eq!((found["model"].as_str(), found["file"].as_str()), ("llama:8b", "a b"));
    }

    #[test]
    fn other_uris_do_not_match() {
        for uri in [
            "things://models/a/files/",
            "things://models//files/b",
            "things://models/a/b/files/c",
            "things://models/a/files/b?c",
            "things://models/a/files/%zz",
            "things://models/a/files/%ff",
            "other://models/a/files/b",
        ] {
            assert_eq!(matches(MODEL, uri), None, "{uri}");
        }
    }

    #[test]
    fn a_template_is_shown_with_its_variables_in_braces() {
        assert_eq!(template(MODEL), "things://models/{model}/files/{file}");
    }
}
