//! Errors with what caused them, for the log.

use std::error::Error;
use std::fmt;

/// Shows an error and every error below it, each once: many texts repeat the one below.
#[derive(Debug)]
pub(crate) struct Chain<'a>(pub(crate) &'a (dyn Error + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.0.to_string();
        f.write_str(&shown)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !shown.contains(&text) {
                write!(f, ": {text}")?;
                shown = text;
            }
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Outer(&'static str, #[source] std::io::Error);

    #[test]
    fn an_error_is_shown_with_its_causes_and_none_twice() {
        let cause = || std::io::Error::other("no route");
        assert_eq!(Chain(&Outer("cannot connect", cause())).to_string(), "cannot connect: no route");
        assert_eq!(Chain(&Outer("cannot connect: no route", cause())).to_string(), "cannot connect: no route");
    }
}
