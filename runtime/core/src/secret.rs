//! Secrets: texts that never show themselves, and where they are asked for.

use std::fmt;

/// A text that never shows itself: not in `Debug` or `Display`, so not in errors and logs either.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The secret itself, for the one place that sends or compares it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<redacted>")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<redacted>")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Secret(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Secret(text.to_owned())
    }
}

/// Gives secrets by their logical names, such as `llm_api_key`, when they are needed and not before.
pub trait Secrets: Send + Sync {
    /// The secret of that name; `None` where nobody set it. It may wait for the system's keyring, so that it is asked
    /// from a thread that may.
    ///
    /// # Errors
    /// When the place that holds it cannot be read.
    fn get(&self, name: &str) -> Result<Option<Secret>, SecretFault>;

    /// Where it can be set, for the operator who has to, as the object of "set": of several places one is enough.
    fn place(&self, name: &str) -> String;
}

/// Why a secret cannot be read. The text must not hold any part of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFault(pub String);

impl fmt::Display for SecretFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SecretFault {}

/// No secret at all, for whoever wants none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSecrets;

impl Secrets for NoSecrets {
    fn get(&self, _name: &str) -> Result<Option<Secret>, SecretFault> {
        Ok(None)
    }

    fn place(&self, _name: &str) -> String {
        "no place".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_itself_neither_to_people_nor_to_programs() {
        let secret = Secret::new("k3y");
        assert_eq!((format!("{secret:?}"), format!("{secret}")), ("<redacted>".to_owned(), "<redacted>".to_owned()));
        assert_eq!(format!("{:?}", Some(&secret)), "Some(<redacted>)");
    }

    #[test]
    fn only_expose_gives_it_out() {
        assert_eq!(Secret::from("k3y").expose(), "k3y");
    }
}
