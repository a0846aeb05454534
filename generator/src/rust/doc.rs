//! Text of a document as doc comments: it can neither break out, nor become a doctest, nor make rustdoc warn.

use proc_macro2::TokenStream;
use quote::quote;

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
    for (word_index, word) in paragraph.split(' ').enumerate() {
        if word_index > 0 {
            out.push(' ');
        }
        let linkish = !in_code && word.contains("://");
        if linkish && balanced && !word.contains('`') {
            out.push_str(&link(word));
            continue;
        }
        for c in word.chars() {
            if c == '`' && balanced {
                in_code = !in_code;
                out.push(c);
            } else {
                escape_char(c, in_code, &mut out);
            }
        }
    }
    escape_start(out)
}

fn escape_char(c: char, in_code: bool, out: &mut String) {
    let special = matches!(c, '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '&' | '~' | '|' | '$');
    if special && !in_code {
        out.push('\\');
    }
    out.push(c);
}

/// A bare URL in angle brackets, as rustdoc wants it; punctuation around it stays outside.
fn link(word: &str) -> String {
    let start = word.find("http").unwrap_or(0);
    let (before, url) = word.split_at(start);
    let end = url.trim_end_matches(['.', ',', ';', ':', ')', '"', '\'', ']', '>']).len();
    let (url, after) = url.split_at(end);
    let has_host = url.split("://").nth(1).is_some_and(|host| host.starts_with(|c: char| c.is_ascii_alphanumeric()));
    let safe = has_host && url.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '`' | '\\'));
    let mut out = String::new();
    before.chars().for_each(|c| escape_char(c, false, &mut out));
    if safe && url.starts_with("http") {
        out.push_str(&format!("<{url}>"));
    } else {
        out.push('`');
        out.extend(url.chars().filter(|c| *c != '`'));
        out.push('`');
    }
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
