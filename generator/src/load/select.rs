//! Rules of `server.yaml` that pick tools: by tag, path, method, hint or name, with globs.

use serde_json::Value;

use super::extension::Risk;
use super::strict::{Fields, Places, wrong_kind};
use crate::diagnostic::{Diagnostic, Sink};

/// What a rule asks of a tool. Each key that is given must match; of its values, one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selector {
    /// JSON pointer of the rule in `server.yaml`.
    pub pointer: String,
    /// Globs over tags, case ignored.
    pub tag: Vec<String>,
    /// Globs over the declared path: `*` stays inside a segment, `**` does not.
    pub path: Vec<String>,
    /// Methods, case ignored.
    pub method: Vec<String>,
    /// What a call may do.
    pub hint: Vec<HintWord>,
    /// Globs over tool names.
    pub name: Vec<String>,
}

/// The words of `hint`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintWord {
    /// The declared or derived risk.
    Risk(Risk),
    /// Repeating a call has no further effect.
    Idempotent,
    /// The call reaches beyond the upstream.
    OpenWorld,
}

/// A rule that says what calls of the tools it picks may do.
#[derive(Debug, Clone, PartialEq)]
pub struct HintRule {
    /// Which tools.
    pub of: Selector,
    /// Their risk.
    pub risk: Option<Risk>,
    /// Whether a call may be repeated.
    pub idempotent: Option<bool>,
    /// Whether a call reaches beyond the upstream.
    pub open_world: Option<bool>,
    /// What changes or is lost.
    pub caution: Option<String>,
}

/// What a tool is, for rules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traits<'t> {
    pub(crate) name: &'t str,
    pub(crate) method: &'t str,
    pub(crate) path: &'t str,
    pub(crate) tags: &'t [String],
    pub(crate) risk: Risk,
    pub(crate) idempotent: bool,
    pub(crate) open_world: bool,
}

/// Keys of a rule that picks tools.
pub(super) const KEYS: [&str; 5] = ["tag", "path", "method", "hint", "name"];

/// Keys of a rule under `hints`.
pub(super) const HINT_KEYS: [&str; 8] =
    ["tag", "path", "method", "name", "risk", "idempotent", "open_world", "caution"];

const RISKS: [(&str, Risk); 4] = [
    ("read-only", Risk::ReadOnly),
    ("compute", Risk::Compute),
    ("write", Risk::Write),
    ("destructive", Risk::Destructive),
];

impl Selector {
    /// Whether a tool is picked.
    pub(crate) fn matches(&self, tool: Traits<'_>) -> bool {
        let any = |globs: &[String], text: &str| globs.is_empty() || globs.iter().any(|glob| matches(glob, text));
        let has_tag = |glob: &String| tool.tags.iter().any(|tag| matches(&glob.to_lowercase(), &tag.to_lowercase()));
        let has_hint = |word: &HintWord| match word {
            HintWord::Risk(risk) => tool.risk == *risk,
            HintWord::Idempotent => tool.idempotent,
            HintWord::OpenWorld => tool.open_world,
        };
        (self.tag.is_empty() || self.tag.iter().any(has_tag))
            && any(&self.path, tool.path)
            && (self.method.is_empty() || self.method.iter().any(|method| method.eq_ignore_ascii_case(tool.method)))
            && (self.hint.is_empty() || self.hint.iter().any(has_hint))
            && any(&self.name, tool.name)
    }
}

/// Reads a list of rules.
pub(super) fn selectors(fields: &Fields<'_>, key: &str, places: Places<'_>, sink: &mut Sink) -> Vec<Selector> {
    fields
        .elements(key, RULES, sink)
        .into_iter()
        .filter_map(|(pointer, value)| {
            let rule = Fields::open(value, &pointer, &KEYS, places, sink)?;
            selector(&rule, pointer, places, sink)
        })
        .collect()
}

/// Reads the list of rules under `hints`.
pub(super) fn hint_rules(fields: &Fields<'_>, places: Places<'_>, sink: &mut Sink) -> Vec<HintRule> {
    fields
        .elements("hints", RULES, sink)
        .into_iter()
        .filter_map(|(pointer, value)| {
            let rule = Fields::open(value, &pointer, &HINT_KEYS, places, sink)?;
            Some(HintRule {
                of: selector(&rule, pointer, places, sink)?,
                risk: rule.choice("risk", &RISKS, sink),
                idempotent: rule.boolean("idempotent", sink),
                open_world: rule.boolean("open_world", sink),
                caution: rule.string("caution", sink),
            })
        })
        .collect()
}

/// What a list of them is called in messages.
pub(super) const RULES: &str = "a list of rules";

/// What a rule that knows no tools yet asks of an operation; without a key, nothing.
pub(super) fn of_operations(rule: &Fields<'_>, pointer: String, places: Places<'_>, sink: &mut Sink) -> Selector {
    let mut texts = |key: &str| texts(rule, key, places, sink);
    let (tag, path, method) = (texts("tag"), texts("path"), texts("method"));
    Selector { pointer, tag, path, method, ..Selector::default() }
}

fn selector(rule: &Fields<'_>, pointer: String, places: Places<'_>, sink: &mut Sink) -> Option<Selector> {
    if KEYS.iter().all(|key| rule.get(key).is_none()) {
        let help = "add `tag`, `path`, `method` or `name`; for everything write `name: \"*\"`";
        let fault = Diagnostic::error("missing-key", "this rule picks nothing").at(places(&pointer)).help(help);
        sink.push(fault);
        return None;
    }
    let mut texts = |key: &str| texts(rule, key, places, sink);
    let (tag, path, method, name) = (texts("tag"), texts("path"), texts("method"), texts("name"));
    let hint = texts("hint");
    let hint = hint.iter().filter_map(|word| hint_word(word, &rule.pointer_of("hint"), places, sink)).collect();
    Some(Selector { pointer, tag, path, method, hint, name })
}

/// One text, or a list of them.
fn texts(rule: &Fields<'_>, key: &str, places: Places<'_>, sink: &mut Sink) -> Vec<String> {
    match rule.get(key) {
        None => Vec::new(),
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(other) => {
            sink.push(wrong_kind(&rule.pointer_of(key), "a text or a list of texts", other, places));
            Vec::new()
        }
    }
}

fn hint_word(word: &str, pointer: &str, places: Places<'_>, sink: &mut Sink) -> Option<HintWord> {
    let known = RISKS.iter().map(|(name, risk)| (*name, HintWord::Risk(*risk)));
    let mut known = known.chain([("idempotent", HintWord::Idempotent), ("open-world", HintWord::OpenWorld)]);
    let found = known.find(|(name, _)| *name == word).map(|(_, found)| found);
    if found.is_none() {
        let help = "write one of: read-only, compute, write, destructive, idempotent, open-world";
        sink.push(Diagnostic::error("wrong-value", format!("`{word}` is no hint")).at(places(pointer)).help(help));
    }
    found
}

/// Globs: `*` is any text without `/`, `**` any text, `?` one character. Braces are those of path templates.
pub(crate) fn matches(glob: &str, text: &str) -> bool {
    let glob: Vec<char> = glob.chars().collect();
    let text: Vec<char> = text.chars().collect();
    // Whether the glob so far matches each prefix of the text: linear in both, whatever the stars.
    let mut reached = vec![false; text.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    let mut rest = glob.as_slice();
    loop {
        match rest {
            [] => return reached.last().copied().unwrap_or(false),
            ['*', '*', after @ ..] => {
                spread(&mut reached, &text, true);
                rest = after;
            }
            ['*', after @ ..] => {
                spread(&mut reached, &text, false);
                rest = after;
            }
            [one, after @ ..] => {
                reached = step(&reached, &text, *one);
                rest = after;
            }
        }
    }
}

fn spread(reached: &mut [bool], text: &[char], over_slashes: bool) {
    let mut carried = false;
    for (index, state) in reached.iter_mut().enumerate() {
        let before = index.checked_sub(1).and_then(|before| text.get(before));
        carried &= over_slashes || before != Some(&'/');
        carried |= *state;
        *state = carried;
    }
}

fn step(reached: &[bool], text: &[char], one: char) -> Vec<bool> {
    let advanced = reached.iter().zip(text).map(|(state, c)| *state && (one == *c || (one == '?' && *c != '/')));
    std::iter::once(false).chain(advanced).collect()
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stays_inside_a_segment_and_two_do_not() {
        for (glob, text, expected) in [
            ("*", "list_items", true),
            ("list_*", "list_items", true),
            ("list_*", "get_list", false),
            ("/a/*", "/a/b", true),
            ("/a/*", "/a/b/c", false),
            ("/a/**", "/a/b/c", true),
            ("/a/{id}", "/a/{id}", true),
            ("**/x", "/a/b/x", true),
            ("l?st", "list", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(glob, text), expected, "{glob} {text}");
        }
    }

    #[test]
    fn many_stars_take_no_longer() {
        let glob = "*a".repeat(200);
        assert!(!matches(&glob, &"a".repeat(199)));
    }
}
