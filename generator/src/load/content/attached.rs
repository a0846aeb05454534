//! Files beside those of ours: the content of a resource, or an image in a prompt.

use super::{File, PROMPTS, RESOURCES};
use crate::diagnostic::{Diagnostic, Place, Sink};
use crate::load::files::join;
use crate::load::strict::Fields;
use crate::load::{Files, did_you_mean};

/// Media types by the ends of names.
const MEDIA_TYPES: [(&str, &str); 22] = [
    ("csv", "text/csv"),
    ("css", "text/css"),
    ("gif", "image/gif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("mp3", "audio/mpeg"),
    ("ogg", "audio/ogg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("sql", "application/sql"),
    ("svg", "image/svg+xml"),
    ("toml", "application/toml"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("webp", "image/webp"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
];

/// A file that becomes part of the server.
#[derive(Debug)]
pub(crate) struct Attached {
    /// Its path below the server's folder, such as `resources/guide.md`.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) mime_type: String,
    /// Whether it is text by type and by content.
    pub(crate) is_text: bool,
}

/// Reads `file` with its `mime_type`. `None` where there is none, or where it cannot be read, which is reported.
pub(super) fn read(fields: &Fields<'_>, file: &mut File<'_>, sink: &mut Sink) -> Option<Attached> {
    let name = fields.string("file", sink)?;
    let inside = format!("{}/{}/", file.dir, file.kind.folder);
    let path = join(&inside, &name).filter(|path| path.starts_with(&inside));
    let found = path.and_then(|path| Some((file.files.get(&path)?, path)));
    let Some((bytes, path)) = found else {
        let near =
            did_you_mean(&name, file.kind.all(file.files, file.dir).filter_map(|path| path.strip_prefix(&inside)));
        let help =
            near.unwrap_or_else(|| format!("the path is relative to `{}/`, and leads nowhere else", file.kind.folder));
        let message = format!("there is no file `{}`", name.escape_debug());
        sink.push(Diagnostic::error("missing-file", message).at(fields.place("file")).help(help));
        return None;
    };
    file.used.push(path.clone());
    let end = name.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
    let by_name =
        || MEDIA_TYPES.iter().find(|(known, _)| *known == end).map(|(_, media_type)| (*media_type).to_owned());
    let Some(mime_type) = media_type(fields, sink).or_else(by_name) else {
        let message = format!("nothing says what `{}` is", name.escape_debug());
        let help = "add `mime_type: <its media type>`";
        sink.push(Diagnostic::error("missing-key", message).at(fields.place("file")).help(help));
        return None;
    };
    let is_text = is_textual(&mime_type) && std::str::from_utf8(bytes).is_ok();
    let path = path.strip_prefix(file.dir).map_or(path.as_str(), |path| path.trim_start_matches('/')).to_owned();
    Some(Attached { path, bytes: bytes.to_vec(), mime_type, is_text })
}

/// `mime_type`, where it is one (RFC 6838, section 4.2).
pub(super) fn media_type(fields: &Fields<'_>, sink: &mut Sink) -> Option<String> {
    let text = fields.string("mime_type", sink)?;
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    let is_token = |part: &str| {
        let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-' | b'_');
        !part.is_empty() && part.bytes().all(fits)
    };
    if !essence.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype)) {
        let error = Diagnostic::error("wrong-value", format!("`{}` is no media type", text.escape_debug()));
        sink.push(error.at(fields.place("mime_type")).help("write one such as `text/markdown`"));
        return None;
    }
    Some(text)
}

fn is_textual(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim_end();
    let end = essence.rsplit(['/', '+']).next().unwrap_or_default();
    essence.starts_with("text/") || matches!(end, "json" | "xml" | "yaml" | "toml" | "sql")
}

/// A file that was put there and is never named changes nothing, which nobody would see.
pub(super) fn unused(files: &Files, dir: &str, used: &[String], sink: &mut Sink) {
    for kind in [PROMPTS, RESOURCES] {
        let ours = kind.paths(files, dir);
        for path in kind.all(files, dir).filter(|path| !ours.iter().chain(used).any(|known| known == path)) {
            let help = format!("name it by `file:` in a {} file, or remove it", kind.what);
            let message = "no file names this one, and it is not used";
            sink.push(Diagnostic::warning("unused-file", message).at(Place::of_file(path)).help(help));
        }
    }
}
