//! Resource files.

use serde_json::Value;

use super::answer::{Answer, Completion};
use super::prompt::one_of;
use super::text::{self, Piece};
use super::{File, Fixed, RESOURCES, ROLES, Role, Spot, attached, check_name, uri};
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::did_you_mean;
use crate::load::language::{ANNOTATIONS, RESOURCE, names};
use crate::load::strict::Fields;
use crate::source::child_pointer;

/// What places in a resource stand for.
const WHAT: &str = "variables of the URI";

/// A resource, or a family of them.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) uri: Vec<Piece>,
    pub(crate) mime_type: Option<String>,
    pub(crate) annotations: Annotations,
    pub(crate) content: ResourceContent,
    /// By variable.
    pub(crate) completions: Vec<(String, Completion)>,
    /// The file.
    pub(super) spot: Spot,
}

/// Where the content comes from.
#[derive(Debug)]
pub(crate) enum ResourceContent {
    Fixed(Fixed),
    Answer(Answer),
}

/// Hints for clients.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Annotations {
    pub(crate) audience: Vec<Role>,
    pub(crate) priority: Option<f32>,
    pub(crate) last_modified: Option<String>,
}

impl Resource {
    /// Whether its URI has variables.
    pub(crate) fn is_template(&self) -> bool {
        text::places(&self.uri).next().is_some()
    }
}

pub(super) fn read(name: &str, value: &Value, file: &mut File<'_>, sink: &mut Sink) -> Option<Resource> {
    let fields = Fields::open(value, "", &names(RESOURCE), file.places, sink)?;
    check_name(RESOURCES, &fields, name, sink);
    fields.require("description", "<what the resource holds>", sink);
    fields.require("uri", "<scheme>://<..>", sink);
    let title = fields.string("title", sink);
    let description = fields.string("description", sink).unwrap_or_default().trim_end().to_owned();
    let annotations = annotations(&fields, sink);
    let uri = uri::read(&fields, file, sink)?;
    let variables: Vec<&str> = text::places(&uri).collect();
    let completions = completions(&fields, &variables, file, sink);
    let content = content(&fields, &variables, file, sink)?;
    unused(&variables, &content, &fields, sink);
    let by_content = match &content {
        ResourceContent::Fixed(Fixed::Text(_)) => Some("text/plain".to_owned()),
        ResourceContent::Fixed(Fixed::File(attached)) => Some(attached.mime_type.clone()),
        ResourceContent::Answer(_) => None,
    };
    let mime_type = attached::media_type(&fields, sink).or(by_content);
    let spot = file.spot("");
    let name = name.to_owned();
    Some(Resource { name, title, description, uri, mime_type, annotations, content, completions, spot })
}

fn content(fields: &Fields<'_>, known: &[&str], file: &mut File<'_>, sink: &mut Sink) -> Option<ResourceContent> {
    let chosen = one_of(fields, &["text", "file", "tool"], "a resource", sink)?;
    for key in ["arguments", "project"].into_iter().filter(|key| chosen != "tool" && fields.get(key).is_some()) {
        let error = Diagnostic::error("misplaced-key", format!("`{key}` belongs to a resource of a `tool`"));
        sink.push(error.at(fields.place(key)).help("remove it"));
    }
    Some(match chosen {
        "tool" => ResourceContent::Answer(Answer::read(fields, known, WHAT, file, sink)?),
        "file" => ResourceContent::Fixed(Fixed::File(attached::read(fields, file, sink)?)),
        _ => {
            let text = fields.string("text", sink)?;
            ResourceContent::Fixed(Fixed::Text(text::pieces(&text, known, WHAT, &fields.place("text"), sink)))
        }
    })
}

/// A variable that goes nowhere would give every URI the same content.
fn unused(variables: &[&str], content: &ResourceContent, fields: &Fields<'_>, sink: &mut Sink) {
    let used: Vec<&str> = match content {
        ResourceContent::Answer(answer) => answer.places().collect(),
        ResourceContent::Fixed(Fixed::Text(text)) => text::places(text).collect(),
        ResourceContent::Fixed(Fixed::File(_)) => Vec::new(),
    };
    for name in variables.iter().filter(|name| !used.contains(name)) {
        let message = format!("the variable `{{{name}}}` goes nowhere");
        let help = match content {
            ResourceContent::Answer(_) => format!("give it to the tool: `arguments: {{ <argument>: \"{{{name}}}\" }}`"),
            ResourceContent::Fixed(_) => "write it where the value belongs in `text`".to_owned(),
        };
        sink.push(Diagnostic::error("unused-variable", message).at(fields.place("uri")).help(help));
    }
}

fn completions(fields: &Fields<'_>, variables: &[&str], file: &File<'_>, sink: &mut Sink) -> Vec<(String, Completion)> {
    let base = fields.pointer_of("complete");
    let mut found = Vec::new();
    for (name, value) in fields.named("complete", sink) {
        let at = child_pointer(&base, name);
        if !variables.contains(&name.as_str()) {
            let help = did_you_mean(name, variables.iter().copied()).unwrap_or_else(|| match variables {
                [] => "the URI has no variables; write them in braces".to_owned(),
                variables => format!("the variables are: {}", variables.join(", ")),
            });
            let message = format!("the URI has no variable `{}`", name.escape_debug());
            sink.push(Diagnostic::error("unknown-variable", message).at((file.places)(&at)).help(help));
        }
        found.extend(Completion::read(value, &at, variables, WHAT, file, sink).map(|source| (name.clone(), source)));
    }
    found
}

fn annotations(fields: &Fields<'_>, sink: &mut Sink) -> Annotations {
    let Some(inner) = fields.child("annotations", &names(ANNOTATIONS), sink) else { return Annotations::default() };
    let priority = inner.get("priority").map(|value| value.as_f64().filter(|number| (0.0..=1.0).contains(number)));
    if priority == Some(None) {
        let error = Diagnostic::error("wrong-value", "`priority` is a number from 0 to 1");
        sink.push(error.at(inner.place("priority")).help("write one such as 0.5"));
    }
    Annotations {
        audience: inner.choices("audience", &ROLES, sink),
        // What is lost beyond the precision of a hint matters to nobody.
        #[allow(clippy::cast_possible_truncation)]
        priority: priority.flatten().map(|number| number as f32),
        last_modified: inner.string("last_modified", sink),
    }
}
