//! Settings that hidden arguments are taken from: whether each fits what it is for, and which are missing.

use std::collections::{BTreeMap, BTreeSet};

use toolwright_core::{Catalog, HiddenValue, ToolSpec, read_setting};

/// Each use of a setting: key, schema, the tool.
fn uses(catalog: &Catalog) -> impl Iterator<Item = (&'static str, &'static str, &'static ToolSpec)> {
    let rows = catalog.tools().iter();
    rows.flat_map(|row| {
        row.binding.hidden().iter().filter_map(move |hidden| match hidden.value {
            HiddenValue::Setting { key, schema } => Some((key, schema, row)),
            HiddenValue::Constant(_) => None,
        })
    })
}

/// Settings whose text is no value for an argument that takes it, each with what it must be. `text` gives the text of a
/// setting, where it has one.
pub(super) fn misfits(catalog: &Catalog, text: impl Fn(&str) -> Option<String>) -> Vec<(&'static str, String)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (key, schema, row) in uses(catalog).filter(|(key, schema, _)| seen.insert((*key, *schema))) {
        if let Some(Err(error)) = text(key).map(|text| read_setting(schema, &text)) {
            found.push((key, format!("must be {error} (for {})", row.name)));
        }
    }
    found
}

/// Settings without a text that tools need, each with the names of these.
pub(crate) fn missing(
    catalog: &Catalog,
    text: impl Fn(&str) -> Option<String>,
) -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut found: BTreeMap<&'static str, Vec<&'static str>> = BTreeMap::new();
    for (key, _, row) in uses(catalog).filter(|(key, ..)| text(key).is_none()) {
        let tools = found.entry(key).or_default();
        if tools.last() != Some(&row.name) {
            tools.push(row.name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use toolwright_core::{Binding, Hidden, HttpBinding};

    use super::*;
    use crate::testing::ROWS;

    const NUMBERED: HttpBinding = HttpBinding {
        hidden: &[Hidden {
            argument: "n",
            value: HiddenValue::Setting { key: "number", schema: r#"{"type":"integer"}"# },
        }],
        ..HttpBinding::PLAIN
    };
    const ROW: ToolSpec = ToolSpec { binding: Binding::Http(NUMBERED), ..ROWS[3] };
    static CATALOG: Catalog = Catalog::new(&[ROW]);

    #[test]
    fn a_setting_must_fit_the_argument_that_it_is_for() {
        let told = misfits(&CATALOG, |_| Some("many".to_owned()));
        let message =
            r#"must be a value of this JSON Schema, as it is or written as JSON: {"type":"integer"} (for list_items)"#;
        assert_eq!(told, [("number", message.to_owned())]);
        assert_eq!(misfits(&CATALOG, |_| Some("3".to_owned())), []);
        assert_eq!(misfits(&CATALOG, |_| None), []);
    }

    #[test]
    fn a_missing_setting_is_listed_with_the_tools_that_need_it() {
        assert_eq!(missing(&CATALOG, |_| None), BTreeMap::from([("number", vec!["list_items"])]));
        assert!(missing(&CATALOG, |_| Some("3".to_owned())).is_empty());
    }
}
