//! URIs of resources, and templates of them (RFC 6570, level 1).

use super::text::Piece;
use super::{File, is_name};
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::strict::Fields;

/// URIs of saved answers begin so.
const RESERVED: &str = "toolwright:";

/// Reads the URI of a resource. `None` where it cannot be one, which is reported.
pub(super) fn read(fields: &Fields<'_>, file: &File<'_>, sink: &mut Sink) -> Option<Vec<Piece>> {
    let text = fields.string("uri", sink)?;
    let place = (file.places)(&fields.pointer_of("uri"));
    let mut report = |message: String, help: &str| {
        sink.push(Diagnostic::error("bad-uri", message).at(place.clone()).help(help));
    };
    if !has_scheme(&text) {
        let help = "write an absolute URI, such as `things://guides/first` or `things://models/{model}`";
        report(format!("`{}` has no scheme", text.escape_debug()), help);
        return None;
    }
    if text.to_ascii_lowercase().starts_with(RESERVED) {
        report("`toolwright:` is the scheme of saved answers".to_owned(), "choose a scheme of the server's own");
        return None;
    }
    let pieces = match pieces(&text) {
        Ok(pieces) => pieces,
        Err((message, help)) => {
            report(message, help);
            return None;
        }
    };
    let wrong = pieces.iter().find_map(|piece| match piece {
        Piece::Text(text) => text.chars().find(|c| !is_of_uri(*c)),
        Piece::Place(_) => None,
    });
    if let Some(wrong) = wrong {
        let message = format!("`{}` stands in no URI", wrong.escape_debug());
        report(message, "percent-encode it, as its bytes in UTF-8");
        return None;
    }
    Some(pieces)
}

/// The parts of a template: variables in braces, with text between them.
fn pieces(text: &str) -> Result<Vec<Piece>, (String, &'static str)> {
    let mut found: Vec<Piece> = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        if !before.is_empty() {
            found.push(Piece::Text(before.to_owned()));
        }
        let (name, behind) = after
            .split_once('}')
            .ok_or(("a brace of the URI is never closed".to_owned(), "write variables as `{name}`"))?;
        if !is_name(name) {
            let help = "letters, digits and `_`, first a letter; only level 1 of RFC 6570 is read, without operators";
            return Err((format!("`{{{}}}` is no variable", name.escape_debug()), help));
        }
        if matches!(found.last(), Some(Piece::Place(_))) {
            let help = "put a text between them, such as `/`";
            return Err((format!("nothing stands between `{{{name}}}` and the variable before it"), help));
        }
        if found.contains(&Piece::Place(name.to_owned())) {
            return Err((format!("`{{{name}}}` stands there twice"), "name each variable once"));
        }
        found.push(Piece::Place(name.to_owned()));
        rest = behind;
    }
    if !rest.is_empty() {
        found.push(Piece::Text(rest.to_owned()));
    }
    Ok(found)
}

/// RFC 3986, section 3.1.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let goes_on = scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && goes_on && !rest.is_empty()
}

/// RFC 3986, section 2.
fn is_of_uri(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c)
}

/// The template as clients see it.
pub(crate) fn template(pieces: &[Piece]) -> String {
    let part = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Place(name) => format!("{{{name}}}"),
    };
    pieces.iter().map(part).collect()
}

/// The template without the names of its variables: two of one shape are the same to a reader.
pub(super) fn shape(pieces: &[Piece]) -> String {
    let part = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Place(_) => "{}".to_owned(),
    };
    pieces.iter().map(part).collect()
}

/// Whether a URI without variables may be one of a template.
pub(super) fn may_match(template: &[Piece], uri: &str) -> bool {
    let mut rest = uri;
    let mut texts = template.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        Piece::Place(_) => None,
    });
    let Some(first) = texts.next().filter(|first| rest.starts_with(first)) else { return false };
    rest = rest.get(first.len()..).unwrap_or_default();
    for text in texts {
        let Some((_, after)) = rest.split_once(text) else { return false };
        rest = after;
    }
    matches!(template.last(), Some(Piece::Place(_))) || rest.is_empty()
}
