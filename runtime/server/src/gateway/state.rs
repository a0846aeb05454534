//! What the gateway makes on first use and keeps.

use std::sync::OnceLock;

use toolwright_core::arguments::Checker;
use toolwright_core::{Envelope, ToolError, ToolSpec};

use super::{FIXED, LISTED, fixed::Fixed};
use crate::App;
use crate::search::{Document, Index};

/// What the gateway makes on first use and keeps.
#[derive(Debug, Default)]
pub(crate) struct Gateway {
    finder: OnceLock<Finder>,
    /// In the order of [`FIXED`].
    checkers: [OnceLock<Checker>; FIXED.len()],
    /// What the audit says without network: the same as long as the server runs.
    pub(super) audit: OnceLock<Envelope>,
}

/// The search index and what its documents stand for.
#[derive(Debug)]
struct Finder {
    index: Index,
    targets: Vec<Target>,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    /// An operation.
    Operation(&'static ToolSpec),
    /// One of the hidden extra tools.
    Extra(&'static Fixed),
}

impl Target {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Target::Operation(row) => row.name,
            Target::Extra(fixed) => fixed.name,
        }
    }

    /// Whether it may be called at all.
    pub(super) fn is_admitted(&self, app: &App) -> bool {
        match self {
            Target::Operation(row) => app.exposure.admit(row).is_ok(),
            Target::Extra(fixed) => app.exposure.admit_extra(fixed.name, true).is_ok(),
        }
    }
}

impl Gateway {
    /// The tools that the query finds and that may be called, best first.
    pub(super) fn find(&self, app: &App, query: &str) -> Vec<Target> {
        let finder = self.finder.get_or_init(|| Finder::new(app));
        let hits = finder.index.search(query);
        let targets = hits.iter().filter_map(|hit| finder.targets.get(hit.document).copied());
        targets.filter(|target| target.is_admitted(app)).collect()
    }

    /// The compiled schema of a fixed tool.
    pub(super) fn checker(&self, app: &App, fixed: &Fixed) -> Result<&Checker, ToolError> {
        let place = FIXED.iter().position(|known| known.name == fixed.name);
        let cell =
            place.and_then(|place| self.checkers.get(place)).ok_or_else(|| ToolError::invalid("no such tool"))?;
        if let Some(checker) = cell.get() {
            return Ok(checker);
        }
        let checker = fixed.checker(app)?;
        Ok(cell.get_or_init(|| checker))
    }
}

impl Finder {
    fn new(app: &App) -> Self {
        let mut targets: Vec<Target> = app.catalog.tools().iter().map(Target::Operation).collect();
        targets.extend(FIXED.iter().skip(LISTED).map(|fixed| Target::Extra(fixed)));
        let documents: Vec<Document> = targets.iter().map(|target| document(app, target)).collect();
        Finder { index: Index::new(&documents), targets }
    }
}

fn document(app: &App, target: &Target) -> Document {
    match target {
        Target::Operation(row) => Document::of(row),
        Target::Extra(fixed) => Document {
            name: fixed.name.into(),
            title: fixed.title(app).into(),
            summary: fixed.description(app).into(),
            fields: fixed.arguments.iter().map(|argument| argument.name.to_owned()).collect(),
            tags: fixed.tags.iter().map(|tag| (*tag).to_owned()).collect(),
            changes: !fixed.risk.leaves_state(),
            ..Document::default()
        },
    }
}
