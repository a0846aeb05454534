//! `#[register_tools]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, ItemStatic};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(syn::Error::new_spanned(arguments, "register_tools takes no arguments"));
    }
    let item: ItemStatic = syn::parse2(item)?;
    let Expr::Array(tools) = &*item.expr else {
        return Err(syn::Error::new_spanned(&item.expr, "write the list of tools: [module::Tool, ..]"));
    };
    let rows = tools
        .elems
        .iter()
        .map(|tool| match tool {
            Expr::Path(tool) => Ok(quote!(<#tool as ::toolwright_core::Tool>::SPEC)),
            other => Err(syn::Error::new_spanned(other, "write the path of a type that derives Tool")),
        })
        .collect::<syn::Result<Vec<_>>>()?;
    let ItemStatic { attrs, vis, ident, ty, .. } = &item;
    Ok(quote! {
        #(#attrs)*
        #vis static #ident: #ty = {
            const ROWS: &[::toolwright_core::ToolSpec] = &[#(#rows),*];
            const _: () = ::toolwright_core::assert_sorted_and_unique(ROWS);
            ::toolwright_core::Catalog::new(ROWS)
        };
    })
}
