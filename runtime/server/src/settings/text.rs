//! Types of settings that are text: as it is, and lists of named values as OpenTelemetry writes them.

use axum::http::{HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;

use super::value::kind;
use super::{Kind, SettingValue, TomlForm};

/// One line of text. Whoever uses it says what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(pub String);

impl SettingValue for Text {
    const KIND: Kind = kind("TEXT", TomlForm::Text);

    fn read(text: &str) -> Result<Self, &'static str> {
        if text.chars().any(char::is_control) {
            return Err("one line without control characters");
        }
        Ok(Text(text.to_owned()))
    }
}

/// Named values, as `team=search,region=eu%2Dwest`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairs(Vec<(String, String)>);

impl Pairs {
    /// Each name with its value, in their order.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Values may be percent-encoded (OpenTelemetry, resource SDK, `OTEL_RESOURCE_ATTRIBUTES`).
impl SettingValue for Pairs {
    const KIND: Kind = kind("PAIRS", TomlForm::Text);

    fn read(text: &str) -> Result<Self, &'static str> {
        const ACCEPTED: &str = "names with values, such as team=search,region=eu";
        let mut pairs = Vec::new();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or(ACCEPTED)?;
            let value = percent_decode_str(value.trim()).decode_utf8().map_err(|_| ACCEPTED)?;
            match name.trim() {
                "" => return Err(ACCEPTED),
                name => pairs.push((name.to_owned(), value.into_owned())),
            }
        }
        Ok(Pairs(pairs))
    }
}

/// Named values that are headers, and secret.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretPairs(Pairs);

impl SecretPairs {
    /// Each name with its value, for the one place that sends them.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.all()
    }
}

impl std::fmt::Debug for SecretPairs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

impl SettingValue for SecretPairs {
    const KIND: Kind = Kind { secret: true, ..kind("PAIRS", TomlForm::Text) };

    fn read(text: &str) -> Result<Self, &'static str> {
        const ACCEPTED: &str = "headers with values, such as Authorization=Basic%20a2V5";
        let pairs = Pairs::read(text).map_err(|_| ACCEPTED)?;
        let fits = |(name, value): (&str, &str)| {
            HeaderName::from_bytes(name.as_bytes()).is_ok() && HeaderValue::from_str(value).is_ok()
        };
        if pairs.all().all(fits) { Ok(SecretPairs(pairs)) } else { Err(ACCEPTED) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_with_encoded_values() {
        let pairs = Pairs::read("a=1, b = x%2Cy=z ,").unwrap();
        assert_eq!(pairs.all().collect::<Vec<_>>(), [("a", "1"), ("b", "x,y=z")]);
        for text in ["a", "=1", "a=%ff"] {
            assert!(Pairs::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn headers_are_ones_that_can_be_sent_and_show_no_value() {
        let headers = SecretPairs::read("Authorization=Basic%20s3cr3t,x-key=s3cr3t").unwrap();
        assert_eq!(headers.all().next(), Some(("Authorization", "Basic s3cr3t")));
        assert_eq!(format!("{headers:?}"), "***");
        for text in ["a b=1", "a=%0d%0ax"] {
            assert!(SecretPairs::read(text).is_err(), "{text}");
        }
    }
}
