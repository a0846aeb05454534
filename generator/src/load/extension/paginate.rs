//! `paginate` of an operation.

use super::{NextPage, Pagination};
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::strict::Fields;

const WAYS: [&str; 4] = ["link", "cursor", "offset", "page"];

/// Reads it; one way to the next page, and where the list is.
pub(super) fn paginate(fields: &Fields<'_>, sink: &mut Sink) -> Option<Pagination> {
    let paginate = fields.child("paginate", &["link", "cursor", "offset", "page", "items"], sink)?;
    let given: Vec<&str> = WAYS.into_iter().filter(|way| paginate.get(way).is_some()).collect();
    if given.len() != 1 {
        let message = format!("`paginate` names {} ways to the next page", given.len());
        let help = "write one of `link: true`, `cursor: {answer: /next, argument: cursor}`, \
                    `offset: {argument: offset}` and `page: {argument: page}`";
        sink.push(Diagnostic::error("wrong-value", message).at(fields.place("paginate")).help(help));
        return None;
    }
    let items = pointer(&paginate, "items", sink).unwrap_or_default();
    let next = match given.first().copied()? {
        "link" => link(&paginate, sink),
        "cursor" => cursor(&paginate, sink),
        "offset" => offset(&paginate, sink),
        _ => page(&paginate, sink),
    }?;
    Some(Pagination { items, next })
}

fn link(paginate: &Fields<'_>, sink: &mut Sink) -> Option<NextPage> {
    if paginate.boolean("link", sink)? {
        return Some(NextPage::Link);
    }
    let error = Diagnostic::error("wrong-value", "`link: false` is no way to the next page");
    sink.push(error.at(paginate.place("link")).help("write `link: true`, or remove `paginate`"));
    None
}

fn cursor(paginate: &Fields<'_>, sink: &mut Sink) -> Option<NextPage> {
    let cursor = paginate.child("cursor", &["answer", "argument"], sink)?;
    cursor.require("answer", "/next_cursor", sink);
    cursor.require("argument", "<the parameter that takes it>", sink);
    Some(NextPage::Cursor { answer: pointer(&cursor, "answer", sink)?, argument: cursor.string("argument", sink)? })
}

fn offset(paginate: &Fields<'_>, sink: &mut Sink) -> Option<NextPage> {
    let offset = paginate.child("offset", &["argument", "size_argument"], sink)?;
    offset.require("argument", "<the parameter that says how many to leave out>", sink);
    Some(NextPage::Offset { argument: offset.string("argument", sink)?, size: offset.string("size_argument", sink) })
}

fn page(paginate: &Fields<'_>, sink: &mut Sink) -> Option<NextPage> {
    let page = paginate.child("page", &["argument", "size_argument", "first"], sink)?;
    page.require("argument", "<the parameter that holds the number of the page>", sink);
    let first = match page.get("first") {
        Some(first) if first.as_u64() == Some(0) => Some(0),
        _ => page.positive("first", 1, sink).map(|_| 1),
    };
    Some(NextPage::Page { argument: page.string("argument", sink)?, size: page.string("size_argument", sink), first })
}

/// A JSON pointer (RFC 6901).
fn pointer(fields: &Fields<'_>, key: &str, sink: &mut Sink) -> Option<String> {
    let pointer = fields.string(key, sink)?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        let error = Diagnostic::error("wrong-value", format!("`{}` is no JSON pointer", pointer.escape_debug()));
        sink.push(error.at(fields.place(key)).help(format!("write `/{}`", pointer.replace('.', "/"))));
        return None;
    }
    Some(pointer)
}
