//! What holds between the files: every URI once, and prompts name resources that are there.

use std::collections::BTreeMap;

use super::prompt::MessageContent;
use super::text::{self, Piece};
use super::{Content, Spot, uri};
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::did_you_mean;

pub(super) fn check(content: &Content, sink: &mut Sink) {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for resource in &content.resources {
        if let Some(other) = seen.insert(uri::shape(&resource.uri), &resource.name) {
            let message = format!("`{other}` has this URI as well: {}", uri::template(&resource.uri));
            let place = resource.spot.place("/uri");
            sink.push(Diagnostic::error("uri-collision", message).at(place).help("give one of the two another URI"));
        }
    }
    for message in content.prompts.iter().flat_map(|prompt| &prompt.messages) {
        if let MessageContent::Read(uri, spot) = &message.content {
            is_there(content, uri, spot, sink);
        }
    }
}

/// A prompt reads what the server has: with a place, a template of the same form.
fn is_there(content: &Content, uri: &[Piece], spot: &Spot, sink: &mut Sink) {
    let has_places = text::places(uri).next().is_some();
    let (shape, text) = (uri::shape(uri), uri::template(uri));
    let fits = |template: &[Piece]| uri::shape(template) == shape || (!has_places && uri::may_match(template, &text));
    if content.resources.iter().any(|resource| fits(&resource.uri)) {
        return;
    }
    let known: Vec<String> = content.resources.iter().map(|resource| uri::template(&resource.uri)).collect();
    let help = did_you_mean(&text, known.iter().map(String::as_str)).unwrap_or_else(|| match known.as_slice() {
        [] => "there are no resources; add a file below `resources/`, or write `resource: { uri: .., text: .. }`"
            .to_owned(),
        known => format!("there are: {}", known.join(", ")),
    });
    let message = format!("no resource has the URI `{}`", text.escape_debug());
    sink.push(Diagnostic::error("unknown-resource", message).at(spot.place("")).help(help));
}
