//! Which response headers a result keeps.

use reqwest::header::HeaderMap;

const KEPT: [&str; 7] =
    ["x-total-count", "location", "content-disposition", "retry-after", "x-correlation-id", "x-request-id", "link"];
const KEPT_FAMILIES: [&str; 3] = ["x-trace-", "x-audio-", "x-ratelimit-"];

/// The kept headers and the `wanted` ones in the order of the answer, repeated ones joined by a comma (RFC 9110 section 5.3).
pub(crate) fn kept(headers: &HeaderMap, wanted: &[String]) -> Vec<(String, String)> {
    headers
        .keys()
        .filter(|name| {
            let name = name.as_str();
            KEPT.contains(&name)
                || wanted.iter().any(|wanted| wanted == name)
                || KEPT_FAMILIES.iter().any(|family| name.starts_with(family))
        })
        .map(|name| {
            let values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
            (name.as_str().to_owned(), values.collect::<Vec<_>>().join(", "))
        })
        .collect()
}
