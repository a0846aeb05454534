//! A planned request as a `curl` command line.

#[cfg(test)]
mod tests;

use std::fmt::Write;

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::header::{HeaderName, HeaderValue};

use crate::{
    files::{FileInput, Source},
    plan::{Part, PartContent, Planned, PlannedBody},
};

/// A longer inline file is named instead of written out.
const LONGEST_INLINE: usize = 3 * 1024;

impl Planned {
    /// The request as a shell command; for a WebSocket its address, with a comment. Credentials are variables such as
    /// `$LOCALAI_API_KEY`, never their values.
    #[must_use]
    pub fn to_curl(&self) -> String {
        if self.websocket {
            return self.to_address();
        }
        let mut out = match self.method.as_str() {
            // With `--request HEAD`, curl would wait for a body.
            "HEAD" => format!("curl --head {}", quoted(self.url.as_str())),
            method => format!("curl --request {} {}", quoted_where_needed(method), quoted(self.url.as_str())),
        };
        for option in &self.credentials {
            push(&mut out, option);
        }
        for (name, value) in &self.headers {
            let value = String::from_utf8_lossy(value.as_bytes());
            push(&mut out, &format!("--header {}", quoted(&format!("{name}: {value}"))));
        }
        self.push_body(&mut out);
        out
    }

    /// The address of a WebSocket, and the headers of its handshake.
    fn to_address(&self) -> String {
        let mut out =
            "# curl cannot hold a WebSocket exchange: open this address with a WebSocket client.\n".to_owned();
        let bare = |option: &String| match option.strip_prefix("--header \"").and_then(|rest| rest.strip_suffix('"')) {
            Some(header) => header.to_owned(),
            None => option.clone(),
        };
        let credentials = self.credentials.iter().map(bare);
        let others = self
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()).escape_debug()));
        for header in credentials.chain(others) {
            out.push_str(&format!("# Header: {header}\n"));
        }
        // `http` becomes `ws`, and `https` `wss` (RFC 6455 section 3).
        out.push_str(&self.url.as_str().replacen("http", "ws", 1));
        out
    }

    fn push_body(&self, out: &mut String) {
        match &self.body {
            PlannedBody::None => {}
            PlannedBody::Bytes { media_type, bytes } => {
                push(out, &format!("--header {}", quoted(&format!("content-type: {media_type}"))));
                push(out, &format!("--data-raw {}", quoted(&String::from_utf8_lossy(bytes))));
            }
            PlannedBody::File { media_type, file } => {
                push(out, &format!("--header {}", quoted(&format!("content-type: {media_type}"))));
                push(out, &format!("--data-binary \"@\"{}", place(file)));
            }
            PlannedBody::Multipart { media_type, parts } => {
                if media_type != "multipart/form-data" {
                    // curl adds the boundary.
                    push(out, &format!("--header {}", quoted(&format!("content-type: {media_type}"))));
                }
                for part in parts {
                    push(out, &form_option(part));
                }
            }
        }
    }
}

fn push(out: &mut String, option: &str) {
    // Writing to a string cannot fail.
    let _ = write!(out, " \\\n  {option}");
}

fn form_option(part: &Part) -> String {
    let name = &part.name;
    let headers: String = part.headers.iter().map(header_suffix).collect();
    match &part.content {
        PartContent::Text(text) if headers.is_empty() => {
            format!("--form-string {}", quoted(&format!("{name}={text}")))
        }
        PartContent::Text(text) => format!("--form {}", quoted(&format!("{name}={text}{headers}"))),
        PartContent::Typed { text, media_type } => {
            format!("--form {}", quoted(&format!("{name}={text};type={media_type}{headers}")))
        }
        PartContent::File { file, .. } => {
            let suffix = match &file.source {
                Source::Inline { media_type, name, .. } => format!(";type={media_type};filename={name}"),
                Source::Path(_) | Source::Saved { .. } | Source::Url(_) => String::new(),
            } + &headers;
            format!("--form {}\"@\"{}{}", quoted(&format!("{name}=")), place(file), quoted_or_nothing(&suffix))
        }
    }
}

/// A header of a part, for `--form`.
fn header_suffix((name, value): &(HeaderName, HeaderValue)) -> String {
    let text = format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()));
    format!(";headers=\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Where the shell finds the content. Paths are relative to the file root.
fn place(file: &FileInput) -> String {
    match &file.source {
        Source::Path(path) => quoted(path),
        Source::Saved { path, .. } => quoted(&path.to_string_lossy()),
        Source::Url(url) => format!("<(curl {})", quoted(url.as_str())),
        Source::Inline { bytes, .. } if bytes.len() <= LONGEST_INLINE => {
            format!("<(echo {} | base64 -d)", STANDARD.encode(bytes))
        }
        Source::Inline { name, .. } => quoted(name),
    }
}

fn quoted_or_nothing(text: &str) -> String {
    if text.is_empty() { String::new() } else { quoted(text) }
}

/// Some characters of a token mean something to a shell (RFC 9110 section 5.6.2).
fn quoted_where_needed(token: &str) -> String {
    if token.chars().all(|c| c.is_ascii_alphanumeric()) { token.to_owned() } else { quoted(token) }
}

/// Single quotes for a POSIX shell: nothing inside is interpreted.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
