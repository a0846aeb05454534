//! The summary of a run: what each server's lists weigh.

use toolwright_generator::{Generated, ListedTool, Summary};

/// Prints one table for all servers to stderr: the size of each list in bytes (B) and tokens, and how many warnings there are.
pub(crate) fn print(generated: &[Generated], warnings: &[usize], verbose: bool) {
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
    for (server, warnings) in generated.iter().zip(warnings) {
        let summary = &server.summary;
        let exposed = summary.tools.iter().filter(|tool| summary.exposed.contains(&tool.name));
        let (default, all, none) = (
            weigh(exposed.chain(&summary.fixed)),
            weigh(summary.tools.iter().chain(&summary.fixed)),
            weigh(summary.fixed.iter()),
        );
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
