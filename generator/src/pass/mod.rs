//! The passes, in their order. Each reads and writes the model, and reports into the sink.

mod account;
pub(crate) mod bind;
mod content;
mod describe;
mod discriminator;
mod freeze;
mod hints;
mod lint;
mod lower;
pub(crate) mod name;
mod progress;
mod prune;
mod read;
mod recursion;
pub(crate) mod select;
mod simplify;
mod steps;

use std::collections::BTreeMap;

use crate::diagnostic::Sink;
use crate::model::Model;
use crate::model::schema::Schema;
pub(crate) use crate::source::child_pointer as join;

/// Runs every pass.
pub(crate) fn run(model: &mut Model, sink: &mut Sink) {
    read::read(model, sink);
    lower::lower(model, sink);
    discriminator::discriminate(model, sink);
    name::name(model, sink);
    select::declare(model, sink);
    simplify::simplify(model, sink);
    progress::progress(model, sink);
    recursion::recursion(model);
    bind::bind(model, sink);
    steps::steps(model, sink);
    select::restrict(model, sink);
    freeze::leave_out_wide(model, sink);
    content::content(model, sink);
    prune::prune(model, sink);
    account::account(model, sink);
    describe::describe(model, sink);
    hints::hints(model, sink);
    lint::lint(model, sink);
    freeze::freeze(model, sink);
    select::expose(model, sink);
}

/// Runs the passes that look at the document alone.
pub(crate) fn look_over(model: &mut Model, sink: &mut Sink) {
    read::read(model, sink);
    lower::lower(model, sink);
}

/// Types that some tool takes, directly or inside another type, by name.
pub(crate) fn sent_types<'m>(model: &'m Model) -> BTreeMap<&'m str, &'m Schema> {
    let arguments = model.tools.iter().flat_map(|tool| &tool.arguments).map(|argument| &argument.schema);
    reached_from(model, arguments)
}

/// Types that these schemas refer to, directly or through others.
pub(crate) fn reached_from<'m>(
    model: &'m Model,
    roots: impl Iterator<Item = &'m Schema>,
) -> BTreeMap<&'m str, &'m Schema> {
    let mut found: BTreeMap<&str, &Schema> = BTreeMap::new();
    let mut open: Vec<&Schema> = roots.collect();
    while let Some(schema) = open.pop() {
        let mut names: Vec<&str> = Vec::new();
        schema.walk(&mut |inner| names.extend(inner.reference.as_deref()));
        for name in names {
            if let Some((name, target)) = model.types.get_key_value(name)
                && found.insert(name, target).is_none()
            {
                open.push(target);
            }
        }
    }
    found
}

pub(crate) use read::is_reserved_header;
pub(crate) use recursion::cycles;
