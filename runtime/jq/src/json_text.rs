//! `fromjson` for texts that nobody vouches for: the one of the library recurs as deep as the text nests.

use jaq_core::{
    DataT, RunPtr, ValXs,
    native::{self, Fun, bome, v},
};
use jaq_json::{Error, Val, read};

/// The function that this one stands in for.
pub(crate) const NAME: &str = "fromjson";

/// As deep as `serde_json` reads.
const MAX_DEPTH: usize = 127;

// Over any data with these values, as the library's own are: of a certain one the compiler does not see its values.
pub(crate) fn function<D: for<'a> DataT<V<'a> = Val>>() -> Fun<D> {
    native::run(filter())
}

fn filter<D: for<'a> DataT<V<'a> = Val>>() -> native::Filter<RunPtr<D>> {
    (NAME, v(0), |cv| from_json_text(&cv.1))
}

fn from_json_text<'a>(text: &Val) -> ValXs<'a, Val> {
    match parsed(text) {
        Ok(values) => Box::new(values.into_iter().map(Ok)),
        Err(error) => bome(Err(error)),
    }
}

fn parsed(text: &Val) -> Result<Vec<Val>, Error> {
    let bytes = text.try_as_utf8_bytes_owned()?;
    if nests_too_deep(&bytes) {
        return Err(Error::str(format_args!("cannot parse a text as JSON: it nests deeper than {MAX_DEPTH} levels")));
    }
    let values: Result<Vec<Val>, read::Error> = read::parse_many(&bytes).collect();
    values.map_err(|error| Error::str(format_args!("cannot parse {text} as JSON: {error}")))
}

/// Sees strings and comments (`#` to the end of a line) as the reader does, up to the first fault, where that one stops.
fn nests_too_deep(text: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'#' => {
                let _ = bytes.find(|byte| **byte == b'\n');
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

/// Up to and with the closing quote.
fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Filter, Limits, RunError};

    const LIMITS: Limits = Limits { outputs: 10, bytes: 10_000, stack_bytes: 1024 * 1024 };

    fn read(text: &str) -> Result<Value, RunError> {
        Filter::compile("fromjson").unwrap().apply(&json!(text), LIMITS)
    }

    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn a_text_is_read_as_deep_as_json_is_elsewhere() {
        assert!(read(&nested(127)).is_ok());
        let error = read(&nested(128)).unwrap_err();
        assert!(error.to_string().contains("nests deeper than 127 levels"), "{error}");
    }

    #[test]
    fn what_never_closes_is_refused() {
        for text in ["[".repeat(30_000), "{\"a\":".repeat(30_000), format!("\"\\\"\" # \"\n{}", "[".repeat(30_000))] {
            assert!(read(&text).unwrap_err().to_string().contains("nests deeper"));
        }
    }

    #[test]
    fn brackets_in_strings_and_comments_do_not_nest() {
        let brackets = "[".repeat(300);
        assert_eq!(read(&format!("\"\\\"{brackets}\"")), Ok(json!(format!("\"{brackets}"))));
        assert_eq!(read(&format!("1 # {brackets}")), Ok(json!(1)));
    }

    #[test]
    fn several_values_are_several_outputs_and_a_fault_is_an_error() {
        assert_eq!(read("1 {\"a\": [2]}"), Ok(json!([1, {"a": [2]}])));
        assert!(read("1 x").unwrap_err().to_string().contains("cannot parse"));
    }

    #[test]
    fn numbers_are_read_with_it() {
        let filter = Filter::compile("tonumber").unwrap();
        assert_eq!(filter.apply(&json!("42"), LIMITS), Ok(json!(42)));
    }
}
