//! Settings that hidden arguments are taken from: whether each fits what it is for, and which are missing.

use std::collections::{BTreeMap, BTreeSet};

use toolwright_core::{Catalog, HiddenValue, ToolSpec, read_setting};
use toolwright_http::why_not_sendable;

/// A use of a setting.
struct Use {
    key: &'static str,
    schema: &'static str,
    argument: &'static str,
    row: &'static ToolSpec,
}

fn uses(catalog: &Catalog) -> impl Iterator<Item = Use> {
    let rows = catalog.tools().iter();
    rows.flat_map(|row| {
        row.binding.hidden().iter().filter_map(move |hidden| match hidden.value {
            HiddenValue::Setting { key, schema } => Some(Use { key, schema, argument: hidden.argument, row }),
            HiddenValue::Constant(_) => None,
        })
    })
}

/// Settings whose text is no value for an argument that takes it, or cannot be sent there, each with what it must be. `text`
/// gives the text of a setting, where it has one.
pub(super) fn misfits(catalog: &Catalog, text: impl Fn(&str) -> Option<String>) -> Vec<(&'static str, String)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for Use { key, schema, argument, row } in uses(catalog) {
        let told = match text(key).map(|text| read_setting(schema, &text)) {
            Some(Err(error)) => format!("must be {error}"),
            Some(Ok(value)) => match why_not_sendable(row, argument, &value) {
                Some(reason) => format!("cannot be sent: {reason}"),
                None => continue,
            },
            None => continue,
        };
        if seen.insert((key, told.clone())) {
            found.push((key, format!("{told} (for {})", row.name)));
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
    for Use { key, row, .. } in uses(catalog).filter(|of| text(of.key).is_none()) {
        let tools = found.entry(key).or_default();
        if tools.last() != Some(&row.name) {
            tools.push(row.name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use toolwright_core::{Binding, Hidden, HttpBinding, Location, Parameter, Style};

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
    fn a_setting_must_be_sendable_where_it_goes() {
        const REGION: Parameter = Parameter {
            argument: "region",
            wire: "Region",
            location: Location::Header,
            style: Style::Simple,
            explode: false,
            reserved: false,
            send_as: &[],
        };
        const TEXT: Hidden = Hidden {
            argument: "region",
            value: HiddenValue::Setting { key: "region", schema: r#"{"type":"string"}"# },
        };
        const SENT: HttpBinding = HttpBinding { parameters: &[REGION], hidden: &[TEXT], ..HttpBinding::PLAIN };
        static ROWS_OF_REGION: [ToolSpec; 1] = [ToolSpec { binding: Binding::Http(SENT), ..ROWS[3] }];
        let told = misfits(&Catalog::new(&ROWS_OF_REGION), |_| Some("eu\r\nx: y".to_owned()));
        assert!(told[0].1.starts_with("cannot be sent: `region` is sent as a header and must not hold"), "{told:?}");
    }

    #[test]
    fn a_missing_setting_is_listed_with_the_tools_that_need_it() {
        assert_eq!(missing(&CATALOG, |_| None), BTreeMap::from([("number", vec!["list_items"])]));
        assert!(missing(&CATALOG, |_| Some("3".to_owned())).is_empty());
    }
}
