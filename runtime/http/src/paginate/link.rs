//! The `Link` header (RFC 8288 section 3).

use reqwest::Url;

/// What a `Link` header says of the next page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// There is none, or none that is a URL.
    None,
    /// It is there, at the origin of the request.
    At(Url),
    /// It is at this other origin, or asks for other credentials: what an answer names must not decide whom they go to.
    Elsewhere(String),
}

/// The target of the first link with the relation `next`, resolved against the URL of the request.
pub(crate) fn next(header: &str, from: &Url) -> Next {
    let target = links(header).into_iter().find(|(_, parameters)| is_next(parameters)).map(|(target, _)| target);
    match target.and_then(|target| from.join(target).ok()) {
        None => Next::None,
        Some(url) if url.origin() == from.origin() && url.username().is_empty() && url.password().is_none() => {
            Next::At(url)
        }
        Some(url) => Next::Elsewhere(url.origin().ascii_serialization()),
    }
}

/// Each target with the text of its parameters.
fn links(header: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = header;
    while let Some((target, behind)) = rest.split_once('<').and_then(|(_, inner)| inner.split_once('>')) {
        let end = end_of_link(behind);
        found.push((target.trim(), behind.get(..end).unwrap_or_default()));
        rest = behind.get(end..).unwrap_or_default();
    }
    found
}

/// Where a link's parameters end: at a comma outside quotes.
fn end_of_link(parameters: &str) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (index, c) in parameters.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => return index,
            _ => {}
        }
    }
    parameters.len()
}

/// Relations are separated by spaces, and case does not matter (RFC 8288 section 3.3). Only the first `rel` counts.
fn is_next(parameters: &str) -> bool {
    let relation = parameters
        .split(';')
        .filter_map(|parameter| parameter.split_once('='))
        .find_map(|(name, value)| name.trim().eq_ignore_ascii_case("rel").then(|| value.trim().trim_matches('"')));
    relation.is_some_and(|names| names.split_whitespace().any(|name| name.eq_ignore_ascii_case("next")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(header: &str) -> Next {
        next(header, &Url::parse("https://api.example/v1/things?page=1").unwrap())
    }

    #[test]
    fn the_target_of_next_is_resolved_against_the_request() {
        for (header, expected) in [
            (r#"<https://api.example/v1/things?page=2>; rel="next""#, "https://api.example/v1/things?page=2"),
            ("</v1/things?page=2>;rel=next", "https://api.example/v1/things?page=2"),
            ("<?a=1,2&b=3>; title=\"a, b\"; REL=\"last Next\"", "https://api.example/v1/things?a=1,2&b=3"),
            (r#"</first>; rel="first", </second>; rel="next""#, "https://api.example/second"),
        ] {
            assert_eq!(told(header), Next::At(Url::parse(expected).unwrap()), "{header}");
        }
    }

    #[test]
    fn other_relations_lead_nowhere() {
        for header in ["", r#"</x>; rel="prev""#, r#"</x>; title="rel=next""#, "no link at all; rel=next"] {
            assert_eq!(told(header), Next::None, "{header}");
        }
    }

    #[test]
    fn another_origin_and_other_credentials_are_elsewhere() {
        for (header, origin) in [
            (r#"<https://evil.example/v1/things?page=2>; rel="next""#, "https://evil.example"),
            (r#"<http://api.example/x>; rel="next""#, "http://api.example"),
            (r#"<https://u:p@api.example/x>; rel="next""#, "https://api.example"),
        ] {
            assert_eq!(told(header), Next::Elsewhere(origin.to_owned()), "{header}");
        }
    }
}
