//! `execute_additional_tool`: calls a hidden tool on the same path as a listed one.

use serde_json::{Map, Value};
use toolwright_core::fixed::EXECUTE_ADDITIONAL_TOOL;
use toolwright_core::{Code, Envelope, ToolError, ToolSpec};
use toolwright_http::CallContext;

use super::{FIXED, LISTED, fixed::Fixed, is_fixed, probe_safe_endpoints, raw_request, state::Target};
use crate::App;

pub(super) const TOOL: Fixed = Fixed(&EXECUTE_ADDITIONAL_TOOL);

/// The envelope of the called tool, or a refusal of the same shape.
pub(super) async fn call(app: &App, arguments: Map<String, Value>, context: &CallContext) -> Envelope {
    let mut accepted = match TOOL.check(app, arguments) {
        Ok(accepted) => accepted,
        Err(refused) => return *refused,
    };
    let name = accepted.arguments.get("tool_name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Some(Value::Object(given)) = accepted.arguments.remove("arguments") else {
        return Envelope::failure(ToolError::invalid("`arguments` must be an object"));
    };
    let part = |name: &str| context.part(&format!("tool {name}"));
    let mut envelope = match app.catalog.find(&name) {
        Some(row) if app.exposure.is_listed(row) && app.exposure.admit(row).is_ok() => directly(row),
        // The calls are large and rarely needed both: boxed, they do not add up in this future.
        Some(row) => Box::pin(app.operation(row, given, &part(row.name))).await,
        None if name == raw_request::TOOL.name => {
            Box::pin(raw_request::call(app, given, &part(raw_request::TOOL.name))).await
        }
        None if name == probe_safe_endpoints::TOOL.name => {
            Box::pin(probe_safe_endpoints::call(app, given, &part(probe_safe_endpoints::TOOL.name))).await
        }
        None => unknown(app, &name),
    };
    envelope.warnings.splice(0..0, accepted.warnings);
    envelope
}

fn directly(row: &ToolSpec) -> Envelope {
    let message = format!("{0} is listed: call {0} itself, with the same arguments", row.name);
    let mut envelope = Envelope::failure(ToolError::new(Code::CallDirectly, message));
    envelope.extra.insert("tool_name".into(), row.name.into());
    envelope
}

/// The refusal of a name that no hidden tool has, with the names that come closest.
pub(super) fn unknown(app: &App, name: &str) -> Envelope {
    let shown: String = name.chars().take(64).flat_map(char::escape_debug).collect();
    let mut envelope = Envelope::failure(ToolError::new(Code::UnknownTool, format!("No tool is named {shown:?}")));
    let hint = if is_fixed(name) {
        format!("{name} is listed: call it itself.")
    } else {
        "search_additional_tools finds tools by what they do; list_additional_tools gives all names.".to_owned()
    };
    envelope.extra.insert("hint".into(), hint.into());
    // A tool that is there was meant itself.
    let closest = if is_fixed(name) { Vec::new() } else { closest(app, name) };
    if !closest.is_empty() {
        envelope.extra.insert("closest".into(), closest.into());
    }
    envelope
}

/// How many close names a refusal gives at most.
const MOST_CLOSEST: usize = 3;

/// Names that are spelt alike, then names that the words of the given one find.
fn closest(app: &App, name: &str) -> Vec<&'static str> {
    let name: String = name.chars().take(64).collect::<String>().to_lowercase();
    let extra = FIXED.iter().skip(LISTED).map(|fixed| Target::Extra(fixed));
    let targets = app.catalog.tools().iter().map(Target::Operation).chain(extra);
    let mut alike: Vec<(f64, &'static str)> = targets
        .filter(|target| target.is_admitted(app))
        .map(|target| (strsim::normalized_damerau_levenshtein(target.name(), &name), target.name()))
        .filter(|(likeness, _)| *likeness > 0.7)
        .collect();
    alike.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
    let mut names: Vec<&'static str> = alike.into_iter().map(|(_, name)| name).take(MOST_CLOSEST).collect();
    for found in app.gateway.find(app, &name.replace(['_', '-', '.'], " ")) {
        if names.len() < MOST_CLOSEST && !names.contains(&found.name()) {
            names.push(found.name());
        }
    }
    names
}
