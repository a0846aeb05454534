//! `#[hidden(..)]`: arguments of the request that are no fields, since callers never see them.

use syn::{Attribute, LitStr, spanned::Spanned as _};

use crate::attribute::key;
use crate::field::{self, Argument, HiddenValue, Place};
use crate::fold::Errors;

/// One argument for each attribute, in their order.
pub(crate) fn arguments(attributes: &[Attribute], errors: &mut Errors) -> Vec<Argument> {
    let own = attributes.iter().filter(|attribute| attribute.path().is_ident("hidden"));
    own.filter_map(|attribute| errors.keep(argument(attribute))).collect()
}

/// `#[hidden(query, name = "version", constant = "2")]`, or `setting = "..", schema = ".."` in place of the constant.
fn argument(attribute: &Attribute) -> syn::Result<Argument> {
    let (mut place, mut name, mut wire) = (None, None, None);
    let (mut constant, mut setting, mut schema) = (None, None, None);
    let mut argument = Argument::empty(attribute.span());
    attribute.parse_nested_meta(|meta| {
        match key(&meta).as_str() {
            "name" => name = Some(meta.value()?.parse::<LitStr>()?),
            "wire" => wire = Some(meta.value()?.parse::<LitStr>()?.value()),
            "constant" => constant = Some(meta.value()?.parse::<LitStr>()?),
            "setting" => setting = Some(meta.value()?.parse::<LitStr>()?),
            "schema" => schema = Some(meta.value()?.parse::<LitStr>()?),
            word if place.is_none() => match field::place_of(word).filter(|place| can_be_hidden(*place)) {
                Some(found) => {
                    place = Some(found);
                    argument.place = found;
                }
                None => {
                    return Err(
                        meta.error("write the place first: segment, query, header, cookie, member, form or part")
                    );
                }
            },
            _ => field::read_key(&mut argument, &meta)?,
        }
        Ok(())
    })?;
    let fault = |message: &str| syn::Error::new(attribute.span(), message);
    let name = name.ok_or_else(|| fault("a hidden argument needs `name`"))?.value();
    if place.is_none() {
        return Err(fault("a hidden argument goes nowhere; write its place first, such as `query`"));
    }
    argument.hidden = Some(match (constant, setting, schema) {
        (Some(constant), None, None) => HiddenValue::Constant(constant),
        (None, Some(key), Some(schema)) => HiddenValue::Setting { key, schema },
        _ => return Err(fault("a hidden argument needs `constant`, or `setting` with `schema`")),
    });
    argument.wire = wire.unwrap_or_else(|| name.clone());
    argument.name = name;
    Ok(argument)
}

fn can_be_hidden(place: Place) -> bool {
    place.is_parameter() || matches!(place, Place::Member | Place::Form | Place::Part)
}
