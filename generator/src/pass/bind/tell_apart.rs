//! Argument names that several would have.

use std::collections::{BTreeMap, BTreeSet};

use super::super::name::{MAX_ARGUMENT, cut};
use crate::model::tool::{Argument, Role};

/// Names that clash get their location appended, all of them alike. What still clashes is numbered: who had the name from
/// the start keeps it, and the others follow by their names on the wire, bodies by their media types, so that nothing
/// depends on the document's order.
pub(super) fn tell_apart(arguments: &mut [Argument]) {
    let plain: Vec<String> = arguments.iter().map(|argument| argument.name.clone()).collect();
    for indices in clashes(arguments) {
        for index in indices {
            let Some(argument) = arguments.get_mut(index) else { continue };
            argument.name = cut(&format!("{}_{}", argument.name, place(&argument.role)), MAX_ARGUMENT);
        }
    }
    let mut taken: BTreeSet<String> = arguments.iter().map(|argument| argument.name.clone()).collect();
    for mut indices in clashes(arguments) {
        indices.sort_by_key(|index| {
            let argument = arguments.get(*index);
            let media_type = argument.and_then(|it| media_type(&it.role)).map(str::to_owned);
            (argument.map(|it| &it.name) != plain.get(*index), argument.map(|it| it.wire_name.clone()), media_type)
        });
        for index in indices.into_iter().skip(1) {
            let Some(argument) = arguments.get_mut(index) else { continue };
            let mut numbered = (2..).map(|number| cut(&format!("{}_{number}", argument.name), MAX_ARGUMENT));
            if let Some(name) = numbered.find(|name| !taken.contains(name)) {
                taken.insert(name.clone());
                argument.name = name;
            }
        }
    }
}

/// The arguments of each name that several have, by name.
fn clashes(arguments: &[Argument]) -> Vec<Vec<usize>> {
    let mut holders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, argument) in arguments.iter().enumerate() {
        holders.entry(&argument.name).or_default().push(index);
    }
    holders.into_values().filter(|indices| indices.len() > 1).collect()
}

/// The word for where an argument goes.
pub(super) fn place(role: &Role) -> &'static str {
    match role {
        Role::Parameter { location, .. } => location.name(),
        Role::Body { .. } | Role::Member | Role::Alternative { .. } | Role::ContentType => "body",
        Role::Field { .. } => "field",
        Role::PartHeader { .. } => "header",
        Role::Exchange => "exchange",
        Role::Extra => "extra",
        Role::Paging => "paging",
        Role::Input => "input",
    }
}

fn media_type(role: &Role) -> Option<&str> {
    match role {
        Role::Body { media_type, .. } | Role::Alternative { media_type, .. } => Some(media_type),
        _ => None,
    }
}
