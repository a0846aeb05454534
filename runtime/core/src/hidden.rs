//! Arguments that callers never see: their values are fixed by the spec, or are settings of the server.

use serde_json::Value;

use crate::Binding;

/// An argument that is sent with every call and that no caller gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hidden {
    /// Name of the argument, as the binding has it.
    pub argument: &'static str,
    /// Where its value comes from.
    pub value: HiddenValue,
}

/// Where the value of a hidden argument comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HiddenValue {
    /// Always the same; the text is JSON.
    Constant(&'static str),
    /// A setting of the server.
    Setting {
        /// Its key, which [`crate::Access::settings`] declares.
        key: &'static str,
        /// JSON Schema 2020-12 of the value, as text.
        schema: &'static str,
    },
}

impl Binding {
    /// The arguments that callers never see.
    #[must_use]
    pub const fn hidden(&self) -> &'static [Hidden] {
        match self {
            Binding::Http(http) => http.hidden,
            Binding::WebSocket(websocket) => websocket.hidden,
            Binding::NoRoute(_) | Binding::Native | Binding::Expression(_) | Binding::Steps(_) | Binding::Linked(_) => {
                &[]
            }
        }
    }
}

/// The text of a setting is no value for the argument that it is for. The text is left out, since it may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadSetting {
    schema: String,
}

impl std::fmt::Display for BadSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const LONGEST: usize = 200;
        let cut: String = self.schema.chars().take(LONGEST).collect();
        let more = if cut.len() < self.schema.len() { "…" } else { "" };
        write!(f, "a value of this JSON Schema, as it is or written as JSON: {cut}{more}")
    }
}

impl std::error::Error for BadSetting {}

/// Reads the text of a setting as the value that a schema describes: the text itself where the schema takes it, else what
/// it says as JSON.
///
/// # Errors
/// Where the schema takes neither. The message continues "must be".
pub fn read_setting(schema: &str, text: &str) -> Result<Value, BadSetting> {
    let bad = || BadSetting { schema: schema.to_owned() };
    let parsed: Value = serde_json::from_str(schema).map_err(|_| bad())?;
    let validator = jsonschema::draft202012::new(&parsed).map_err(|_| bad())?;
    let as_it_is = Value::from(text);
    if validator.is_valid(&as_it_is) {
        return Ok(as_it_is);
    }
    serde_json::from_str(text).ok().filter(|value| validator.is_valid(value)).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read_setting;

    #[test]
    fn a_setting_is_text_where_the_schema_takes_text() {
        assert_eq!(read_setting(r#"{"type":"string"}"#, "5"), Ok(json!("5")));
        assert_eq!(read_setting("{}", "true"), Ok(json!("true")));
    }

    #[test]
    fn anything_else_is_read_as_json() {
        assert_eq!(read_setting(r#"{"type":"integer"}"#, "5"), Ok(json!(5)));
        assert_eq!(read_setting(r#"{"type":"array","items":{"type":"string"}}"#, r#"["a"]"#), Ok(json!(["a"])));
    }

    #[test]
    fn a_value_that_does_not_fit_is_refused_without_being_shown() {
        let error = read_setting(r#"{"type":"integer","maximum":9}"#, "10").unwrap_err();
        assert!(error.to_string().contains("\"maximum\":9"), "{error}");
        assert!(!error.to_string().contains("10"), "{error}");
    }
}
