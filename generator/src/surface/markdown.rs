//! Changes as a changelog.

use std::fmt::Write as _;

use super::{Changes, ToolChange};

impl Changes {
    /// A changelog in Markdown; `title` is the server, `from` and `to` the two versions.
    #[must_use]
    pub fn markdown(&self, title: &str, from: &str, to: &str) -> String {
        let mut out = format!("# Tools of {}: changes from {} to {}\n\n", plain(title), plain(from), plain(to));
        out.push_str(match (self.is_empty(), self.is_breaking()) {
            (true, _) => "Nothing changed.\n",
            (false, true) => "**Callers have to change.**\n",
            (false, false) => "Callers need no change.\n",
        });
        section(&mut out, "Removed", self.removed.iter().map(|(name, route)| format!("`{name}` ({})", plain(route))));
        let renamed = self.renamed.iter().map(|r| format!("`{}` is `{}` now ({})", r.from, r.to, plain(&r.route)));
        section(&mut out, "Renamed", renamed);
        section(&mut out, "Inputs that break callers", self.inputs(true));
        section(&mut out, "Hints", self.changed.iter().flat_map(hints));
        section(&mut out, "Added", self.added.iter().map(|(name, route)| format!("`{name}` ({})", plain(route))));
        section(&mut out, "Other inputs", self.inputs(false));
        let routes = self.changed.iter().filter_map(|change| Some((change, change.route.as_ref()?)));
        let routes =
            routes.map(|(change, (old, new))| format!("`{}`: {} instead of {}", change.tool, plain(new), plain(old)));
        section(&mut out, "Routes", routes);
        let listed = self.listed.iter().map(|name| format!("`{name}` is listed by default"));
        let hidden = self.hidden.iter().map(|name| format!("`{name}` is only found through the gateway"));
        section(&mut out, "Lists", listed.chain(hidden));
        let texts = self.changed.iter().filter(|change| change.texts).map(|change| format!("`{}`", change.tool));
        section(&mut out, "Texts", texts);
        let content = self.content.iter().map(|change| {
            let warning = if change.breaks { " **(callers have to change)**" } else { "" };
            format!("{} `{}` {}{warning}", change.kind, change.id.replace('`', "'"), change.what)
        });
        section(&mut out, "Prompts and resources", content);
        out
    }

    fn inputs(&self, breaks: bool) -> impl Iterator<Item = String> {
        self.changed.iter().flat_map(move |change| {
            let inputs = change.inputs.iter().filter(move |input| input.breaks == breaks);
            inputs.map(|input| format!("`{}`: `{}` {}", change.tool, input.path.replace('`', "'"), plain(&input.what)))
        })
    }
}

fn hints(change: &ToolChange) -> impl Iterator<Item = String> {
    let warning = if change.is_riskier { " **(may do more than before)**" } else { "" };
    change.hints.iter().map(move |(hint, was, is)| format!("`{}`: {hint} is {is}, was {was}{warning}", change.tool))
}

fn section(out: &mut String, heading: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return;
    }
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\n## {heading}\n");
    lines.for_each(|line| {
        let _ = writeln!(out, "- {line}");
    });
}

/// Text of a document on one line, without markup of its own.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if matches!(c, '<' | '>' | '[' | ']' | '*' | '\\' | '|') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
