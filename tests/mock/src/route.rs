//! From a request's method and raw path to an operation.

use crate::document::Operation;

/// How a request line relates to the document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Routed {
    /// The operation's place in the list, and the raw (still encoded) path values by name.
    Found {
        operation: usize,
        values: Vec<(String, String)>,
        /// Further operations of the same route: documents tell some apart by a fragment, which is never sent.
        twins: Vec<usize>,
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
    /// Pairs of a query that some documents write into the path; a request must hold them.
    query: Vec<String>,
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
                let route = operation.template.split('#').next().unwrap_or("");
                let (path, query) = route.split_once('?').unwrap_or((route, ""));
                let query = query.split('&').filter(|pair| !pair.is_empty()).map(str::to_owned).collect();
                let segments: Vec<_> = path.split('/').map(pieces).collect();
                let ranks = segments.iter().map(|s| rank(s)).collect();
                Route { method: operation.method.clone(), query, segments, ranks }
            })
            .collect();
        Self { base: base.to_owned(), routes }
    }

    /// The most specific template that fits.
    pub(crate) fn find(&self, method: &str, path: &str, query: Option<&str>) -> Routed {
        let Some(path) = path.strip_prefix(self.base.as_str()) else { return Routed::Nothing };
        let parts: Vec<&str> = path.split('/').collect();
        let fitting = || {
            self.routes
                .iter()
                .enumerate()
                .filter(|(_, route)| {
                    route.query.iter().all(|pair| query.unwrap_or("").split('&').any(|sent| sent == pair))
                })
                .filter_map(|(at, route)| Some((at, route, capture(&route.segments, &parts)?)))
        };
        let of_method = || fitting().filter(|(_, route, _)| route.method == method);
        if let Some((operation, best, values)) = of_method().min_by_key(|(_, route, _)| route.preference()) {
            let equals = of_method().filter(|(_, route, _)| route.preference() == best.preference());
            let twins = equals.map(|(at, _, _)| at).filter(|at| *at != operation).collect();
            return Routed::Found { operation, values, twins };
        }
        let others: Vec<String> = fitting().map(|(_, route, _)| route.method.clone()).collect();
        if others.is_empty() { Routed::Nothing } else { Routed::OtherMethod(others) }
    }
}

impl Route {
    /// The least is the most specific.
    fn preference(&self) -> (&[Rank], std::cmp::Reverse<usize>) {
        (&self.ranks, std::cmp::Reverse(self.query.len()))
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
        let values = values.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Routed::Found { operation, values, twins: Vec::new() }
    }

    #[test]
    fn a_literal_beats_a_variable_in_either_order() {
        assert_eq!(routes("", &["/a/{id}", "/a/mine"]).find("GET", "/a/mine", None), found(1, &[]));
        assert_eq!(routes("", &["/a/mine", "/a/{id}"]).find("GET", "/a/other", None), found(1, &[("id", "other")]));
    }

    #[test]
    fn values_stay_as_they_were_sent() {
        assert_eq!(routes("", &["/m/{name}"]).find("GET", "/m/org%2Fx", None), found(0, &[("name", "org%2Fx")]));
    }

    #[test]
    fn a_segment_may_mix_text_and_variables() {
        assert_eq!(routes("", &["/f/{n}.{ext}"]).find("GET", "/f/a.b", None), found(0, &[("n", "a"), ("ext", "b")]));
    }

    #[test]
    fn the_base_path_stands_before_every_template() {
        assert_eq!(routes("/v2/", &["/x"]).find("GET", "/v2/x", None), found(0, &[]));
        assert_eq!(routes("/v2/", &["/x"]).find("GET", "/x", None), Routed::Nothing);
    }

    #[test]
    fn another_method_is_told_apart_from_no_path() {
        assert_eq!(routes("", &["/x"]).find("POST", "/x", None), Routed::OtherMethod(vec!["GET".to_owned()]));
    }

    #[test]
    fn a_query_in_a_path_must_be_sent_and_then_wins() {
        let routes = routes("", &["/x", "/x?beta=true"]);
        assert_eq!(routes.find("GET", "/x", None), found(0, &[]));
        assert_eq!(routes.find("GET", "/x", Some("a=1&beta=true")), found(1, &[]));
    }

    #[test]
    fn paths_that_differ_in_a_fragment_are_one_route() {
        let routed = routes("", &["/x#add", "/x#remove"]).find("GET", "/x", None);
        assert_eq!(routed, Routed::Found { operation: 0, values: Vec::new(), twins: vec![1] });
    }
}
