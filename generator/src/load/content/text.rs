//! Texts with places: `{name}` is where the value of that name goes, and `{{name}}` is written as `{name}`.

use super::is_name;
use crate::diagnostic::{Diagnostic, Place, Sink};
use crate::load::did_you_mean;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Place(String),
}

/// The parts of a text. A place must be one of the `known` names, which are `what` the text can speak of; braces around
/// anything that is no name are left as they are, so that JSON can stand in a text.
pub(super) fn pieces(text: &str, known: &[&str], what: &str, place: &Place, sink: &mut Sink) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        plain.push_str(before);
        if let Some((name, behind)) =
            after.strip_prefix('{').and_then(named).and_then(|(name, behind)| Some((name, behind.strip_prefix('}')?)))
        {
            plain.push_str(&format!("{{{name}}}"));
            rest = behind;
        } else if let Some((name, behind)) = named(after) {
            if !known.contains(&name) {
                unknown(name, known, what, place, sink);
            }
            push_text(&mut found, &mut plain);
            found.push(Piece::Place(name.to_owned()));
            rest = behind;
        } else {
            plain.push('{');
            rest = after;
        }
    }
    plain.push_str(rest);
    push_text(&mut found, &mut plain);
    found
}

/// `name} rest` -> `name`, ` rest`.
fn named(text: &str) -> Option<(&str, &str)> {
    text.split_once('}').filter(|(name, _)| is_name(name))
}

fn push_text(found: &mut Vec<Piece>, plain: &mut String) {
    if !plain.is_empty() {
        found.push(Piece::Text(std::mem::take(plain)));
    }
}

fn unknown(name: &str, known: &[&str], what: &str, place: &Place, sink: &mut Sink) {
    let help = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| match known {
        [] => format!("there are no {what}; write `{{{{{name}}}}}` where the braces belong to the text"),
        known => {
            format!("the {what} are: {}; write `{{{{{name}}}}}` where the braces belong to the text", known.join(", "))
        }
    });
    let message = format!("`{{{name}}}` is the place of nothing");
    sink.push(Diagnostic::error("unknown-place", message).at(place.clone()).help(help));
}

/// Names of the places of a text.
pub(super) fn places(pieces: &[Piece]) -> impl Iterator<Item = &str> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Place(name) => Some(name.as_str()),
        Piece::Text(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut sink = Sink::new();
        let pieces = pieces(text, &["name", "resourceUri"], "arguments", &Place::default(), &mut sink);
        let part = |piece: &Piece| match piece {
            Piece::Text(text) => format!("[{text}]"),
            Piece::Place(name) => format!("<{name}>"),
        };
        let told: Vec<&str> = sink.iter().map(|found| found.code).collect();
        format!("{}{}", pieces.iter().map(part).collect::<String>(), told.concat())
    }

    #[test]
    fn a_name_in_braces_is_a_place() {
        assert_eq!(shown("Hello {name}, see {resourceUri}"), "[Hello ]<name>[, see ]<resourceUri>");
        assert_eq!(shown("{name}{name}"), "<name><name>");
    }

    #[test]
    fn doubled_braces_are_written_as_single_ones() {
        assert_eq!(shown("Write {{name}} for {name}."), "[Write {name} for ]<name>[.]");
    }

    #[test]
    fn braces_around_anything_else_are_left_as_they_are() {
        assert_eq!(shown("{\"id\": \"{name}\", \"of\": {}}"), "[{\"id\": \"]<name>[\", \"of\": {}}]");
        assert_eq!(shown("a { b } c {"), "[a { b } c {]");
    }

    #[test]
    fn a_place_of_nothing_is_told() {
        assert_eq!(shown("{nam}"), "<nam>unknown-place");
    }
}
