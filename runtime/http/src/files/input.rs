//! Which of the five forms a file input has. Nothing is opened here.

use std::path::{Path, PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use reqwest::Url;
use toolwright_core::ToolError;

use super::{data_uri, refused, too_large};
use crate::{config::Config, media, saved::SavedFiles};

/// A file input, read from an argument and not opened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileInput {
    /// The argument that named it, for messages.
    pub(crate) argument: String,
    /// Where its bytes are.
    pub(crate) source: Source,
}

/// Where the bytes of a file input are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    /// In the argument.
    Inline { bytes: Bytes, media_type: String, is_typed: bool, name: String },
    /// At a path relative to the file root, its parts separated by `/`, none of them `.` or `..`.
    Path(String),
    /// The saved answer of that name, in the output folder.
    Saved { name: String, path: PathBuf },
    /// At a URL.
    Url(Url),
}

impl FileInput {
    /// Reads a file input.
    ///
    /// # Errors
    /// `file_refused` where the form is malformed or not allowed, `too_large` where the content is over the limit.
    pub(crate) fn parse(config: &Config, argument: &str, given: &str) -> Result<Self, ToolError> {
        let source = match scheme(given).as_deref() {
            Some("data") => data_uri::parse(given)
                .map_err(|why| refused(argument, why))
                .and_then(|decoded| limited(config, argument, decoded))?,
            Some("base64") => base64_text(config, argument, given)?,
            Some("http" | "https") => url(config, argument, given)?,
            Some("toolwright") => saved(config, argument, given)?,
            Some("file") => {
                return Err(refused(argument, "give the path alone, relative to the file root, without file:"));
            }
            Some(other) if given.contains("://") => {
                return Err(refused(argument, &format!("{other}:// cannot be read: {FORMS}")));
            }
            _ => path(config, argument, given)?,
        };
        Ok(FileInput { argument: argument.to_owned(), source })
    }
}

const FORMS: &str = "give a data: URI, base64: followed by the content, an http(s) URL where the server allows it, the toolwright:// URI of a saved answer, or a path below the file root";

/// The scheme in front of a colon, in lower case; a single letter is a drive, not a scheme.
fn scheme(given: &str) -> Option<String> {
    let (scheme, _) = given.get(..12.min(given.len())).unwrap_or(given).split_once(':')?;
    let is_scheme =
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    is_scheme.then(|| scheme.to_ascii_lowercase())
}

fn limited(config: &Config, argument: &str, decoded: data_uri::Decoded) -> Result<Source, ToolError> {
    if decoded.bytes.len() as u64 > config.max_upload_bytes {
        return Err(too_large(argument, config.max_upload_bytes));
    }
    let name = decoded.name.unwrap_or_else(|| format!("upload.{}", media::extension(&decoded.media_type)));
    let data_uri::Decoded { bytes, media_type, is_typed, .. } = decoded;
    Ok(Source::Inline { bytes: bytes.into(), media_type, is_typed, name })
}

fn base64_text(config: &Config, argument: &str, given: &str) -> Result<Source, ToolError> {
    let payload = given.split_once(':').map_or("", |(_, payload)| payload);
    if payload.len() as u64 / 4 * 3 > config.max_upload_bytes.saturating_add(2) {
        return Err(too_large(argument, config.max_upload_bytes));
    }
    let bytes = STANDARD.decode(payload).map_err(|error| refused(argument, &format!("not valid base64: {error}")))?;
    let decoded =
        data_uri::Decoded { bytes, media_type: "application/octet-stream".to_owned(), is_typed: false, name: None };
    limited(config, argument, decoded)
}

fn url(config: &Config, argument: &str, given: &str) -> Result<Source, ToolError> {
    if !config.file_urls {
        return Err(refused(
            argument,
            "this server reads no URLs (setting FILE_URLS); send the content as a data: URI or put the file below the file root",
        ));
    }
    let url = Url::parse(given).map_err(|_| refused(argument, "not a valid URL"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused(argument, "a URL must not carry a user name or password"));
    }
    Ok(Source::Url(url))
}

/// The answer of an earlier call, by the URI that its result and the list of resources have for it: what may be read as a
/// resource may be sent as well, and nothing else of the output folder.
fn saved(config: &Config, argument: &str, given: &str) -> Result<Source, ToolError> {
    let found = SavedFiles::new(config).located(given);
    let (name, path) = found.ok_or_else(|| {
        refused(argument, "no saved answer of this server has this URI; take it from resource_uri of a result")
    })?;
    Ok(Source::Saved { name, path })
}

/// A path relative to the file root. An absolute path, or one below the home folder as `~/…`, is taken where it begins
/// with the root as configured.
fn path(config: &Config, argument: &str, given: &str) -> Result<Source, ToolError> {
    let expanded = from_home(given, std::env::home_dir());
    let given = expanded.as_deref().unwrap_or(given);
    let relative = if Path::new(given).is_absolute() {
        let below = Path::new(given).strip_prefix(&config.file_root).ok().and_then(Path::to_str);
        below.ok_or_else(|| {
            refused(argument, "an absolute path must lie below the file root; give it relative to that root")
        })?
    } else {
        given
    };
    let parts: Vec<&str> = relative.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.is_empty() {
        return Err(refused(argument, FORMS));
    }
    if parts.contains(&"..") {
        return Err(refused(argument, "a path must not leave the file root: `..` is not allowed"));
    }
    if relative.contains('\0') || cfg!(windows) && relative.contains(['\\', ':']) {
        return Err(refused(argument, "the path has characters that no file name can hold"));
    }
    Ok(Source::Path(parts.join("/")))
}

/// `~/…` with the home folder in place of `~`, as a shell has it.
pub(super) fn from_home(given: &str, home: Option<PathBuf>) -> Option<String> {
    let path = home.filter(|home| home.is_absolute())?.join(given.strip_prefix("~/")?.trim_start_matches('/'));
    path.into_os_string().into_string().ok()
}
