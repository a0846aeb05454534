//! Arguments outside the body: path, query, headers and cookies.

mod header;
mod pairs;
mod path;
mod percent;
mod shape;
#[cfg(test)]
mod tests;

pub use header::is_reserved_header;
pub(crate) use header::{header_value, simple};
pub(crate) use pairs::{Escape, pairs};
pub(crate) use percent::literal as percent_literal;
pub use percent::value as percent_value;
pub(crate) use shape::text;

use reqwest::{
    Url,
    header::{COOKIE, HeaderMap, HeaderValue},
};
use serde_json::{Map, Value};
use toolwright_core::{Location, Parameter, ToolError};

/// Where a request goes, and what it says outside its body.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
}

/// Fills a route's template and adds query, headers and cookies.
///
/// # Errors
/// `invalid_arguments`, naming the argument, where a value cannot be sent safely.
pub(crate) fn target(
    base: &Url,
    template: &str,
    parameters: &[Parameter],
    arguments: &Map<String, Value>,
) -> Result<Target, ToolError> {
    let filled = path::fill(template, parameters, arguments)?;
    let mut query: Vec<String> = filled.query.into_iter().collect();
    let mut cookies = Vec::new();
    let mut headers = HeaderMap::new();
    for parameter in parameters {
        let Some(value) = arguments.get(parameter.argument) else { continue };
        match parameter.location {
            Location::Path => {}
            Location::Query => query.extend(query_pairs(parameter, value)),
            Location::Cookie => cookies.extend(header::cookies(parameter, value)?),
            Location::Header => {
                headers.extend(header::header(parameter, value)?.map(|(name, value)| (Some(name), value)))
            }
        }
    }
    if !cookies.is_empty() {
        let value = HeaderValue::from_str(&cookies.join("; "))
            .map_err(|_| ToolError::invalid("a cookie argument cannot be sent"))?;
        headers.insert(COOKIE, value);
    }
    Ok(Target { url: join(base, &filled.path, &query)?, headers })
}

fn query_pairs(parameter: &Parameter, value: &Value) -> impl Iterator<Item = String> {
    let escape = Escape::Percent.allowing(parameter.reserved);
    pairs(parameter.wire, value, parameter.style, parameter.explode, parameter.send_as, escape)
        .into_iter()
        .map(|(name, text)| format!("{name}={text}"))
}

/// The longest URL that the HTTP client sends, in bytes: the bound of `http::Uri`, which would end the call as if the API
/// could not be reached.
const LONGEST_URL: usize = 65_534;

/// Appends a route to the base URL. The base's own path is kept: a route is never resolved as a reference.
///
/// # Errors
/// `invalid_arguments` where the parts form no URL, one that is too long, or one below another path than was put together: the URL library
/// resolves dot segments, and a request must never go where the template does not say.
pub(crate) fn join(base: &Url, path: &str, query: &[String]) -> Result<Url, ToolError> {
    let mut wanted = format!("{}/{}", base.path().trim_end_matches('/'), path.trim_start_matches('/'));
    if path.is_empty() {
        wanted = base.path().to_owned();
    }
    let mut url = base.clone();
    url.set_path(&wanted);
    if url.path() != wanted {
        return Err(ToolError::invalid("the path has segments that cannot be sent as they are"));
    }
    url.set_query((!query.is_empty()).then(|| query.join("&")).as_deref());
    let length = url.as_str().len();
    if length > LONGEST_URL {
        return Err(ToolError::invalid(format!(
            "the arguments make a URL of {length} bytes, and at most {LONGEST_URL} can be sent; shorten those in path and query"
        )));
    }
    Ok(url)
}
