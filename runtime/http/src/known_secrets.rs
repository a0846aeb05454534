//! The secrets that this process knows, so that no line of its log holds one, whatever wrote the line.

use std::{
    borrow::Cow,
    collections::VecDeque,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use serde_json::Value;

use crate::{
    answer::{MASK, change_texts, recognizable},
    encode::percent_value,
};

/// How many secrets of calls are kept: tokens that were fetched, and headers of callers. The oldest go first.
const MOST_PASSING: usize = 256;

/// Secrets to be taken out of texts. Clones share them; none of them shows itself.
#[derive(Clone, Default)]
pub struct KnownSecrets(Arc<RwLock<Known>>);

#[derive(Default)]
struct Known {
    lasting: Vec<String>,
    passing: VecDeque<String>,
    /// Every form of all of them, in the order in which they are hidden.
    forms: Vec<String>,
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secrets]")
    }
}

impl KnownSecrets {
    /// Notes secrets of the configuration, which stay as long as the process.
    pub fn keep(&self, secrets: impl IntoIterator<Item = String>) {
        self.change(|known| {
            for secret in secrets {
                if !known.lasting.contains(&secret) {
                    known.lasting.push(secret);
                }
            }
        });
    }

    /// Notes secrets that come with calls.
    pub fn learn(&self, secrets: impl IntoIterator<Item = String>) {
        let new: Vec<String> = secrets.into_iter().filter(|secret| !self.holds(secret)).collect();
        if new.is_empty() {
            return;
        }
        self.change(|known| {
            known.passing.extend(new);
            let surplus = known.passing.len().saturating_sub(MOST_PASSING);
            known.passing.drain(..surplus);
        });
    }

    /// The text without secrets. Those that are so short that they would turn up by chance stay.
    #[must_use]
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut scrubbed = Cow::Borrowed(text);
        for form in known.forms.iter().filter(|form| text.contains(form.as_str())) {
            scrubbed = Cow::Owned(scrubbed.replace(form.as_str(), MASK));
        }
        scrubbed
    }

    /// Takes secrets out of every text in a value, names of members included.
    pub fn scrub_value(&self, value: &mut Value) {
        change_texts(value, &|text| match self.scrub(text) {
            Cow::Owned(scrubbed) => Some(scrubbed),
            Cow::Borrowed(_) => None,
        });
    }

    fn holds(&self, secret: &String) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.lasting.contains(secret) || known.passing.contains(secret)
    }

    fn change(&self, change: impl FnOnce(&mut Known)) {
        // A panic elsewhere leaves the lists whole: each change is one call.
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut known);
        let mut forms: Vec<String> = known.lasting.iter().chain(&known.passing).flat_map(|text| forms(text)).collect();
        forms.sort();
        forms.dedup();
        known.forms = recognizable(forms);
    }
}

/// A secret as it is, and as URLs and JSON write it.
fn forms(secret: &str) -> [String; 3] {
    let json = Value::from(secret).to_string();
    let inner = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(secret);
    [secret.to_owned(), percent_value(secret), inner.to_owned()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn knowing(secrets: &[&str]) -> KnownSecrets {
        let known = KnownSecrets::default();
        known.keep(secrets.iter().map(|secret| (*secret).to_owned()));
        known
    }

    #[test]
    fn a_secret_is_taken_out_as_it_is_and_as_urls_and_json_write_it() {
        let known = knowing(&["s3cr/et\"1"]);
        assert_eq!(known.scrub("a s3cr/et\"1 b"), "a [masked] b");
        assert_eq!(known.scrub("?key=s3cr%2Fet%221&"), "?key=[masked]&");
        assert_eq!(known.scrub(r#"{"key":"s3cr/et\"1"}"#), r#"{"key":"[masked]"}"#);
    }

    #[test]
    fn a_secret_that_holds_another_leaves_no_part_of_itself() {
        assert_eq!(knowing(&["secret", "secret-of-more"]).scrub("secret-of-more secret"), "[masked] [masked]");
    }

    #[test]
    fn a_secret_that_would_turn_up_by_chance_stays() {
        assert_eq!(knowing(&["abc", ""]).scrub("abcdef"), "abcdef");
    }

    #[test]
    fn secrets_of_calls_make_room_for_newer_ones_and_those_of_the_settings_stay() {
        let known = knowing(&["setting-0"]);
        known.learn((0..=MOST_PASSING).map(|number| format!("token-{number}.")));
        assert_eq!(known.scrub("setting-0 token-0. token-1."), "[masked] token-0. [masked]");
    }

    #[test]
    fn values_lose_secrets_in_texts_and_names() {
        let mut value = json!({"s3cr3t!": ["x s3cr3t!", 1, null]});
        knowing(&["s3cr3t!"]).scrub_value(&mut value);
        assert_eq!(value, json!({"[masked]": ["x [masked]", 1, null]}));
    }

    #[test]
    fn no_secret_shows_itself() {
        assert_eq!(format!("{:?}", knowing(&["s3cr3t!"])), "[secrets]");
    }
}
