//! The one model that every document lowers into: close to JSON Schema 2020-12, no OpenAPI types, no Rust names.

pub(crate) mod operation;
pub(crate) mod schema;
pub(crate) mod tool;

use std::collections::{BTreeMap, BTreeSet};

use crate::access::Setting;
use crate::ledger::Ledger;
use crate::load::LoadedServer;
use operation::Operation;
use schema::Schema;
use tool::Tool;

/// A server on its way from document to crates. Passes fill it from top to bottom.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    /// What was loaded: settings, document, and the way back to lines and columns.
    pub(crate) loaded: &'a LoadedServer,
    /// Operations of the document, sorted by path and method. Filled by `read`.
    pub(crate) operations: Vec<Operation>,
    /// Schemas that others refer to, by name. Filled by `lower`.
    pub(crate) types: BTreeMap<String, Schema>,
    /// Names of types that reach themselves. Filled by `recursion`.
    pub(crate) recursive: BTreeSet<String>,
    /// One tool per operation, sorted by name. Filled by `bind`.
    pub(crate) tools: Vec<Tool>,
    /// Settings that hidden arguments are taken from, by key. Filled by `bind`.
    pub(crate) hidden_settings: Vec<Setting>,
    /// Names of the tools that are listed by default, in order. Filled by `select`.
    pub(crate) exposed: Vec<String>,
    /// What became of every part of the document.
    pub(crate) ledger: Ledger,
}

impl<'a> Model<'a> {
    pub(crate) fn new(loaded: &'a LoadedServer) -> Self {
        Model {
            loaded,
            operations: Vec::new(),
            types: BTreeMap::new(),
            recursive: BTreeSet::new(),
            tools: Vec::new(),
            hidden_settings: Vec::new(),
            exposed: Vec::new(),
            ledger: Ledger::default(),
        }
    }

    /// The tools by the pointer of their operation.
    pub(crate) fn tools_by_operation(&self) -> BTreeMap<&str, &Tool> {
        self.tools.iter().map(|tool| (tool.origin.as_str(), tool)).collect()
    }

    /// The schema behind a schema: follows references until something else stands there.
    pub(crate) fn resolve<'s>(&'s self, schema: &'s Schema) -> &'s Schema {
        let mut current = schema;
        for _ in 0..32 {
            match current.reference.as_deref().and_then(|name| self.types.get(name)) {
                Some(next) => current = next,
                None => return current,
            }
        }
        current
    }
}
