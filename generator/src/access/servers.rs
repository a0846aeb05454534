//! Servers of a document, its paths and its operations, and the settings that their variables become.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{Setting, keys::suffix};
use crate::load::Document;
use crate::pass::{join, name::snake};

/// The server of everything that declares one, by JSON pointer; the document's own is at the empty pointer.
#[derive(Debug, Default)]
pub(crate) struct Servers(IndexMap<String, Server>);

#[derive(Debug)]
struct Server {
    node: Value,
    /// What its variables become, by their names.
    variables: Vec<(String, Setting)>,
}

/// What makes two variables of one name the same setting: default and permitted values.
type Meaning = (String, Vec<String>);

impl Servers {
    pub(crate) fn of(document: &Document) -> Self {
        let mut found = IndexMap::new();
        for owner in owners(document) {
            if let Some(node) = called_server(document, &owner) {
                let settings = variables(&node).map(|(name, variable)| (name.clone(), setting(name, variable)));
                let variables = settings.collect();
                found.insert(owner, Server { node, variables });
            }
        }
        let mut servers = Self(found);
        servers.tell_apart();
        servers
    }

    /// The server of an operation, else of its path (OpenAPI 3.1 section 4.8.5).
    pub(crate) fn of_operation(&self, item: &str, operation: &str) -> Option<String> {
        self.template(operation).or_else(|| self.template(item))
    }

    /// The URL with `{variable}` as `{server_variable}`, the key of the variable's setting. A variable that the server
    /// does not declare stays and makes the URL unusable, which is reported when it is called.
    pub(super) fn template(&self, owner: &str) -> Option<String> {
        let server = self.0.get(owner)?;
        let url = url_of(&server.node);
        let url = if url == "/" { "" } else { url.trim_end_matches('/') };
        Some(substituted(url, |name| {
            let (_, setting) = server.variables.iter().find(|(known, _)| known == name)?;
            Some(format!("{{{}}}", setting.key))
        }))
    }

    /// The document's own server with its variables filled in.
    pub(super) fn address(&self) -> String {
        self.0.get("").map(|server| filled(&server.node)).unwrap_or_default()
    }

    pub(super) fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.0.values().flat_map(|server| server.variables.iter().map(|(_, setting)| setting))
    }

    /// Variables of one name that differ are settings of their own, by the place of their server. The document's own
    /// keeps the plain key, and so do those that are the same.
    fn tell_apart(&mut self) {
        let mut all: BTreeMap<String, BTreeSet<Meaning>> = BTreeMap::new();
        let mut own: BTreeMap<String, BTreeSet<Meaning>> = BTreeMap::new();
        for (owner, server) in &self.0 {
            for (_, setting) in &server.variables {
                all.entry(setting.key.clone()).or_default().insert(meaning(setting));
                if owner.is_empty() {
                    own.entry(setting.key.clone()).or_default().insert(meaning(setting));
                }
            }
        }
        for (owner, server) in &mut self.0 {
            for (name, setting) in &mut server.variables {
                let differ = all.get(&setting.key).is_some_and(|meanings| meanings.len() > 1);
                let is_own = own
                    .get(&setting.key)
                    .is_some_and(|meanings| meanings.len() == 1 && meanings.contains(&meaning(setting)));
                if differ && !is_own {
                    setting.key = format!("{}_{}", setting.key, suffix(&format!("{owner} {name}")));
                    setting.help = format!("Variable `{name}` of the address at `#{owner}`.");
                }
            }
        }
    }
}

fn meaning(setting: &Setting) -> Meaning {
    (setting.default.clone(), setting.allowed.clone())
}

/// Pointers of everything that may have servers: the document, paths and operations.
fn owners(document: &Document) -> Vec<String> {
    let mut owners = vec![String::new()];
    let paths = document.get("/paths").and_then(Value::as_object);
    for (path, item) in paths.into_iter().flatten() {
        let item_at = join("/paths", path);
        let members: Vec<String> = keys(Some(item)).map(|member| join(&item_at, member)).collect();
        let more_at = join(&item_at, "additionalOperations");
        let more: Vec<String> = keys(item.get("additionalOperations")).map(|method| join(&more_at, method)).collect();
        owners.push(item_at);
        owners.extend(members);
        owners.extend(more);
    }
    owners
}

fn keys(node: Option<&Value>) -> impl Iterator<Item = &String> {
    node.and_then(Value::as_object).into_iter().flat_map(Map::keys)
}

/// The first server that HTTP can call, else the first one. A path alone can be called: its host is known elsewhere.
fn called_server(document: &Document, owner: &str) -> Option<Value> {
    let listed = document.get(&join(owner, "servers"))?.as_array()?;
    let can_be_called = |server: &&Value| {
        let url = filled(server);
        url.starts_with("http://") || url.starts_with("https://") || !url.contains("://")
    };
    listed.iter().find(can_be_called).or_else(|| listed.first()).cloned()
}

fn setting(name: &str, variable: &Value) -> Setting {
    let allowed = variable.get("enum").and_then(Value::as_array).into_iter().flatten().map(text).collect();
    Setting {
        key: format!("server_{}", snake(name)),
        default: variable.get("default").map(text).unwrap_or_default(),
        help: format!("Variable `{name}` of the API's address, unless a base URL is set."),
        secret: false,
        allowed,
    }
}

/// The URL with the defaults of its variables (OpenAPI 3.1 section 4.8.6).
pub(crate) fn filled(server: &Value) -> String {
    substituted(url_of(server).trim_end_matches('/'), |name| {
        let variable = variables(server).find(|(known, _)| *known == name)?.1;
        Some(variable.get("default").map(text).unwrap_or_default())
    })
}

fn url_of(server: &Value) -> &str {
    server.get("url").and_then(Value::as_str).unwrap_or_default().trim()
}

fn variables(server: &Value) -> impl Iterator<Item = (&String, &Value)> {
    server.get("variables").and_then(Value::as_object).into_iter().flatten()
}

/// Variables are texts; documents write numbers, too.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A URL with what stands for its `{names}`, each looked at once: a value may have braces of its own.
fn substituted(url: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = url;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        match behind.split_once('}').and_then(|(name, after)| Some((value(name)?, after))) {
            Some((text, after)) => {
                out.push_str(&text);
                rest = after;
            }
            None => {
                out.push('{');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}
