//! Which tools are listed, which are only reached through the gateway, and which may be called at all.

use toolwright_core::{Catalog, Code, ServerSpec, ToolError, ToolSpec};

use crate::gateway;
use crate::settings::{Exposed, Names, Settings};

/// The frozen answer to "listed?" and "allowed?" for every row, in the catalog's order.
#[derive(Debug)]
pub(crate) struct Exposure {
    catalog: &'static Catalog,
    listed: Box<[bool]>,
    policy: Policy,
}

/// What the operator allows, whatever is listed.
#[derive(Debug)]
struct Policy {
    read_only: bool,
    allow: Vec<String>,
    deny: Vec<String>,
}

impl Exposure {
    /// The exposure that the settings ask for. Names must have been checked by [`unknown_operations`] and
    /// [`unknown_callable`]; others match nothing.
    pub(crate) fn new(server: &ServerSpec, catalog: &'static Catalog, settings: &Settings) -> Self {
        let listed = |name: &str| match &settings.exposed_tools {
            Exposed::Preset => server.preset.contains(&name),
            Exposed::Nothing => false,
            Exposed::Everything => true,
            Exposed::Named(names) => names.iter().any(|known| known == name),
        };
        Exposure {
            catalog,
            listed: catalog.tools().iter().map(|row| listed(row.name)).collect(),
            policy: Policy {
                read_only: settings.read_only.0,
                allow: settings.allow.0.clone(),
                deny: settings.deny.0.clone(),
            },
        }
    }

    /// The row of that name, if it is listed.
    pub(crate) fn find_listed(&self, name: &str) -> Option<&'static ToolSpec> {
        let row = self.catalog.find(name)?;
        self.is_listed(row).then_some(row)
    }

    /// True where the row is in `tools/list`, or would be if the operator allowed its call.
    pub(crate) fn is_listed(&self, row: &ToolSpec) -> bool {
        let index = self.catalog.tools().binary_search_by(|known| known.name.cmp(row.name));
        index.ok().and_then(|index| self.listed.get(index)).copied().unwrap_or(false)
    }

    /// The listed rows that may be called, in the order of the document: path, then method.
    pub(crate) fn listed(&self) -> Vec<&'static ToolSpec> {
        let rows = self.catalog.tools().iter().zip(&self.listed);
        let mut rows: Vec<_> = rows.filter(|(_, listed)| **listed).map(|(row, _)| row).collect();
        rows.retain(|row| self.admit(row).is_ok());
        rows.sort_by_key(|row| document_order(row));
        rows
    }

    /// The rows that are not listed and may be called, sorted by name.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = &'static ToolSpec> {
        let rows = self.catalog.tools().iter().zip(&self.listed);
        rows.filter(|(row, listed)| !**listed && self.admit(row).is_ok()).map(|(row, _)| row)
    }

    /// Whether an operation may be called.
    ///
    /// # Errors
    /// `not_allowed`, naming the setting.
    pub(crate) fn admit(&self, row: &ToolSpec) -> Result<(), ToolError> {
        self.policy.admit(row.name, row.risk.leaves_state())
    }

    /// Whether a tool outside the catalog may be called; `leaves_state` is what this call would do.
    ///
    /// # Errors
    /// As [`Exposure::admit`].
    pub(crate) fn admit_extra(&self, name: &str, leaves_state: bool) -> Result<(), ToolError> {
        self.policy.admit(name, leaves_state)
    }

    /// True where calls that change state are refused.
    pub(crate) fn is_read_only(&self) -> bool {
        self.policy.read_only
    }
}

impl Policy {
    fn admit(&self, name: &str, leaves_state: bool) -> Result<(), ToolError> {
        let named = |names: &[String]| names.iter().any(|known| known == name);
        let refusal = if named(&self.deny) {
            "is on this server's list of denied tools"
        } else if !self.allow.is_empty() && !named(&self.allow) {
            "is not on this server's list of allowed tools"
        } else if self.read_only && !leaves_state {
            "changes state, and this server is read-only"
        } else {
            return Ok(());
        };
        Err(ToolError::new(Code::NotAllowed, format!("{name} {refusal}; only the operator can change that")))
    }
}

/// Path, then method in the order of the OpenAPI specification's path item.
fn document_order(row: &ToolSpec) -> (&'static str, usize, &'static str) {
    const METHODS: [&str; 8] = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"];
    let method = METHODS.iter().position(|method| *method == row.declared.method).unwrap_or(METHODS.len());
    (row.declared.path, method, row.name)
}

/// Names that are no operations, sorted: only operations can be listed.
pub(crate) fn unknown_operations(exposed: &Exposed, catalog: &Catalog) -> Vec<String> {
    match exposed {
        Exposed::Named(names) => unknown(names, |name| catalog.find(name).is_some()),
        Exposed::Preset | Exposed::Nothing | Exposed::Everything => Vec::new(),
    }
}

/// Names that are no tools, sorted. The fixed ones are refused elsewhere, with another reason.
pub(crate) fn unknown_callable(names: &Names, catalog: &Catalog) -> Vec<String> {
    let is_known =
        |name: &str| catalog.find(name).is_some() || gateway::EXTRA_TOOLS.contains(&name) || gateway::is_fixed(name);
    unknown(&names.0, is_known)
}

fn unknown(names: &[String], is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let mut unknown: Vec<String> = names.iter().filter(|name| !is_known(name)).cloned().collect();
    unknown.sort();
    unknown
}
