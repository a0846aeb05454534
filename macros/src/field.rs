//! The fields of the struct: one argument each.

use proc_macro2::Span;
use syn::{Attribute, Field, Ident, LitBool, LitStr, ext::IdentExt as _, spanned::Spanned as _};

use crate::attribute::{key, one_of};

/// One argument: where it goes, and how it is written there.
pub(crate) struct Argument {
    pub(crate) span: Span,
    pub(crate) place: Place,
    pub(crate) name: String,
    pub(crate) wire: String,
    pub(crate) style: Option<Ident>,
    pub(crate) explode: Option<LitBool>,
    pub(crate) send_as: Vec<(LitStr, LitStr)>,
    pub(crate) media_type: Option<LitStr>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    Header,
    Cookie,
    Body,
    Form,
    Part,
    File,
    Exchange,
    Extra,
}

const PLACES: [(&str, Place); 10] = [
    ("segment", Place::Path),
    ("query", Place::Query),
    ("header", Place::Header),
    ("cookie", Place::Cookie),
    ("body", Place::Body),
    ("form", Place::Form),
    ("part", Place::Part),
    ("file", Place::File),
    ("exchange", Place::Exchange),
    ("extra", Place::Extra),
];

const STYLES: [&str; 9] = ["simple", "form", "label", "matrix", "spaces", "pipes", "tabs", "deep", "json"];

impl Place {
    pub(crate) fn is_parameter(self) -> bool {
        matches!(self, Place::Path | Place::Query | Place::Header | Place::Cookie)
    }

    pub(crate) fn is_form(self) -> bool {
        matches!(self, Place::Form | Place::Part | Place::File)
    }
}

pub(crate) fn argument(field: &Field) -> syn::Result<Argument> {
    let ident = field.ident.as_ref().ok_or_else(|| syn::Error::new(field.span(), "a tool's fields have names"))?;
    let mut bound = field.attrs.iter().filter_map(|attribute| {
        PLACES.iter().find(|(name, _)| attribute.path().is_ident(name)).map(|(_, place)| (attribute, *place))
    });
    let (attribute, place) = bound.next().ok_or_else(|| {
        let names: Vec<String> = PLACES.iter().map(|(name, _)| format!("#[{name}]")).collect();
        syn::Error::new(ident.span(), format!("the field goes nowhere; add one of {}", names.join(", ")))
    })?;
    if let Some((second, _)) = bound.next() {
        return Err(syn::Error::new(second.span(), "a field goes to one place"));
    }
    let name = serde_name(&field.attrs)?.unwrap_or_else(|| ident.unraw().to_string());
    let mut argument = Argument {
        span: ident.span(),
        place,
        wire: name.clone(),
        name,
        style: None,
        explode: None,
        send_as: Vec::new(),
        media_type: None,
    };
    if !matches!(attribute.meta, syn::Meta::Path(_)) {
        attribute.parse_nested_meta(|meta| {
            match key(&meta).as_str() {
                "wire" => argument.wire = meta.value()?.parse::<LitStr>()?.value(),
                "style" => argument.style = Some(one_of(meta.value()?.parse()?, &STYLES)?),
                "explode" => argument.explode = Some(meta.value()?.parse()?),
                "send_as" => argument.send_as = pairs(&meta)?,
                "media_type" if place == Place::Body => argument.media_type = Some(meta.value()?.parse()?),
                _ => return Err(meta.error("keys here are wire, style, explode, send_as and, for a body, media_type")),
            }
            Ok(())
        })?;
    }
    Ok(argument)
}

/// The name that serde gives the field, so that the row and the struct agree.
fn serde_name(attributes: &[Attribute]) -> syn::Result<Option<String>> {
    let mut name = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") {
                name = Some(meta.value()?.parse::<LitStr>()?.value());
            } else if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            }
            Ok(())
        })?;
    }
    Ok(name)
}

/// `key(("a", "b"), ("c", "d"))`.
fn pairs(meta: &syn::meta::ParseNestedMeta<'_>) -> syn::Result<Vec<(LitStr, LitStr)>> {
    let content;
    syn::parenthesized!(content in meta.input);
    let pairs = content.parse_terminated(
        |input| {
            let pair;
            syn::parenthesized!(pair in input);
            let from = pair.parse()?;
            pair.parse::<syn::Token![,]>()?;
            Ok((from, pair.parse()?))
        },
        syn::Token![,],
    )?;
    Ok(pairs.into_iter().collect())
}
