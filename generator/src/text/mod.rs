//! Text files of the generated packages. Templates loop and branch; every decision is made here.

use serde::Serialize;
use tera::{Context, Tera};

use crate::access::Access;
use crate::catalog::risk;
use crate::diagnostic::{Diagnostic, Sink};
use crate::file_set::FileSet;
use crate::load::content::{Prompt, Resource, ResourceContent, template};
use crate::load::extension::Risk;
use crate::model::Model;
use crate::model::tool::{Binding, Tool};
use crate::rust::server;

const TEMPLATES: [(&str, &str); 5] = [
    ("tools/Cargo.toml", include_str!("../../templates/tools-cargo.toml.tera")),
    ("tools/README.md", include_str!("../../templates/tools-readme.md.tera")),
    ("tools/TOOLS.md", include_str!("../../templates/tool-catalogue.md.tera")),
    ("server/Cargo.toml", include_str!("../../templates/server-cargo.toml.tera")),
    ("server/README.md", include_str!("../../templates/server-readme.md.tera")),
];

#[derive(Serialize)]
struct Page {
    server: String,
    title: String,
    title_toml: String,
    description: String,
    description_toml: String,
    version: String,
    env_prefix: String,
    base_url: String,
    spec: String,
    generator: &'static str,
    tool_count: usize,
    exposed_count: usize,
    uses_index_map: bool,
    /// Some tools are Rust, in the crate `native` of the spec.
    is_native: bool,
    /// Executors that the server links.
    executors: Vec<&'static str>,
    /// Some tools are long, so that the server links a store of tasks.
    has_long_tools: bool,
    areas: Vec<Area>,
    prompts: Vec<Offer>,
    resources: Vec<Offer>,
}

/// A prompt or a resource.
#[derive(Serialize)]
struct Offer {
    /// What it is called by: a name, or a URI.
    id: String,
    about: String,
    /// Arguments, or the tool that is asked.
    detail: String,
}

#[derive(Serialize)]
struct Area {
    tag: String,
    tools: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    title: String,
    purpose: String,
    risk: &'static str,
    route: String,
    listed: bool,
}

/// Writes manifests, READMEs and the tool catalogue.
pub(crate) fn emit(model: &Model, uses_index_map: bool, files: &mut FileSet, sink: &mut Sink) {
    let mut tera = Tera::default();
    tera.autoescape_on(Vec::<&'static str>::new());
    let page = page(model, uses_index_map);
    let rendered = tera.add_raw_templates(TEMPLATES).and_then(|()| {
        let context = Context::from_serialize(&page)?;
        TEMPLATES.iter().map(|(name, _)| Ok((*name, tera.render(name, &context)?))).collect::<Result<Vec<_>, _>>()
    });
    match rendered {
        Ok(pages) => {
            for (name, text) in pages {
                files.insert(format!("generated/{}-{name}", model.loaded.config.server), text);
            }
        }
        Err(error) => {
            let help = "this is a fault of the generator, not of a spec; please report it";
            let message = format!("a template cannot be rendered: {error}");
            sink.push(Diagnostic::error("bad-template", message).help(help));
        }
    }
}

fn page(model: &Model, uses_index_map: bool) -> Page {
    let config = &model.loaded.config;
    let mut areas: Vec<Area> = Vec::new();
    let mut tools: Vec<&Tool> = model.tools.iter().collect();
    tools.sort_by_key(|tool| (tool.tags.first(), &tool.name));
    for tool in tools {
        let tag = tool.tags.first().cloned().unwrap_or_else(|| "general".to_owned());
        let row = row(tool, &model.exposed);
        match areas.last_mut() {
            Some(area) if area.tag == cell(&tag) => area.tools.push(row),
            _ => areas.push(Area { tag: cell(&tag), tools: vec![row] }),
        }
    }
    Page {
        server: config.server.clone(),
        title: cell(&config.title),
        title_toml: toml_string(&config.title),
        description: cell(&config.description),
        description_toml: toml_string(&config.description),
        version: toml_string(&config.version),
        env_prefix: config.upstream.env_prefix.clone(),
        base_url: address(model),
        spec: model.loaded.dir.clone(),
        generator: crate::VERSION,
        tool_count: model.tools.len(),
        exposed_count: model.exposed.len(),
        uses_index_map,
        is_native: model.tools.iter().any(|tool| matches!(tool.binding, Binding::Native { .. })),
        executors: server::executors(model),
        has_long_tools: server::has_long_tools(model),
        areas,
        prompts: model.loaded.content.prompts.iter().map(prompt).collect(),
        resources: model.loaded.content.resources.iter().map(resource).collect(),
    }
}

fn prompt(prompt: &Prompt) -> Offer {
    let arguments = prompt.arguments.iter().map(|argument| match argument.required {
        true => format!("`{}`", argument.name),
        false => format!("`{}`?", argument.name),
    });
    Offer {
        id: prompt.name.clone(),
        about: cell(&prompt.description),
        detail: arguments.collect::<Vec<_>>().join(", "),
    }
}

fn resource(resource: &Resource) -> Offer {
    let detail = match &resource.content {
        ResourceContent::Answer(answer) => format!("`{}`", answer.tool),
        ResourceContent::Fixed(_) => "fixed".to_owned(),
    };
    Offer { id: template(&resource.uri).replace(['`', '|'], ""), about: cell(&resource.description), detail }
}

/// The address of the API, or one that shows the form where nothing says it.
fn address(model: &Model) -> String {
    let calls = |tool: &Tool| matches!(tool.binding, Binding::Steps(_)) || !tool.binding.is_own();
    if !model.tools.iter().any(calls) {
        return String::new();
    }
    let address = Access::of(&model.loaded.document, &model.loaded.config).address();
    if address.is_empty() { "https://api.example.com".to_owned() } else { cell(&address) }
}

fn row(tool: &Tool, exposed: &[String]) -> Row {
    let (method, path) = &tool.declared;
    let real = match &tool.binding {
        Binding::Http(http) => format!("{} {}", http.method, http.path),
        Binding::WebSocket { path, .. } => format!("WebSocket {path}"),
        Binding::Native { .. } => "native".to_owned(),
        Binding::Expression(_) => "expression".to_owned(),
        Binding::Steps(steps) => format!("steps: {}", steps.calls.join(", ")),
        Binding::Linked(linked) => format!("{}: {}", linked.executor, cell(&linked.about)),
        Binding::NoRoute(_) => format!("none ({method} {path} is declared)"),
    };
    Row {
        name: tool.name.clone(),
        title: cell(&tool.title),
        purpose: cell(tool.purpose.lines().next().unwrap_or_default()),
        risk: match tool.hints.risk {
            Risk::ReadOnly => "reads",
            other => risk(other),
        },
        route: real.replace('`', "'"),
        listed: exposed.contains(&tool.name),
    }
}

/// Text for a cell of a Markdown table: one line, with no markup of its own but code spans.
fn cell(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        if matches!(c, '|' | '<' | '>' | '[' | ']' | '*' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A basic string of TOML, with its quotes (TOML 1.0 section String; its escapes are those of JSON).
fn toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
