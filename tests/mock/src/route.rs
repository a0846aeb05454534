//! From a request's method and raw path to an operation.

use crate::document::Operation;

/// How a request line relates to the document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Routed {
    /// The operation's place in the list, and the raw (still encoded) path values by name.
    Found {
        operation: usize,
        values: Vec<(String, String)>,
    },
    /// The path exists, with these other methods.
    OtherMethod(Vec<String>),
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Variable(String),
}

/// Literal before mixed before variable, segment by segment (OpenAPI 3.1 section 4.8.8.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Literal,
    Mixed,
    Variable,
}

#[derive(Debug)]
struct Route {
    method: String,
    segments: Vec<Vec<Piece>>,
    ranks: Vec<Rank>,
}

/// All templates of a document, ready for matching.
#[derive(Debug)]
pub(crate) struct Routes {
    base: String,
    routes: Vec<Route>,
}

impl Routes {
    pub(crate) fn new(base: &str, operations: &[Operation]) -> Self {
        let routes = operations
            .iter()
            .map(|operation| {
                let path = operation.template.split(['?', '#']).next().unwrap_or("");
                let segments: Vec<_> = path.split('/').map(pieces).collect();
                let ranks = segments.iter().map(|s| rank(s)).collect();
                Route { method: operation.method.clone(), segments, ranks }
            })
            .collect();
        Self { base: base.to_owned(), routes }
    }

    /// The most specific template that fits.
    pub(crate) fn find(&self, method: &str, path: &str) -> Routed {
        let Some(path) = path.strip_prefix(self.base.as_str()) else { return Routed::Nothing };
        let parts: Vec<&str> = path.split('/').collect();
        let fitting = || {
            self.routes
                .iter()
                .enumerate()
                .filter_map(|(at, route)| Some((at, route, capture(&route.segments, &parts)?)))
        };
        if let Some((operation, _, values)) =
            fitting().filter(|(_, r, _)| r.method == method).min_by(|a, b| a.1.ranks.cmp(&b.1.ranks))
        {
            return Routed::Found { operation, values };
        }
        let others: Vec<String> = fitting().map(|(_, route, _)| route.method.clone()).collect();
        if others.is_empty() { Routed::Nothing } else { Routed::OtherMethod(others) }
    }
}

fn pieces(segment: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut rest = segment;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, tail)) = after.split_once('}') else { break };
        if !before.is_empty() {
            found.push(Piece::Literal(before.to_owned()));
        }
        found.push(Piece::Variable(name.to_owned()));
        rest = tail;
    }
    if !rest.is_empty() || found.is_empty() {
        found.push(Piece::Literal(rest.to_owned()));
    }
    found
}

fn rank(segment: &[Piece]) -> Rank {
    match segment {
        [Piece::Literal(_)] => Rank::Literal,
        [Piece::Variable(_)] => Rank::Variable,
        _ => Rank::Mixed,
    }
}

fn capture(template: &[Vec<Piece>], parts: &[&str]) -> Option<Vec<(String, String)>> {
    if template.len() != parts.len() {
        return None;
    }
    let mut values = Vec::new();
    let fits = template.iter().zip(parts).all(|(segment, part)| capture_segment(segment, part, &mut values));
    fits.then_some(values)
}

fn capture_segment(segment: &[Piece], text: &str, values: &mut Vec<(String, String)>) -> bool {
    match segment {
        [] => text.is_empty(),
        [Piece::Literal(literal), rest @ ..] => {
            decoded_prefix(text, literal).is_some_and(|tail| capture_segment(rest, tail, values))
        }
        [Piece::Variable(name)] => {
            values.push((name.clone(), text.to_owned()));
            true
        }
        [Piece::Variable(name), rest @ ..] => text.char_indices().map(|(at, c)| at + c.len_utf8()).any(|end| {
            let (value, tail) = text.split_at(end);
            let kept = values.len();
            values.push((name.clone(), value.to_owned()));
            capture_segment(rest, tail, values) || {
                values.truncate(kept);
                false
            }
        }),
    }
}

/// What is left of `text` after `literal`; a whole literal segment may arrive percent-encoded.
fn decoded_prefix<'t>(text: &'t str, literal: &str) -> Option<&'t str> {
    text.strip_prefix(literal).or_else(|| {
        let decoded = percent_encoding::percent_decode_str(text).decode_utf8().ok()?;
        (decoded == literal).then_some("")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::Document;
    use serde_json::json;

    fn routes(base: &str, paths: &[&str]) -> Routes {
        let items: serde_json::Map<_, _> = paths.iter().map(|p| ((*p).to_owned(), json!({"get": {}}))).collect();
        let document = Document::from_value(json!({"swagger": "2.0", "basePath": base, "paths": items})).unwrap();
        Routes::new(&document.base_path, &document.operations)
    }

    fn found(operation: usize, values: &[(&str, &str)]) -> Routed {
        Routed::Found { operation, values: values.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect() }
    }

    #[test]
    fn a_literal_beats_a_variable_in_either_order() {
        assert_eq!(routes("", &["/a/{id}", "/a/mine"]).find("GET", "/a/mine"), found(1, &[]));
        assert_eq!(routes("", &["/a/mine", "/a/{id}"]).find("GET", "/a/other"), found(1, &[("id", "other")]));
    }

    #[test]
    fn values_stay_as_they_were_sent() {
        assert_eq!(routes("", &["/m/{name}"]).find("GET", "/m/org%2Fx"), found(0, &[("name", "org%2Fx")]));
    }

    #[test]
    fn a_segment_may_mix_text_and_variables() {
        assert_eq!(routes("", &["/f/{n}.{ext}"]).find("GET", "/f/a.b"), found(0, &[("n", "a"), ("ext", "b")]));
    }

    #[test]
    fn the_base_path_stands_before_every_template() {
        assert_eq!(routes("/v2/", &["/x"]).find("GET", "/v2/x"), found(0, &[]));
        assert_eq!(routes("/v2/", &["/x"]).find("GET", "/x"), Routed::Nothing);
    }

    #[test]
    fn another_method_is_told_apart_from_no_path() {
        assert_eq!(routes("", &["/x"]).find("POST", "/x"), Routed::OtherMethod(vec!["GET".to_owned()]));
    }
}
