//! Text of a document as doc comments: it can neither break out, nor become a doctest, nor make rustdoc warn.

use proc_macro2::TokenStream;
use quote::quote;

use crate::invisible::is_invisible;

/// Doc lines are wrapped at this width.
const WIDTH: usize = 96;

/// Doc attributes for a text, wrapped; empty for an empty text.
pub(super) fn attributes(text: &str) -> TokenStream {
    let lines = paragraphs(text).into_iter().map(|paragraph| wrapped(&escaped(&paragraph)));
    let mut all: Vec<String> = Vec::new();
    for paragraph in lines {
        if !all.is_empty() {
            all.push(String::new());
        }
        all.extend(paragraph.into_iter().map(|line| format!(" {line}")));
    }
    quote!(#(#[doc = #all])*)
}

/// True where the doc comment, read back line by line, gives exactly this text.
pub(super) fn reads_back(text: &str) -> bool {
    let parts = paragraphs(text);
    parts.join("\n") == text && parts.iter().all(|paragraph| escaped(paragraph) == *paragraph)
}

/// Non-empty lines, with runs of white space as one space. A line of its own is a paragraph of its own.
fn paragraphs(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect()
}

/// Takes the meaning from every character that Markdown or rustdoc would read, outside code spans.
fn escaped(paragraph: &str) -> String {
    let balanced = paragraph.matches('`').count().is_multiple_of(2) && !paragraph.contains("``");
    let mut out = String::with_capacity(paragraph.len());
    let mut in_code = false;
    let mut plain = |text: &str, out: &mut String| {
        for c in text.chars() {
            if c == '`' && balanced {
                in_code = !in_code;
                out.push(c);
            } else {
                escape_char(c, in_code, out);
            }
        }
        in_code
    };
    for (index, word) in paragraph.split(' ').enumerate() {
        if index > 0 {
            out.push(' ');
        }
        let (head, rest) = word.split_at(url_start(word).unwrap_or(word.len()));
        let inside_code = plain(head, &mut out);
        let url = if inside_code { "" } else { rest.split('`').next().unwrap_or_default() };
        if !url.is_empty() {
            out.push_str(&link(url));
        }
        plain(rest.get(url.len()..).unwrap_or_default(), &mut out);
    }
    escape_start(out)
}

/// Where a URL begins inside a word.
fn url_start(word: &str) -> Option<usize> {
    let colon = word.find("://")?;
    let scheme = word.get(..colon)?.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |before| before + 1);
    word.is_char_boundary(scheme).then_some(scheme)
}

/// A word of the document as a code span, for doc lines that are not its texts.
pub(super) fn code_span(word: &str) -> String {
    let shown = word.chars().filter(|c| !is_invisible(*c));
    let shown: String = shown.map(|c| if c.is_control() || c == '`' { ' ' } else { c }).collect();
    format!("`{}`", shown.trim())
}

fn escape_char(c: char, in_code: bool, out: &mut String) {
    if is_invisible(c) {
        return;
    }
    let special = matches!(c, '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '&' | '~' | '|' | '$');
    if special && !in_code {
        out.push('\\');
    }
    out.push(c);
}

/// A bare URL in angle brackets, as rustdoc wants it; punctuation after it stays outside. What is no good link is code.
fn link(url: &str) -> String {
    let end = url.trim_end_matches(['.', ',', ';', ':', ')', '"', '\'', ']', '>']).len();
    let (url, after) = url.split_at(end);
    let has_host = url.split("://").nth(1).is_some_and(|host| host.starts_with(|c: char| c.is_ascii_alphanumeric()));
    let safe = has_host && url.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '`' | '\\'));
    let mut out = if safe && url.starts_with("http") { format!("<{url}>") } else { format!("`{url}`") };
    after.chars().for_each(|c| escape_char(c, false, &mut out));
    out
}

/// The first character of a line can make it a heading, a list, a rule or a quotation.
fn escape_start(line: String) -> String {
    let starts_block = line.starts_with(['#', '-', '+', '=', '>'])
        || line
            .split_once(['.', ')'])
            .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
    match starts_block {
        true if line.starts_with(|c: char| c.is_ascii_digit()) => line.replacen('.', "\\.", 1).replacen(')', "\\)", 1),
        true => format!("\\{line}"),
        false => line,
    }
}

/// Breaks at spaces. A continuation line that would start a block is joined to the line before.
fn wrapped(paragraph: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in paragraph.split(' ') {
        let starts_block = word.starts_with(['#', '-', '+', '=', '>', '*'])
            || word.ends_with(['.', ')']) && word.bytes().next().is_some_and(|b| b.is_ascii_digit());
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH || starts_block => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{attributes, code_span, escaped, reads_back};

    #[test]
    fn markup_outside_code_loses_its_meaning() {
        assert_eq!(escaped("a [b] <T> *c* `d[0]`"), "a \\[b\\] \\<T\\> \\*c\\* `d[0]`");
    }

    #[test]
    fn an_odd_backtick_is_no_code() {
        assert_eq!(escaped("it`s [x]"), "it\\`s \\[x\\]");
    }

    #[test]
    fn a_bare_url_becomes_a_link_and_keeps_what_follows_outside() {
        assert_eq!(escaped("see (https://a.b/c)."), "see (<https://a.b/c>).");
        assert_eq!(escaped("[`X`](https://a.b/c) y"), "\\[`X`\\](<https://a.b/c>) y");
    }

    #[test]
    fn a_scheme_without_a_host_is_code() {
        assert_eq!(escaped("e.g. https:// or huggingface://"), "e.g. `https://` or `huggingface://`");
    }

    #[test]
    fn a_line_cannot_begin_a_block() {
        assert_eq!(escaped("# a"), "\\# a");
        assert_eq!(escaped("1. a"), "1\\. a");
        assert_eq!(escaped("- a"), "\\- a");
    }

    #[test]
    fn marks_that_turn_the_direction_of_text_are_left_out() {
        assert_eq!(escaped("a\u{202e}b"), "ab");
        assert_eq!(code_span("a\u{2066}`b\n"), "`a b`");
    }

    #[test]
    fn indented_lines_are_no_code_blocks() {
        assert_eq!(attributes("    let x;").to_string(), "# [doc = \" let x;\"]");
    }

    #[test]
    fn a_text_reads_back_where_nothing_was_changed() {
        assert!(reads_back("One `a[0]`.\nTwo."));
        assert!(!reads_back("One [a]."));
        assert!(!reads_back("One.\n\nTwo."));
    }
}
