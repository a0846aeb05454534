//! JSON that serde_json refuses and that can be read all the same: halves of surrogate pairs, numbers that are none, and
//! nodes that are nested too deeply. What is put in their place is as long as they are, so that all places stay.

use super::MAX_DEPTH;

/// Nodes of one file that are taken out. Each is found again in what was read.
pub(super) const MAX_TAKEN_OUT: usize = 100;

/// The words that some programs write for numbers that JSON does not have.
const NOT_FINITE: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// A text that was made readable, and where.
#[derive(Debug, Default)]
pub(super) struct Repaired {
    pub(super) text: String,
    /// Offsets of surrogates without their other half; U+FFFD stands there now.
    pub(super) surrogates: Vec<usize>,
    /// Offsets of nodes that were taken out, and why; 0 stands there now.
    pub(super) taken_out: Vec<(usize, Cause)>,
}

/// Why a node was taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    TooDeep,
    NotFinite(&'static str),
}

/// What makes a text no JSON for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// A comment begins at this offset.
    Comment(usize),
    /// The node at this offset is one too many to take out.
    TooMany(usize),
}

/// Repairs a text; it is unchanged where nothing of this kind is wrong with it.
pub(super) fn repair(text: &str) -> Result<Repaired, Stop> {
    let mut repair = Repair { bytes: text.as_bytes(), out: text.as_bytes().to_vec(), repaired: Repaired::default() };
    repair.all()?;
    // Only ASCII was written, and only over whole characters.
    repair.repaired.text = String::from_utf8(repair.out).unwrap_or_else(|_| text.to_owned());
    Ok(repair.repaired)
}

struct Repair<'t> {
    bytes: &'t [u8],
    out: Vec<u8>,
    repaired: Repaired,
}

impl Repair<'_> {
    fn all(&mut self) -> Result<(), Stop> {
        let (mut at, mut depth) = (0, 0_usize);
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b'"' => at = self.string(at),
                b'{' | b'[' if depth == MAX_DEPTH => {
                    let end = self.behind_container(at);
                    at = self.take_out(at, end, Cause::TooDeep)?;
                }
                b'{' | b'[' => (depth, at) = (depth + 1, at + 1),
                b'}' | b']' => (depth, at) = (depth.saturating_sub(1), at + 1),
                b'/' if self.begins_comment(at) => return Err(Stop::Comment(at)),
                b'N' | b'I' | b'-' => {
                    let rest = self.bytes.get(at..).unwrap_or_default();
                    at = match NOT_FINITE.into_iter().find(|word| rest.starts_with(word.as_bytes())) {
                        Some(word) => self.take_out(at, at + word.len(), Cause::NotFinite(word))?,
                        None => at + 1,
                    };
                }
                _ => at += 1,
            }
        }
        Ok(())
    }

    /// A flow mapping of YAML may hold addresses without quotes.
    fn begins_comment(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.bytes.get(before));
        matches!(self.bytes.get(at + 1), Some(b'/' | b'*')) && before != Some(&b':')
    }

    /// Puts 0 in the place of a node.
    fn take_out(&mut self, start: usize, end: usize, cause: Cause) -> Result<usize, Stop> {
        if self.repaired.taken_out.len() == MAX_TAKEN_OUT {
            return Err(Stop::TooMany(start));
        }
        self.repaired.taken_out.push((start, cause));
        if let Some((first, rest)) = self.out.get_mut(start..end).and_then(<[u8]>::split_first_mut) {
            *first = b'0';
            // Line breaks stay, or the lines behind would be counted wrong.
            rest.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
        Ok(end)
    }

    /// The offset behind the string that begins here. Lone halves of surrogate pairs are replaced.
    fn string(&mut self, start: usize) -> usize {
        let mut at = start + 1;
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b'"' => return at + 1,
                b'\\' => {
                    at += match (self.surrogate(at), self.surrogate(at + 6)) {
                        (Some(0xd800..0xdc00), Some(0xdc00..)) => 12,
                        (Some(_), _) => {
                            self.repaired.surrogates.push(at);
                            if let Some(escape) = self.out.get_mut(at..at + 6) {
                                escape.copy_from_slice(b"\\ufffd");
                            }
                            6
                        }
                        _ => 2,
                    }
                }
                _ => at += 1,
            }
        }
        at
    }

    /// The half of a surrogate pair whose escape stands here (RFC 8259 section 7).
    fn surrogate(&self, at: usize) -> Option<u16> {
        let digits = self.bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        (0xd800..0xe000).contains(&unit).then_some(unit)
    }

    /// The offset behind the object or array that begins here; its strings are not looked into.
    fn behind_container(&self, start: usize) -> usize {
        let (mut at, mut depth, mut in_string) = (start, 0_usize, false);
        while let Some(byte) = self.bytes.get(at) {
            match (byte, in_string) {
                (b'\\', true) => at += 1,
                (b'"', _) => in_string = !in_string,
                (b'{' | b'[', false) => depth += 1,
                (b'}' | b']', false) => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        at.min(self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Cause, Stop, repair};

    #[test]
    fn what_is_put_in_place_is_as_long_as_what_stood_there() {
        let repaired = repair(r#"["\ud83d", "\ud83d\ude00", "\\ud83d", NaN, -Infinity]"#).unwrap();
        assert_eq!(repaired.text, r#"["\ufffd", "\ud83d\ude00", "\\ud83d", 0  , 0        ]"#);
        assert_eq!(repaired.surrogates, [2]);
        assert_eq!(repaired.taken_out, [(38, Cause::NotFinite("NaN")), (43, Cause::NotFinite("-Infinity"))]);
    }

    #[test]
    fn words_inside_strings_are_no_numbers_and_no_comments() {
        let text = r#"{"NaN": "// NaN", "a": -1}"#;
        assert_eq!(repair(text).unwrap().text, text);
    }

    #[test]
    fn a_comment_is_found_where_it_begins() {
        assert_eq!(repair("{ // a\n}").unwrap_err(), Stop::Comment(2));
        assert_eq!(repair("{\"a\": 1 /* b */}").unwrap_err(), Stop::Comment(8));
    }
}
