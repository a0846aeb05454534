//! `data:` URIs (RFC 2397).

use base64::{Engine, engine::general_purpose::STANDARD};
use percent_encoding::percent_decode_str;

/// What a `data:` URI holds.
#[derive(Debug, PartialEq)]
pub(crate) struct Decoded {
    pub(crate) bytes: Vec<u8>,
    pub(crate) media_type: String,
    /// Whether it says its media type. `application/octet-stream` says that it is not known (RFC 2046 section 4.5.1).
    pub(crate) is_typed: bool,
    /// The `name` parameter, a common extension for file inputs.
    pub(crate) name: Option<String>,
}

/// Decodes a `data:` URI: percent-encoding first, then base64 where it is declared, strictly.
pub(crate) fn parse(uri: &str) -> Result<Decoded, &'static str> {
    let (_, rest) = uri.split_once(':').ok_or("not a data: URI")?;
    let (head, payload) = rest.split_once(',').ok_or("a data: URI needs a comma in front of its content")?;
    let mut parameters: Vec<&str> = head.split(';').collect();
    let is_base64 = parameters.last().is_some_and(|last| last.trim().eq_ignore_ascii_case("base64"));
    if is_base64 {
        parameters.pop();
    }
    let raw: Vec<u8> = percent_decode_str(payload).collect();
    let bytes = if is_base64 {
        STANDARD.decode(&raw).map_err(|_| "the content of the data: URI is not valid base64")?
    } else {
        raw
    };
    let name = parameters.iter().find_map(|parameter| parameter.trim().strip_prefix("name=")).map(file_name);
    let says = |first: &&str| first.contains('/') && !first.trim().eq_ignore_ascii_case("application/octet-stream");
    let is_typed = parameters.first().is_some_and(says);
    Ok(Decoded { bytes, media_type: media_type(&parameters), is_typed, name: name.filter(|name| !name.is_empty()) })
}

/// The media type and its parameters, without `name`. RFC 2397 gives `text/plain` where there is none.
fn media_type(parameters: &[&str]) -> String {
    let valid = |text: &str| {
        let token =
            |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&^_.+-".contains(c));
        text.split_once('/').is_some_and(|(kind, subtype)| token(kind) && token(subtype))
    };
    match parameters.first().map(|first| first.trim().to_ascii_lowercase()) {
        Some(essence) if valid(&essence) => essence,
        Some(essence) if essence.is_empty() => "text/plain".to_owned(),
        _ => "application/octet-stream".to_owned(),
    }
}

/// The last part of a name, so that no folder travels with it.
fn file_name(encoded: &str) -> String {
    let name = percent_decode_str(encoded.trim_matches('"')).decode_utf8_lossy();
    name.rsplit(['/', '\\']).next().unwrap_or_default().chars().filter(|c| !c.is_control()).collect()
}
