//! The summary of a run: what each server's lists weigh.

use toolwright_generator::diagnostic::{Diagnostic, Severity};
use toolwright_generator::{Generated, ListedTool, Summary};

/// The weights of one server's lists.
pub(crate) struct Weights {
    default: Weight,
    all: Weight,
    none: Weight,
}

/// Begins to load the tokenizer, which takes as long as a part of the generation, beside the work that comes first.
pub(crate) fn warm_up() {
    std::thread::spawn(bpe_openai::o200k_base);
}

/// Weighs the lists of every server. Counting tokens takes as long as a good part of the generation.
pub(crate) fn weights(generated: &[Generated]) -> Vec<Weights> {
    generated
        .iter()
        .map(|server| {
            let summary = &server.summary;
            let exposed = summary.tools.iter().filter(|tool| summary.exposed.contains(&tool.name));
            Weights {
                default: weigh(exposed.chain(&summary.fixed)),
                all: weigh(summary.tools.iter().chain(&summary.fixed)),
                none: weigh(summary.fixed.iter()),
            }
        })
        .collect()
}

/// Tells of a list by default that takes more tokens than `server.yaml` allows, and of the tools that take most of them.
pub(crate) fn over_budget(summary: &Summary, severity: Severity) -> Option<Diagnostic> {
    let (most, place) = summary.budget.as_ref()?;
    let exposed: Vec<&ListedTool> = summary.tools.iter().filter(|tool| summary.exposed.contains(&tool.name)).collect();
    let taken = weigh(exposed.iter().copied().chain(&summary.fixed)).tokens;
    if taken as u64 <= *most {
        return None;
    }
    let mut weights: Vec<(usize, &str)> = exposed.iter().map(|tool| (tokens(&tool.json), tool.name.as_str())).collect();
    weights.sort_by(|left, right| right.cmp(left));
    let heaviest: Vec<String> = weights.iter().take(5).map(|(tokens, name)| format!("{name} ({tokens})")).collect();
    let message = format!("the tools listed by default take {taken} tokens, and `budget` allows {most}");
    let help = format!(
        "list fewer, show fewer fields of them (x-toolwright: {{advertise: [field, ..]}}), or raise `budget`; the heaviest: {}",
        heaviest.join(", ")
    );
    let found = Diagnostic { severity, ..Diagnostic::error("over-budget", message) };
    Some(found.at(place.clone()).help(help))
}

/// Prints one table for all servers to stderr: the size of each list in bytes (B) and tokens, and how many warnings there are.
pub(crate) fn print(generated: &[Generated], weights: &[Weights], warnings: &[usize], verbose: bool) {
    eprintln!(
        "{:<12} {:>10} {:>6} {:>7}   {:>9} {:>7}   {:>8} {:>7}   {:>8} {:>7}   {:>8}",
        "server",
        "operations",
        "tools",
        "exposed",
        "default B",
        "tokens",
        "* B",
        "tokens",
        "none B",
        "tokens",
        "warnings"
    );
    for ((server, Weights { default, all, none }), warnings) in generated.iter().zip(weights).zip(warnings) {
        let summary = &server.summary;
        eprintln!(
            "{:<12} {:>10} {:>6} {:>7}   {:>9} {:>7}   {:>8} {:>7}   {:>8} {:>7}   {:>8}",
            summary.server,
            summary.operations,
            summary.tools.len(),
            summary.exposed.len(),
            default.bytes,
            default.tokens,
            all.bytes,
            all.tokens,
            none.bytes,
            none.tokens,
            warnings,
        );
        if verbose {
            heaviest(summary);
        }
    }
}

struct Weight {
    bytes: usize,
    tokens: usize,
}

/// The whole `tools/list` result as a client gets it, in o200k tokens.
fn weigh<'t>(tools: impl Iterator<Item = &'t ListedTool>) -> Weight {
    let list = format!("{{\"tools\":[{}]}}", tools.map(|tool| tool.json.as_str()).collect::<Vec<_>>().join(","));
    Weight { bytes: list.len(), tokens: tokens(&list) }
}

fn tokens(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

fn heaviest(summary: &Summary) {
    let mut weights: Vec<(usize, &str)> =
        summary.tools.iter().map(|tool| (tokens(&tool.json), tool.name.as_str())).collect();
    weights.sort_by(|left, right| right.cmp(left));
    for (tokens, name) in weights.into_iter().take(10) {
        eprintln!("    {tokens:>6} tokens  {name}");
    }
}
