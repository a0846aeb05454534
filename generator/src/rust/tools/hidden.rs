//! What a struct says beside its fields: arguments that callers never see, and how pages are followed.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::place_keys;
use crate::load::extension::NextPage;
use crate::model::tool::{Hidden, HiddenValue, Pages, Tool};

/// `#[hidden(query, name = "version", constant = "2")]`, one for each.
pub(super) fn attributes(tool: &Tool) -> impl Iterator<Item = TokenStream> + '_ {
    tool.hidden.iter().map(|Hidden { argument, value }| {
        let (word, keys) = place_keys(tool, argument);
        let (place, name) = (format_ident!("{word}"), &argument.name);
        let value = match value {
            HiddenValue::Constant(value) => {
                let text = value.to_string();
                quote!(constant = #text)
            }
            HiddenValue::Setting { key, schema } => {
                let schema = schema.to_string();
                quote!(setting = #key, schema = #schema)
            }
        };
        quote!(#[hidden(#place, name = #name, #(#keys,)* #value)])
    })
}

/// `paginate(offset = "offset", size = "limit", items = "/rows")`.
pub(super) fn paginate(pages: &Pages) -> TokenStream {
    let mut keys = Vec::new();
    let mut size = None;
    match &pages.next {
        NextPage::Link => keys.push(quote!(link)),
        NextPage::Cursor { answer, argument } => keys.push(quote!(cursor = #argument, answer = #answer)),
        NextPage::Offset { argument, size: name } => {
            keys.push(quote!(offset = #argument));
            size = name.as_ref();
        }
        NextPage::Page { argument, size: name, first } => {
            let first = Literal::u32_unsuffixed(first.unwrap_or(1));
            keys.push(quote!(page = #argument, first = #first));
            size = name.as_ref();
        }
    }
    keys.extend(size.map(|size| quote!(size = #size)));
    if !pages.items.is_empty() {
        let items = &pages.items;
        keys.push(quote!(items = #items));
    }
    quote!(paginate(#(#keys),*))
}
