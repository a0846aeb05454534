//! From bytes to text: UTF-8, or UTF-16 by its byte order mark or by its zero bytes. What is no text is named for what
//! it is, because people save login pages and packed files under the name of the document.

use std::borrow::Cow;

use super::{Fault, Offsets, Position};

/// First bytes of files that are no text, what they are, and what to do.
const NO_TEXT: [(&[u8], &str, &str); 4] = [
    (b"\x1f\x8b", "packed with gzip", "unpack it first, for instance with `gunzip`"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it first, and name the document in it"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", "unpack it first, for instance with `unzstd`"),
    (b"%PDF-", "a PDF", "ask its publisher for the OpenAPI document as YAML or JSON"),
];

/// First characters of files that are markup. Nothing that YAML or JSON documents begin with is among them.
const MARKUP: [(&str, &str, &str); 3] = [
    ("<!doctype html", "a web page", PAGE_HELP),
    ("<html", "a web page", PAGE_HELP),
    ("<?xml", "XML", "API documents are YAML or JSON; ask its publisher for the OpenAPI document"),
];

const PAGE_HELP: &str =
    "this may be a login or an error page: open the address in a browser, and name that of the document itself";

/// The text of a file, without a byte order mark.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Fault> {
    if let Some((_, what, help)) = NO_TEXT.iter().find(|(start, ..)| bytes.starts_with(start)) {
        return Err(fault("not-a-document", format!("this file is {what}"), FIRST, help));
    }
    let text = match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => return Err(unknown_encoding("UTF-32")),
        [0xff, 0xfe, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)?),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)?),
        // The first character of a document is ASCII (YAML 1.2.2 section 5.2).
        [0, second, ..] if *second != 0 => Cow::Owned(utf16(bytes, u16::from_be_bytes)?),
        [first, 0, ..] if *first != 0 => Cow::Owned(utf16(bytes, u16::from_le_bytes)?),
        _ => Cow::Borrowed(utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))?),
    };
    let start = text.trim_start();
    if start.is_empty() {
        return Err(fault(
            "empty-file",
            "this file is empty".into(),
            FIRST,
            "put its content there, or name another file",
        ));
    }
    let begins = |with: &str| start.get(..with.len()).is_some_and(|first| first.eq_ignore_ascii_case(with));
    if let Some((_, what, help)) = MARKUP.iter().find(|(with, ..)| begins(with)) {
        return Err(fault("not-a-document", format!("this file is {what}"), FIRST, help));
    }
    Ok(text)
}

const FIRST: Position = Position { line: 1, column: 1 };

fn utf8(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
        let position = Offsets::of(&before).position(&before, before.len());
        fault("not-utf8", "this byte is not UTF-8".into(), position, "save the file as UTF-8")
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, Fault> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    match String::from_utf16(&pairs.iter().map(|pair| unit(*pair)).collect::<Vec<_>>()) {
        Ok(text) if odd.is_empty() => Ok(text),
        _ => Err(unknown_encoding("broken UTF-16")),
    }
}

fn unknown_encoding(name: &str) -> Fault {
    fault("not-utf8", format!("this file is {name}, which is not read"), FIRST, "save the file as UTF-8")
}

fn fault(code: &'static str, message: String, position: Position, help: &'static str) -> Fault {
    Fault { code, message, position, pointer: String::new(), help }
}
