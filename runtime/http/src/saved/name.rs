//! Names of saved files: time, random digits, and what a hint leaves after cleaning.

use std::time::{SystemTime, UNIX_EPOCH};

use percent_encoding::percent_decode_str;

use crate::media;

/// Longest part taken from a hint, in bytes.
const LONGEST_STEM: usize = 60;

/// A new name: sorts by time, and repeats for nobody.
pub(crate) fn fresh(hint: Option<&str>, media_type: &str) -> String {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let random = fastrand::u32(..);
    let (stem, extension) = cleaned(hint.unwrap_or_default(), media_type);
    format!("{millis:013}-{random:08x}-{stem}.{extension}")
}

/// True for names that [`fresh`] gives.
pub(crate) fn is_ours(name: &str) -> bool {
    let mut parts = name.splitn(3, '-');
    let digits = |part: Option<&str>, length: usize| {
        part.is_some_and(|part| part.len() == length && part.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    digits(parts.next(), 13)
        && digits(parts.next(), 8)
        && parts.next().is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| is_safe(c) || c == '.'))
}

/// What a name that [`fresh`] gave says of the content, without time and random digits.
pub(crate) fn given_name(name: &str) -> &str {
    name.splitn(3, '-').nth(2).unwrap_or(name)
}

/// Letters and digits of any script stay; everything else could mean something to a shell or a file system.
fn is_safe(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

fn cleaned(hint: &str, media_type: &str) -> (String, String) {
    let base = hint.rsplit(['/', '\\']).next().unwrap_or_default();
    let (stem, suggested) = base.rsplit_once('.').unwrap_or((base, ""));
    let mut clean: String = stem.chars().map(|c| if is_safe(c) { c } else { '_' }).collect();
    let mut end = clean.len().min(LONGEST_STEM);
    while !clean.is_char_boundary(end) {
        end -= 1;
    }
    clean.truncate(end);
    let clean = clean.trim_matches(['_', '-']);
    let known = media::extension(media_type);
    let usable = (1..=8).contains(&suggested.len()) && suggested.bytes().all(|b| b.is_ascii_alphanumeric());
    let extension = if known == "bin" && usable { suggested.to_ascii_lowercase() } else { known.to_owned() };
    (if clean.is_empty() { "answer".to_owned() } else { clean.to_owned() }, extension)
}

/// The file name in a `Content-Disposition` value (RFC 6266): `filename*` before `filename`.
pub(crate) fn hint_from_disposition(header: &str) -> Option<String> {
    let parameters = parameters(header);
    let of = |wanted: &str| parameters.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let extended = of("filename*").and_then(|value| {
        let mut parts = value.splitn(3, '\'');
        let charset = parts.next()?;
        let encoded = parts.nth(1)?;
        charset.eq_ignore_ascii_case("utf-8").then(|| percent_decode_str(encoded).decode_utf8_lossy().into_owned())
    });
    extended.or_else(|| of("filename").map(str::to_owned)).filter(|name| !name.is_empty())
}

/// `name=value` pairs behind the first semicolon; quoted values may hold semicolons and escaped quotes.
fn parameters(header: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut rest = header.split_once(';').map_or("", |(_, rest)| rest);
    while let Some((name, behind)) = rest.split_once('=') {
        let (value, remaining) = value(behind.trim_start());
        out.push((name.trim_matches([' ', ';', '\t']).to_ascii_lowercase(), value));
        rest = remaining;
    }
    out
}

fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_once(';').unwrap_or((text, ""));
        return (value.trim().to_owned(), rest);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (value, quoted.get(at + 1..).unwrap_or_default().trim_start_matches([' ', ';'])),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => value.push(c),
        }
    }
    (value, "")
}
