//! A first `server.yaml` for a document: choices by rule, with the reasons beside them.

mod upstream;

use serde_json::Value;

use crate::Generated;
use crate::diagnostic::{Diagnostic, Sink};
use crate::invisible::is_invisible;
use crate::load::config::derived_prefix;
use crate::load::extension::Risk;
use crate::load::{self, Files, LoadedServer, Prose};
use crate::model::Model;
use crate::model::tool::Tool;
use crate::pass;
use crate::pass::select::{MAX_LISTED, preset};

/// A server's first settings.
#[derive(Debug)]
pub struct Draft {
    /// The text of `server.yaml`.
    pub text: String,
    /// Operations that became tools.
    pub tools: usize,
    /// How many of them are listed by default.
    pub listed: usize,
}

/// Writes the first `server.yaml` of the server in `dir`, whose document is already among the files.
///
/// Returns `None` where the document cannot be read at all; what is wrong with it is in `sink`.
pub fn draft(files: &Files, dir: &str, document: &str, prose: Prose, sink: &mut Sink) -> Option<Draft> {
    let loaded = load_first(files, dir, document, prose, sink)?;
    let mut model = Model::new(&loaded);
    pass::run(&mut model, sink);
    Some(page(&model, dir, document, prose))
}

/// Writes the first `server.yaml` as [`draft`] does, and makes the packages of the same reading of the document.
///
/// They are `None` where something was found that the settings of the draft may change, or that stops the run:
/// [`crate::generate`] with the draft says what holds then. Returns `None` where the document cannot be read at all.
pub fn start(
    files: &Files,
    dir: &str,
    document: &str,
    prose: Prose,
    sink: &mut Sink,
) -> Option<(Draft, Option<Generated>)> {
    let loaded = load_first(files, dir, document, prose, sink)?;
    let mut model = Model::new(&loaded);
    pass::run(&mut model, sink);
    let draft = page(&model, dir, document, prose);
    let is_settled = !sink.has_errors() && sink.iter().all(|finding| !is_of_settings(finding, &loaded));
    if !is_settled {
        return Some((draft, None));
    }
    let Model { operations, types, recursive, tools, hidden_settings, exposed, ledger, .. } = model;
    let Some(loaded) = loaded.with_settings(&draft.text, sink) else { return Some((draft, None)) };
    let mut model = Model { loaded: &loaded, operations, types, recursive, tools, hidden_settings, exposed, ledger };
    pass::select::expose(&mut model, sink);
    let generated = crate::emit(model, sink);
    Some((draft, generated))
}

/// Whether a finding stands in `server.yaml`, which is another one afterwards.
fn is_of_settings(finding: &Diagnostic, loaded: &LoadedServer) -> bool {
    let own = loaded.config_place("").file;
    finding.place.as_ref().is_none_or(|place| place.file == own)
}

/// Loads the document with settings that say nothing but where it is.
fn load_first(files: &Files, dir: &str, document: &str, prose: Prose, sink: &mut Sink) -> Option<LoadedServer> {
    let server = name_of(dir);
    let first = format!(
        "server: {server}\ntitle: {server}\ndocument: {document}\nprose: {}\nupstream: {{env_prefix: {}}}\n",
        word(prose),
        derived_prefix(server)
    );
    let mut files = files.clone();
    files.insert(format!("{dir}/server.yaml"), first);
    load::load_server(&files, dir, sink)
}

fn page(model: &Model, dir: &str, document: &str, prose: Prose) -> Draft {
    let server = name_of(dir);
    let listed = preset(model);
    let page = Page { model, server, prefix: &derived_prefix(server), document, prose, listed: &listed };
    Draft { text: page.text(), tools: model.tools.len(), listed: listed.len() }
}

/// The last part of a folder's path.
fn name_of(dir: &str) -> &str {
    dir.rsplit('/').next().unwrap_or(dir)
}

fn word(prose: Prose) -> &'static str {
    match prose {
        Prose::Keep => "keep",
        Prose::Drop => "drop",
    }
}

struct Page<'p, 'm> {
    model: &'p Model<'m>,
    server: &'p str,
    prefix: &'p str,
    document: &'p str,
    prose: Prose,
    listed: &'p [String],
}

impl Page<'_, '_> {
    fn text(&self) -> String {
        let parts = [
            self.identity(),
            self.source(),
            upstream::section(self.model, self.prefix),
            self.hints(),
            self.listed(),
            self.health(),
            self.instructions(),
        ];
        parts.join("\n")
    }

    fn at(&self, pointer: &str) -> Option<&str> {
        let text = self.model.loaded.document.get(pointer)?.as_str()?.trim();
        (!text.is_empty()).then_some(text)
    }

    fn title(&self) -> &str {
        self.at("/info/title").unwrap_or(self.server)
    }

    fn identity(&self) -> String {
        let title = one_line(self.title(), 80);
        let told = self.at("/info/summary").or_else(|| self.at("/info/description")).map(first_sentence);
        let description = told.filter(|text| !text.is_empty()).unwrap_or_else(|| format!("Tools for {title}."));
        format!(
            "# What the MCP server `{server}-server` is made from, and what it shows. docs/spec-format.md explains every key;\n\
             # `toolwright regenerate {server}` applies a change.\n\
             server: {server}\ntitle: {}\ndescription: {}\nversion: 0.1.0\n",
            scalar(&title),
            scalar(&description),
            server = self.server,
        )
    }

    fn source(&self) -> String {
        let why = match self.prose {
            Prose::Keep => {
                "# The document's own words are used; `drop` leaves them out, so that every text comes from overlays."
            }
            Prose::Drop => "# The document's own words are left out: every text comes from overlays. `keep` uses them.",
        };
        format!(
            "document: {}\n{why}\nprose: {}\n\
             # Each member of a JSON body is an argument, where the body is a plain object; `wrapped` keeps the body in one.\n\
             body: flattened\n\
             # Corrections and better texts are OpenAPI Overlay files; `toolwright show {}` prints what they target,\n\
             # `toolwright lint {}` what is worth correcting.\n\
             # overlays: [overlays/text.yaml]\n",
            self.document,
            word(self.prose),
            self.server,
            self.server,
        )
    }

    fn hints(&self) -> String {
        let mut counts = [0; 4];
        for tool in &self.model.tools {
            let slot = match tool.hints.risk {
                Risk::ReadOnly => 0,
                Risk::Compute => 1,
                Risk::Write => 2,
                Risk::Destructive => 3,
            };
            if let Some(count) = counts.get_mut(slot) {
                *count += 1;
            }
        }
        let [reads, computes, writes, destroys] = counts;
        format!(
            "# What a call may do follows from its method, for want of anything better: GET and HEAD read, POST and PATCH write,\n\
             # PUT writes and may be repeated, DELETE destroys. Here: {} read, {writes} write, {destroys} destroy. Say where that is\n\
             # wrong; a POST that only searches is the usual case. Overlays outrank these rules, and earlier rules later ones.\n\
             # hints:\n\
             #   - {{ path: \"/**/search\", method: POST, risk: read-only }}\n\
             # A server that can change nothing:\n\
             # read_only: true\n",
            reads + computes,
        )
    }

    fn listed(&self) -> String {
        let total = self.model.tools.len();
        let mut out = match total > MAX_LISTED {
            true => format!(
                "# {total} tools are more than models choose well from. Listed are these {}, taken from every area in turn: reading\n\
                 # before writing, nothing destructive or deprecated, short paths, well described. The rest is found and run through\n\
                 # search_additional_tools and execute_additional_tool. Make the list your own, or pick by rule:\n\
                 # expose: [{{ tag: NAME, method: GET }}, {{ path: \"/a/**\" }}, {{ name: \"list_*\" }}, {{ hint: read-only }}]\n",
                self.listed.len()
            ),
            false => "# Few enough to list all of them. `exposed` takes names instead, `hide` takes rules as `expose` does.\n".to_owned(),
        };
        if total > MAX_LISTED && self.listed.is_empty() {
            out.push_str("exposed: []\n");
        } else if total > MAX_LISTED {
            out.push_str("exposed:\n");
            self.listed.iter().for_each(|name| out.push_str(&format!("  - {name}\n")));
        } else if total > 0 {
            out.push_str("expose: [{ name: \"*\" }]\n");
        }
        out
    }

    fn health(&self) -> String {
        match self.pulse() {
            Some(tool) => {
                format!("# What server_health reads, to see that the API answers.\nhealth: [{}]\n", tool.name)
            }
            None => "# server_health needs a reading tool without required arguments, and there is none.\nhealth: []\n"
                .to_owned(),
        }
    }

    /// A reading tool without required arguments: one that is there for this if possible, else the shortest path.
    fn pulse(&self) -> Option<&Tool> {
        const TELLING: [&str; 10] =
            ["health", "healthz", "healthcheck", "ping", "version", "status", "ready", "readyz", "info", "live"];
        // GETs that people have been known to give effects.
        const TELLTALE: [&str; 7] = ["login", "logout", "signin", "signout", "authorize", "callback", "confirm"];
        let words = |tool: &Tool| -> Vec<String> {
            let text = format!("{} {}", tool.declared.1, tool.name).to_ascii_lowercase();
            text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned).collect()
        };
        let fits = |tool: &&Tool| {
            tool.hints.risk == Risk::ReadOnly
                && tool.declared.0 == "GET"
                && tool.arguments.iter().all(|argument| !argument.required)
                && !words(tool).iter().any(|word| TELLTALE.contains(&word.as_str()))
        };
        let rank = |tool: &&Tool| {
            let (path, words) = (&tool.declared.1, words(tool));
            let place = TELLING.iter().position(|word| words.iter().any(|own| own == word)).unwrap_or(TELLING.len());
            (place, path.matches('/').count(), path.len(), tool.name.clone())
        };
        self.model.tools.iter().filter(fits).min_by_key(rank)
    }

    fn instructions(&self) -> String {
        let mut lines = vec![format!("Tools for {}.", one_line(self.title(), 80).trim_end_matches('.'))];
        if self.model.tools.len() > self.listed.len() {
            lines.push(
                "Only some are listed. Find the rest with search_additional_tools (by goal) or list_additional_tools (names), then run them with execute_additional_tool."
                    .to_owned(),
            );
        }
        lines.push("Every result has ok, status_code and elapsed_ms, then data, text, events, or mime_type with saved_path. A failure has error and code.".to_owned());
        if self.model.tools.iter().any(|tool| tool.hints.risk == Risk::Destructive) {
            lines.push("Destructive tools remove state. Use them only when asked.".to_owned());
        }
        let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
        format!("# What models are told about the whole server.\ninstructions: |\n{lines}")
    }
}

/// The first sentence, without markup, on one line.
fn first_sentence(text: &str) -> String {
    let paragraph = text.split("\n\n").map(str::trim).find(|part| !part.is_empty() && !part.starts_with('#'));
    let line = one_line(paragraph.unwrap_or_default(), usize::MAX);
    let end = line.find(". ").map_or(line.len(), |end| end + 1);
    one_line(line.get(..end).unwrap_or_default(), 160)
}

/// Words joined by single spaces, cut at a word; characters that nobody sees are no part of any word.
fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    for word in text.split(|c: char| c.is_whitespace() || is_invisible(c)).filter(|word| !word.is_empty()) {
        if !out.is_empty() && out.chars().count() + 1 + word.chars().count() > most {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// A YAML scalar. JSON strings are YAML (1.2 section 1.3), so what is not plainly a word is quoted as in JSON.
fn scalar(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | '-' | '_' | '/' | ','))
        && !text.ends_with(' ')
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
        );
    if plain { text.to_owned() } else { Value::from(text).to_string() }
}
