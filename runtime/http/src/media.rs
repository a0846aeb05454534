//! Media types (RFC 9110 section 8.3.1): which of them are JSON, text or binary.

/// A media type in lower case, without parameters, and its charset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MediaType {
    essence: String,
    charset: Option<String>,
}

impl MediaType {
    /// Reads a `Content-Type` value leniently.
    pub(crate) fn of(header: &str) -> Self {
        let mut parts = header.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_ascii_lowercase())
        });
        MediaType { essence, charset }
    }

    /// `type/subtype`.
    pub(crate) fn essence(&self) -> &str {
        &self.essence
    }

    /// The declared charset.
    pub(crate) fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }

    pub(crate) fn is_event_stream(&self) -> bool {
        self.essence == "text/event-stream"
    }

    /// JSON, whatever its profile (RFC 6839 section 3.1 and the older `text/json`).
    pub(crate) fn is_json(&self) -> bool {
        matches!(self.essence.as_str(), "application/json" | "text/json") || self.essence.ends_with("+json")
    }

    /// One JSON value a line, or a JSON text sequence.
    pub(crate) fn is_json_lines(&self) -> bool {
        const LINES: [&str; 5] = [
            "application/x-ndjson",
            "application/ndjson",
            "application/jsonl",
            "application/x-jsonlines",
            "application/json-seq",
        ];
        LINES.contains(&self.essence.as_str())
    }

    /// What stands before each value: a record separator in a JSON text sequence (RFC 7464 section 2.2).
    pub(crate) fn record_separator(&self) -> &'static str {
        if self.essence == "application/json-seq" { "\u{1e}" } else { "" }
    }

    /// Text of any kind that is not JSON.
    pub(crate) fn is_text(&self) -> bool {
        const TEXT: [&str; 9] = [
            "application/xml",
            "application/yaml",
            "application/x-yaml",
            "application/toml",
            "application/javascript",
            "application/graphql",
            "application/sql",
            "application/x-www-form-urlencoded",
            "application/csv",
        ];
        self.is_json_lines()
            || (self.essence.starts_with("text/") && !self.is_json())
            || TEXT.contains(&self.essence.as_str())
            || self.essence.ends_with("+xml") && self.essence != "image/svg+xml"
            || self.essence.ends_with("+yaml")
    }

    /// Content that is never shown as text, even where its bytes happen to be UTF-8.
    pub(crate) fn is_surely_binary(&self) -> bool {
        const BINARY: [&str; 6] = [
            "application/octet-stream",
            "application/pdf",
            "application/zip",
            "application/gzip",
            "application/x-tar",
            "application/wasm",
        ];
        ["image/", "audio/", "video/", "font/", "model/"].iter().any(|kind| self.essence.starts_with(kind))
            || BINARY.contains(&self.essence.as_str())
    }
}

/// The media type that a file of the type `own` is sent as, of a list of types and ranges; `None` where none fits.
pub(crate) fn agreed(declared: &str, own: &str) -> Option<String> {
    let entries = || declared.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let essence = |entry: &str| MediaType::of(entry).essence;
    // `audio/x-wav` and `audio/wav` are one type under two names.
    let is_same = |entry: &str| entry == own || extension(entry) == extension(own) && extension(own) != "bin";
    let named = entries().find(|entry| is_same(&essence(entry))).map(str::to_owned);
    let in_range = |entry: &str| entry == "*/*" || entry.strip_suffix('*').is_some_and(|kind| own.starts_with(kind));
    let ranged = || entries().any(|entry| in_range(&essence(entry))).then(|| own.to_owned());
    // Bytes of any kind are bytes.
    let bytes = || entries().find(|entry| essence(entry) == "application/octet-stream").map(str::to_owned);
    named.or_else(ranged).or_else(bytes)
}

/// The first of a list of types and ranges that is a type.
pub(crate) fn first(declared: &str) -> Option<&str> {
    declared.split(',').map(str::trim).find(|entry| !entry.is_empty() && !entry.contains('*'))
}

/// A file extension for a media type, without its dot.
pub(crate) fn extension(essence: &str) -> &'static str {
    match essence {
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/ogg" => "ogg",
        "audio/flac" | "audio/x-flac" => "flac",
        "audio/mp4" => "m4a",
        "application/octet-stream" => "bin",
        "image/jpeg" => "jpg",
        "video/mp4" => "mp4",
        "video/webm" => "webm",
        "text/html" => "html",
        "text/markdown" => "md",
        "model/gltf-binary" => "glb",
        "text/plain" => "txt",
        other => mime_guess::get_mime_extensions_str(other).and_then(|all| all.first().copied()).unwrap_or("bin"),
    }
}

/// The media type that a file name suggests.
pub(crate) fn by_name(name: &str) -> String {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    match extension.as_str() {
        "glb" => "model/gltf-binary".to_owned(),
        "wav" => "audio/wav".to_owned(),
        _ => mime_guess::from_path(name).first_or_octet_stream().essence_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::agreed;

    #[test]
    fn a_file_has_one_of_the_types_that_are_declared() {
        for (declared, own, expected) in [
            ("image/png, image/jpeg", "image/jpeg", Some("image/jpeg")),
            ("image/*", "image/webp", Some("image/webp")),
            ("*/*", "text/html", Some("text/html")),
            ("audio/wav", "audio/x-wav", Some("audio/wav")),
            ("text/csv; charset=utf-8", "text/csv", Some("text/csv; charset=utf-8")),
            ("image/png, application/octet-stream", "text/html", Some("application/octet-stream")),
            ("image/png, image/jpeg", "text/html", None),
            ("image/*", "text/html", None),
        ] {
            assert_eq!(agreed(declared, own).as_deref(), expected, "{declared} {own}");
        }
    }
}
