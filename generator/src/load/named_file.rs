//! Folders of files of ours that are found without being listed, each of which is named as what it makes.

use std::sync::Arc;

use serde_json::Value;

use super::Files;
use super::strict::Fields;
use crate::diagnostic::{Diagnostic, Place, Sink};
use crate::source::Source;

/// One kind of such files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// The folder below the server's.
    pub(super) folder: &'static str,
    /// What a file makes.
    pub(super) what: &'static str,
    /// Whether files in other formats stand beside those of ours.
    pub(super) has_others: bool,
}

impl Kind {
    /// Paths of the files of a server, sorted.
    pub(super) fn paths(self, files: &Files, dir: &str) -> Vec<String> {
        let is_ours = |path: &&str| !self.has_others || path.ends_with(".yaml") || path.ends_with(".yml");
        self.all(files, dir).filter(is_ours).map(str::to_owned).collect()
    }

    /// Paths of everything in the folder, sorted.
    pub(super) fn all<'f>(self, files: &'f Files, dir: &str) -> impl Iterator<Item = &'f str> {
        let inside = format!("{dir}/{}/", self.folder);
        files.paths().filter(move |path| path.starts_with(&inside))
    }

    /// Reads every file. One that is wrong costs only itself. `read` gets the name that the file gives.
    pub(super) fn read_all<T>(
        self,
        files: &Files,
        dir: &str,
        sink: &mut Sink,
        mut read: impl FnMut(&str, &Value, &Arc<Source>, &mut Sink) -> Option<T>,
    ) -> Vec<T> {
        let (mut names, mut found) = (Vec::new(), Vec::new());
        for path in self.paths(files, dir) {
            let stem = self.stem(&path, dir);
            let Some(stem) = stem.filter(|stem| !stem.contains('/')) else {
                let message =
                    format!("this file is not read: {} files stand directly in `{}/`", self.what, self.folder);
                sink.push(Diagnostic::warning("nested-file", message).at(Place::of_file(path)).help("move it up"));
                continue;
            };
            if names.contains(&stem) {
                let message = format!("two files name the {} `{stem}`", self.what);
                sink.push(
                    Diagnostic::error("name-collision", message).at(Place::of_file(path)).help("remove one of them"),
                );
                continue;
            }
            let Some(source) = Source::from_bytes(&path, files.get(&path).unwrap_or_default(), sink) else { continue };
            let source = Arc::new(source);
            if let Some(value) = source.read(sink) {
                found.extend(read(&stem, &value, &source, sink));
            }
            names.push(stem);
        }
        found
    }

    fn stem(self, path: &str, dir: &str) -> Option<String> {
        let name = path.strip_prefix(dir)?.strip_prefix('/')?.strip_prefix(self.folder)?.strip_prefix('/')?;
        Some(name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned())
    }

    /// One name, so that a thing is found by looking at the folder.
    pub(super) fn check_name(self, fields: &Fields<'_>, name: &str, sink: &mut Sink) {
        let written = fields.string("name", sink);
        if let Some(written) = written.filter(|written| written != name) {
            let message = format!("the {} is named `{written}`, its file `{name}`", self.what);
            let error = Diagnostic::error("file-name", message).at(fields.place("name"));
            sink.push(error.help(format!("rename the file to `{written}.yaml`, or write `name: {name}`")));
        }
    }
}
