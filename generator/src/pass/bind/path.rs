//! Paths that no server may expect as they are written: what is sent in their place is told.

use super::super::join;
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::extension::EXTENSION;
use crate::load::tool_file::is_of_file;
use crate::model::Model;
use crate::model::operation::Operation;

/// Warns where the path of the request differs from the text of the document, or cannot be sent at all.
pub(super) fn check(model: &Model, operation: &Operation, sink: &mut Sink) {
    let ours = operation.extension.path.as_deref();
    if ours.is_none() && operation.extension.route.is_some() {
        return;
    }
    let path = ours.unwrap_or(&operation.path);
    let of_file = operation.origin.strip_suffix("/operation").filter(|_| is_of_file(&operation.origin));
    let origin = match (ours, of_file) {
        (Some(_), _) => join(&join(&operation.origin, EXTENSION), "path"),
        (None, Some(node)) => join(node, "path"),
        (None, None) => operation.origin.clone(),
    };
    for (message, help) in oddities(path) {
        let found = Diagnostic::warning("odd-path", format!("the path {path:?} {message}"));
        // A tool file says itself what its path is.
        let help = if of_file.is_some() { "correct `path` under `http`" } else { help };
        sink.push(found.at(model.loaded.document.place(&origin)).help(help));
    }
}

const CORRECT: &str = "if the real path is another, write it in an overlay: x-toolwright: {path: ..}";

/// What is odd about a path, each with a remedy.
fn oddities(path: &str) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    let (path, fragment) = path.split_once('#').map_or((path, None), |(path, rest)| (path, Some(rest)));
    if let Some(fragment) = fragment {
        found.push((format!("has a fragment: `#{fragment}` is never sent"), CORRECT));
    }
    let (path, query) = path.split_once('?').map_or((path, None), |(path, rest)| (path, Some(rest)));
    if let Some(query) = query {
        found.push((
            format!("has a query: `?{query}` is sent with every call"),
            "declare what varies as parameters in an overlay",
        ));
    }
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    if segments.iter().any(|segment| is_dots(segment)) {
        found.push((
            "has a segment of dots, which would address another route: every call is refused".to_owned(),
            "write the path that is meant in an overlay: x-toolwright: {path: ..}",
        ));
    }
    // A slash at the end is common, and is sent.
    let inner = segments.split_last().map_or(&[] as &[&str], |(_, inner)| inner);
    if inner.first() == Some(&"") {
        found.push(("begins with an empty segment, which is not sent".to_owned(), CORRECT));
    }
    if inner.iter().skip_while(|segment| segment.is_empty()).any(|segment| segment.is_empty()) {
        found.push(("has an empty segment, which is sent as it is: `//`".to_owned(), CORRECT));
    }
    let (literal, is_matched) = literals(path);
    if !is_matched {
        found.push((
            "has braces that do not match: what is no placeholder is sent as %7B and %7D".to_owned(),
            "close each `{` with a `}` in an overlay: x-toolwright: {path: ..}",
        ));
    }
    found.extend(percent_signs(path));
    let odd: Vec<char> = literal.chars().filter(|c| !matches!(c, '{' | '}') && is_escaped(*c)).collect();
    if !odd.is_empty() {
        let shown: Vec<String> = odd.iter().map(|c| format!("{c:?}")).collect();
        found.push((format!("holds {}, sent percent-encoded", shown.join(", ")), CORRECT));
    }
    found
}

/// Percent signs that stand for no character (RFC 3986 section 2.1), or for one that no segment should hold.
fn percent_signs(path: &str) -> Option<(String, &'static str)> {
    let mut escapes = path.split('%').skip(1).map(|behind| behind.get(..2).unwrap_or(behind));
    let is_escape = |text: &str| text.len() == 2 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let is_control = |text: &str| u8::from_str_radix(text, 16).is_ok_and(|byte| byte.is_ascii_control());
    let odd = escapes.find(|text| !is_escape(text) || is_control(text))?;
    let message = match is_escape(odd) {
        true => format!("holds the control character %{odd}, which many servers refuse"),
        false => "holds a `%` that begins no escape, which many servers refuse; it is sent as it is".to_owned(),
    };
    Some((message, "write a percent sign as `%25`, or the path that is meant, in an overlay: x-toolwright: {path: ..}"))
}

/// `.` and `..`, also where a dot is written as `%2E` (RFC 3986 section 6.2.2.2).
fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    matches!(plain.as_str(), "." | "..")
}

/// What stands outside of placeholders, each character once and in order, and whether the braces match.
fn literals(path: &str) -> (String, bool) {
    let (mut literal, mut rest, mut is_matched) = (String::new(), path, true);
    let mut keep = |text: &str, is_matched: &mut bool| {
        *is_matched &= !text.contains(['{', '}']);
        text.chars().for_each(|c| {
            if !literal.contains(c) {
                literal.push(c);
            }
        });
    };
    while let Some((before, opened)) = rest.split_once('{') {
        keep(before, &mut is_matched);
        match opened.split_once('}') {
            Some((name, behind)) => {
                is_matched &= !name.contains(['{', '/']);
                rest = behind;
            }
            None => {
                is_matched = false;
                rest = opened;
            }
        }
    }
    keep(rest, &mut is_matched);
    (literal, is_matched)
}

/// Characters that no path holds as they are (RFC 3986 section 3.3).
fn is_escaped(c: char) -> bool {
    !c.is_ascii() || c.is_ascii_control() || matches!(c, ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '|' | '[' | ']')
}

#[cfg(test)]
mod tests {
    use super::oddities;

    fn told(path: &str) -> Vec<String> {
        oddities(path).into_iter().map(|(message, _)| message).collect()
    }

    #[test]
    fn usual_paths_are_left_in_peace() {
        for path in ["/", "/a/b/", "/a/{id}:run", "/a/{b}-{c}/d.json", "/a%20b", "/v1/@me/$batch"] {
            assert!(told(path).is_empty(), "{path}: {:?}", told(path));
        }
    }

    #[test]
    fn segments_of_dots_are_refused() {
        let refused = "has a segment of dots, which would address another route: every call is refused";
        for path in ["/a/../b", "/a/.", "/a/%2E%2e/b"] {
            assert_eq!(told(path), [refused], "{path}");
        }
    }

    #[test]
    fn percent_signs_that_stand_for_no_character_are_told() {
        let told_of = "holds a `%` that begins no escape, which many servers refuse; it is sent as it is";
        for path in ["/%", "/%zz", "/a%2/b", "/100%/{id}"] {
            assert_eq!(told(path), [told_of], "{path}");
        }
        assert_eq!(told("/%00"), ["holds the control character %00, which many servers refuse"]);
    }

    #[test]
    fn empty_segments_are_told() {
        assert_eq!(told("//a"), ["begins with an empty segment, which is not sent"]);
        assert_eq!(told("/a//b"), ["has an empty segment, which is sent as it is: `//`"]);
    }

    #[test]
    fn braces_that_do_not_match_are_told() {
        let sent = "has braces that do not match: what is no placeholder is sent as %7B and %7D";
        for path in ["/a/{id", "/a/id}", "/a/{{id}}"] {
            assert_eq!(told(path), [sent], "{path}");
        }
    }

    #[test]
    fn characters_that_are_encoded_and_parts_that_are_no_path_are_told() {
        assert_eq!(told("/a b/ü b"), ["holds ' ', 'ü', sent percent-encoded"]);
        assert_eq!(told("/a?x=1"), ["has a query: `?x=1` is sent with every call"]);
        assert_eq!(told("/a#b"), ["has a fragment: `#b` is never sent"]);
    }
}
