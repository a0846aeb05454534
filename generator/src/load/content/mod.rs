//! Prompts and resources: `specs/<server>/prompts/*.yaml` and `specs/<server>/resources/*.yaml`, one a file.
//!
//! A file beside them can be the content of a resource, or an image in a prompt. What names tools is checked when those
//! are known, by the pass `content`.

mod answer;
mod attached;
mod check;
mod prompt;
mod resource;
mod text;
mod uri;

use std::sync::Arc;

pub(crate) use answer::{Answer, Completion, Given};
pub(crate) use attached::Attached;
pub(crate) use prompt::{Message, MessageContent, Prompt, PromptArgument};
pub(crate) use resource::{Annotations, Resource, ResourceContent};
pub(crate) use text::Piece;
pub(crate) use uri::template;

use super::Files;
use super::is_tool_name;
use super::named_file::Kind;
use super::strict::{Fields, Places};
use crate::diagnostic::{Diagnostic, Place, Sink};
use crate::source::Source;

const PROMPTS: Kind = Kind { folder: "prompts", what: "prompt", has_others: true };
const RESOURCES: Kind = Kind { folder: "resources", what: "resource", has_others: true };

/// Longest name of an argument or a variable.
const MAX_NAME: usize = 64;

/// What a server offers beside its tools, each list sorted by name.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) resources: Vec<Resource>,
}

/// Who says a message, or whom something is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    Assistant,
}

/// The words for it.
const ROLES: [(&str, Role); 2] = [("user", Role::User), ("assistant", Role::Assistant)];

/// Content that a file has.
#[derive(Debug)]
pub(crate) enum Fixed {
    Text(Vec<Piece>),
    File(Attached),
}

/// Where something stands, for findings that come later.
#[derive(Debug, Clone)]
pub(crate) struct Spot {
    source: Arc<Source>,
    pointer: String,
}

impl Spot {
    /// The place of what stands at `inside` below it.
    pub(crate) fn place(&self, inside: &str) -> Place {
        self.source.place(&format!("{}{inside}", self.pointer))
    }
}

impl Content {
    /// Reads all files of a server. One that is wrong costs only itself.
    pub(super) fn read(files: &Files, dir: &str, sink: &mut Sink) -> Self {
        let mut used = Vec::new();
        let prompts = PROMPTS.read_all(files, dir, sink, |name, value, source, sink| {
            let mut file = File { kind: PROMPTS, files, dir, source, places: &|at| source.place(at), used: &mut used };
            prompt::read(name, value, &mut file, sink)
        });
        let resources = RESOURCES.read_all(files, dir, sink, |name, value, source, sink| {
            let mut file =
                File { kind: RESOURCES, files, dir, source, places: &|at| source.place(at), used: &mut used };
            resource::read(name, value, &mut file, sink)
        });
        attached::unused(files, dir, &used, sink);
        let content = Content { prompts, resources };
        check::check(&content, sink);
        content
    }

    /// Every file that becomes part of the server; some may come more than once.
    pub(crate) fn attached(&self) -> impl Iterator<Item = &Attached> {
        let said =
            self.prompts.iter().flat_map(|prompt| &prompt.messages).filter_map(|message| match &message.content {
                MessageContent::Text(Fixed::File(file)) | MessageContent::Media(file) => Some(file),
                MessageContent::Embedded { content: Fixed::File(file), .. } => Some(file),
                _ => None,
            });
        let held = self.resources.iter().filter_map(|resource| match &resource.content {
            ResourceContent::Fixed(Fixed::File(file)) => Some(file),
            _ => None,
        });
        said.chain(held)
    }
}

/// Paths of the files that are a prompt or a resource each.
pub(super) fn paths(files: &Files, dir: &str) -> Vec<String> {
    [PROMPTS, RESOURCES].into_iter().flat_map(|kind| kind.paths(files, dir)).collect()
}

/// A file that is being read.
struct File<'a> {
    kind: Kind,
    files: &'a Files,
    dir: &'a str,
    source: &'a Arc<Source>,
    places: Places<'a>,
    /// Paths of files that some file of ours names.
    used: &'a mut Vec<String>,
}

impl File<'_> {
    fn spot(&self, pointer: &str) -> Spot {
        Spot { source: Arc::clone(self.source), pointer: pointer.to_owned() }
    }
}

/// The name that the file gives, where it can be one.
fn check_name(kind: Kind, fields: &Fields<'_>, name: &str, sink: &mut Sink) {
    kind.check_name(fields, name, sink);
    if !is_tool_name(name) {
        let message = format!("`{}` is no name of a {}", name.escape_debug(), kind.what);
        let help = "rename the file: small letters, digits and `_`, first a letter, at most 48 characters";
        sink.push(Diagnostic::error("file-name", message).at(fields.place_at("")).help(help));
    }
}

/// Whether a text can name an argument of a prompt or a variable of a URI.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.len() <= MAX_NAME
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
