//! Keys of the settings of security schemes. They follow from a scheme's own name, never from the order of schemes: a
//! credential that is configured must not go to another scheme when the document is sorted anew.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Kind, TAKEN, key_of};
use crate::source::sha256_hex;

/// The key, or the beginning of the keys, of each scheme: its name, or what no setting of every server has. Where two
/// schemes claim one key, both get a suffix from their names.
pub(super) fn prefixes(schemes: &[(&str, &Value)], taken: &BTreeSet<String>) -> Vec<String> {
    let plain: Vec<String> = schemes.iter().map(|(name, _)| own_prefix(name, taken)).collect();
    let mut prefixes = plain.clone();
    // A suffix may make a key that yet another scheme has, so that this is looked at until nothing changes.
    for _ in 0..=schemes.len() {
        let mut claimed: BTreeMap<String, usize> = taken.iter().map(|key| (key.clone(), 1)).collect();
        for ((_, node), prefix) in schemes.iter().zip(&prefixes) {
            claims(node, prefix).into_iter().for_each(|key| *claimed.entry(key).or_default() += 1);
        }
        let mut changed = false;
        for (((name, node), plain), prefix) in schemes.iter().zip(&plain).zip(&mut prefixes) {
            let is_shared = claims(node, prefix).iter().any(|key| claimed.get(key).is_some_and(|count| *count > 1));
            if is_shared && prefix == plain {
                *prefix = format!("{plain}_{}", suffix(name));
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    prefixes
}

/// Eight digits that follow from a text alone.
pub(super) fn suffix(text: &str) -> String {
    sha256_hex(text.as_bytes()).chars().take(8).collect()
}

fn own_prefix(name: &str, taken: &BTreeSet<String>) -> String {
    let plain = Some(key_of(name)).filter(|key| !key.is_empty()).unwrap_or_else(|| "credential".to_owned());
    // Variables of common settings begin so: `mcp_read_only` would share one with `read_only`.
    if plain.starts_with("mcp_") {
        return format!("api_{plain}");
    }
    let is_taken = |key: String| taken.contains(&key) || TAKEN.contains(&key.as_str());
    match ["", "_username", "_token"].iter().any(|end| is_taken(format!("{plain}{end}"))) {
        true => format!("{plain}_credential"),
        false => plain,
    }
}

/// The keys that a scheme has, and what they begin with.
fn claims(node: &Value, prefix: &str) -> BTreeSet<String> {
    let ends: &[&str] = match Kind::of(node) {
        Kind::ApiKey(_) | Kind::Bearer => &[""],
        Kind::Basic => &["", "_username", "_password"],
        Kind::OAuth2 => &["", "_token", "_client_id", "_client_secret", "_token_url", "_scopes", "_client_auth"],
        Kind::MutualTls | Kind::Unknown => &[],
    };
    ends.iter().map(|end| format!("{prefix}{end}")).collect()
}
