//! Percent-encoding (RFC 3986 section 2).

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

/// Everything but the unreserved characters (RFC 3986 section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// As [`RESERVED`], without the reserved characters that a query can hold and that end no value in it: `#` ends the query,
/// `&` the pair, `+` is read as a space, and brackets are not for queries (RFC 3986 section 3.4). A `,` may end an item.
const UNSAFE_IN_QUERY: &AsciiSet = &RESERVED
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// What may not stand in the literal part of a path: everything outside `pchar` and `/` (RFC 3986 section 3.3). `%` is
/// left alone, since the template may hold encoded characters.
const NOT_LITERAL: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b'[')
    .add(b']')
    .add(b'?')
    .add(b'#');

/// A value of an argument: nothing reserved is left.
pub fn value(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// A value of a query whose document says `allowReserved`: reserved characters stay where they cannot be misread, and so do
/// characters that are encoded already (RFC 6570 section 3.2.3).
pub(crate) fn reserved(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        out.extend(utf8_percent_encode(before, UNSAFE_IN_QUERY));
        let is_encoded = from.bytes().skip(1).take(2).filter(u8::is_ascii_hexdigit).count() == 2;
        out.push_str(if is_encoded { "%" } else { "%25" });
        rest = from.get(1..).unwrap_or_default();
    }
    out.extend(utf8_percent_encode(rest, UNSAFE_IN_QUERY));
    out
}

/// The document's own words in a path.
pub(crate) fn literal(text: &str) -> String {
    utf8_percent_encode(text, NOT_LITERAL).to_string()
}
