//! Security definitions of Swagger 2.0.

use serde_json::{Map, Value, json};

use super::Context;
use crate::load::upgrade::{set, take};
use crate::source::child_pointer;

/// Security definitions as security schemes.
pub(super) fn schemes(definitions: Map<String, Value>, context: &mut Context<'_>) -> Map<String, Value> {
    definitions
        .into_iter()
        .map(|(name, definition)| {
            let pointer = child_pointer("/components/securitySchemes", &name);
            let scheme = match definition {
                Value::Object(members) => Value::Object(scheme(members, &pointer, context)),
                other => other,
            };
            (name, scheme)
        })
        .collect()
}

fn scheme(mut members: Map<String, Value>, pointer: &str, context: &mut Context<'_>) -> Map<String, Value> {
    match members.get("type").and_then(Value::as_str) {
        Some("basic") => {
            members.insert("type".into(), "http".into());
            members.insert("scheme".into(), "basic".into());
        }
        Some("oauth2") => oauth2(&mut members, pointer, context),
        _ => {}
    }
    members
}

fn oauth2(members: &mut Map<String, Value>, pointer: &str, context: &mut Context<'_>) {
    let old = take(members, "flow");
    let name = match old.as_ref().and_then(Value::as_str) {
        Some("implicit") => "implicit",
        Some("password") => "password",
        Some("application") => "clientCredentials",
        Some("accessCode") => "authorizationCode",
        _ => {
            context.warn(
                "unknown-flow",
                "this OAuth2 definition has no known `flow`".into(),
                pointer,
                "write one of: implicit, password, application, accessCode",
            );
            return;
        }
    };
    let mut flow = json!({});
    for key in ["authorizationUrl", "tokenUrl", "refreshUrl"] {
        if let Some(url) = take(members, key) {
            set(&mut flow, key, url);
        }
    }
    let scopes = take(members, "scopes").unwrap_or_else(|| json!({}));
    set(&mut flow, "scopes", scopes);
    members.insert("flows".into(), json!({name: flow}));
}
