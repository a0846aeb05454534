//! Percent-encoding (RFC 3986 section 2).

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

/// Everything but the unreserved characters (RFC 3986 section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

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
pub(crate) fn value(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// The document's own words in a path.
pub(crate) fn literal(text: &str) -> String {
    utf8_percent_encode(text, NOT_LITERAL).to_string()
}
