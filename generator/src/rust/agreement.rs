//! `tests/agreement.rs` of the tools crate: each struct and its schema describe the same JSON.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::names::Names;
use super::rows;
use crate::model::Model;

/// The test crate's documentation.
pub(super) fn about() -> String {
    "Each tool's struct and its input schema describe the same JSON: samples of the schema go through the struct unchanged,\n\
     and faulty ones are refused."
        .to_owned()
}

/// One test a module; nothing where no tool has a struct.
pub(super) fn items(model: &Model, names: &Names) -> Vec<TokenStream> {
    let package = format_ident!("{}_tools", model.loaded.config.server.replace('-', "_"));
    let mut modules: BTreeMap<String, Vec<TokenStream>> = BTreeMap::new();
    for tool in model.tools.iter().filter(|tool| !rows::is_row(model, tool)) {
        let named = names.tool(tool);
        let (module, ident) = (format_ident!("{}", named.module), &named.ident);
        let tests = modules.entry(named.module.to_string()).or_default();
        tests.push(quote!(toolwright_samples::assert_agreement::<#package::#module::#ident>();));
    }
    if modules.is_empty() {
        return Vec::new();
    }
    let skip = std::iter::once(quote!(#![cfg_attr(rustfmt, rustfmt_skip)]));
    skip.chain(modules.into_iter().map(|(module, calls)| {
        let module = format_ident!("{module}");
        quote! {
            #[test]
            fn #module() {
                #(#calls)*
            }
        }
    }))
    .collect()
}
