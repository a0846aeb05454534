//! JSON as it stands in the database: compact, and otherwise as it was given, so that what is read is what was written.

use serde_json::Value;

use crate::Error;

/// A value as it is stored.
pub(crate) fn written(value: &Value) -> String {
    value.to_string()
}

/// A value as it was stored.
pub(crate) fn read(text: &str) -> Result<Value, Error> {
    serde_json::from_str(text).map_err(|fault| Error::Corrupt { what: format!("JSON of a row: {fault}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order() {
        let text = r#"{"b":[{"d":1,"c":null}],"a":"x"}"#;
        assert_eq!(written(&read(text).unwrap()), text);
    }

    #[test]
    fn numbers_keep_all_their_digits() {
        let text = r#"{"n":[12345678901234567890123,0.10000000000000000000000000000000001,1.50]}"#;
        assert_eq!(written(&read(text).unwrap()), text);
    }
}
