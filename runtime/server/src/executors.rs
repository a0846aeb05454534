//! Calls of tools that a linked executor carries out.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolwright_core::{
    Code, Configuration, Envelope, Executor, Held, LinkedBinding, LinkedTool, Secrets, ToolError, ToolSpec,
};
use toolwright_http::CallContext;

use crate::native::{Surrounding, guarded};
use crate::settings::{Problem, Tables};

/// The executors of a server, with what their calls need.
pub(crate) struct Executors {
    all: Vec<Box<dyn Executor>>,
    surrounding: Surrounding,
}

impl Executors {
    pub(crate) fn new(all: Vec<Box<dyn Executor>>, surrounding: Surrounding) -> Self {
        Executors { all, surrounding }
    }

    /// Carries out a call whose arguments are checked. Every outcome is an envelope, a panic of the executor too.
    pub(crate) async fn execute(
        &self,
        row: &'static ToolSpec,
        linked: LinkedBinding,
        arguments: Map<String, Value>,
        context: &CallContext,
    ) -> Envelope {
        let executor = match self.find(row, linked.executor) {
            Ok(executor) => executor,
            Err(error) => return Envelope::failure(error),
        };
        let tool = LinkedTool { row, plan: linked.plan };
        let context = &context.part(&format!("{} {}", linked.executor, row.name));
        let seen = self.surrounding.of(context);
        let called = guarded(row, context, async { executor.call(tool, arguments, &seen).await });
        let envelope = called.await.unwrap_or_else(Envelope::failure);
        if let Some(code) = envelope.code() {
            context.observed.failed(code.name());
        }
        envelope
    }

    /// What a call would do, as text.
    ///
    /// # Errors
    /// Why there would be none.
    pub(crate) fn explain(
        &self,
        row: &'static ToolSpec,
        linked: LinkedBinding,
        arguments: &Map<String, Value>,
        context: &CallContext,
    ) -> Result<String, ToolError> {
        let tool = LinkedTool { row, plan: linked.plan };
        self.find(row, linked.executor)?.explain(tool, arguments, &self.surrounding.of(context))
    }

    /// Whether each tool that an executor carries out can be called here and now: kind, name, what is said. One kind after
    /// another, each in the order of the catalog.
    pub(crate) async fn examine(
        &self,
        rows: impl Iterator<Item = &'static ToolSpec>,
        context: &CallContext,
    ) -> Vec<(&'static str, &'static str, Result<String, String>)> {
        let mut found = Vec::new();
        let mut tools: Vec<_> = rows.filter_map(ToolSpec::linked).collect();
        tools.sort_by_key(|(kind, _)| *kind);
        for (kind, tool) in tools {
            let seen = self.surrounding.of(context);
            let said = match self.find(tool.row, kind) {
                Ok(executor) => executor.examine(tool, &seen).await,
                Err(error) => Err(error.message),
            };
            found.push((kind, tool.row.name, said));
        }
        found
    }

    /// The tables of the file that none of them reads.
    pub(crate) fn unread<'a>(&self, tables: &'a Tables) -> Vec<&'a str> {
        let is_read = |name: &str| self.all.iter().any(|executor| executor.kind() == name);
        tables.names().into_iter().filter(|name| !is_read(name)).collect()
    }

    /// What holds for each of them, by their words.
    pub(crate) fn held(&self) -> impl Iterator<Item = (&'static str, Vec<Held>)> {
        self.all.iter().map(|executor| (executor.kind(), executor.held()))
    }

    fn find(&self, row: &ToolSpec, kind: &str) -> Result<&dyn Executor, ToolError> {
        let found = self.all.iter().find(|executor| executor.kind() == kind);
        found.map(AsRef::as_ref).ok_or_else(|| {
            let message = format!("{} is carried out by `{kind}`, which is not a part of this program", row.name);
            ToolError::new(Code::NotAllowed, message)
        })
    }
}

/// Tells each executor what the operator says to it.
///
/// # Errors
/// Everything that is wrong with their tables.
pub(crate) fn configure(
    executors: &mut [Box<dyn Executor>],
    tables: &Tables,
    secrets: &Arc<impl Secrets + 'static>,
) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    for executor in executors {
        let secrets: Arc<dyn Secrets> = secrets.clone();
        let configuration = Configuration { table: tables.get(executor.kind()), secrets };
        let unwritable = tables.unwritable(executor.kind());
        problems.extend(unwritable.iter().map(|value| Problem::new(tables.place(&value.field()), value.message)));
        let faults = executor.configure(configuration).err().into_iter().flatten();
        // The executor saw something else in the place of such a value, so that its own words on it would be wrong.
        for fault in faults.filter(|fault| !unwritable.iter().any(|value| value.holds(&fault.field))) {
            problems.push(Problem::new(tables.place(&fault.field), fault.message));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

#[cfg(test)]
mod tests;
