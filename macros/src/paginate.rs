//! `paginate(..)` of a route: how the further pages of a list are asked for.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{LitInt, LitStr, meta::ParseNestedMeta, spanned::Spanned as _};

use crate::attribute::key;

/// How pages are asked for; texts are names of arguments, and JSON pointers.
pub(crate) struct Paginate {
    pub(crate) span: Span,
    items: Option<LitStr>,
    next: Next,
}

enum Next {
    Link,
    Cursor { answer: LitStr, argument: LitStr },
    Offset { argument: LitStr, size: Option<LitStr> },
    Page { argument: LitStr, size: Option<LitStr>, first: LitInt },
}

/// `paginate(link)`, `paginate(cursor = "..", answer = "/..")`, `paginate(offset = "..", size = "..")` or
/// `paginate(page = "..", first = 1, size = "..")`, each with `items = "/.."` where the answer is not the list.
pub(crate) fn paginate(meta: &ParseNestedMeta<'_>) -> syn::Result<Paginate> {
    let (mut link, mut cursor, mut answer, mut offset) = (false, None, None, None);
    let (mut page, mut first, mut size, mut items) = (None, None, None, None);
    meta.parse_nested_meta(|meta| {
        match key(&meta).as_str() {
            "link" => link = true,
            "cursor" => cursor = Some(meta.value()?.parse()?),
            "answer" => answer = Some(meta.value()?.parse()?),
            "offset" => offset = Some(meta.value()?.parse()?),
            "page" => page = Some(meta.value()?.parse()?),
            "first" => first = Some(meta.value()?.parse()?),
            "size" => size = Some(meta.value()?.parse()?),
            "items" => items = Some(meta.value()?.parse()?),
            _ => return Err(meta.error("keys here are link, cursor, answer, offset, page, first, size and items")),
        }
        Ok(())
    })?;
    let next = match (link, cursor, offset, page) {
        (true, None, None, None) => Next::Link,
        (false, Some(argument), None, None) => {
            let answer = answer.ok_or_else(|| meta.error("`cursor` needs `answer`: where an answer holds it"))?;
            Next::Cursor { answer, argument }
        }
        (false, None, Some(argument), None) => Next::Offset { argument, size },
        (false, None, None, Some(argument)) => {
            let first = first.unwrap_or_else(|| LitInt::new("1", meta.path.span()));
            Next::Page { argument, size, first }
        }
        _ => return Err(meta.error("write one of `link`, `cursor`, `offset` and `page`")),
    };
    Ok(Paginate { span: meta.path.span(), items, next })
}

/// The row's value. `argument` is the one that says how many items are wanted.
pub(crate) fn value(paginate: &Paginate, argument: &str) -> TokenStream {
    let items = paginate.items.as_ref().map_or_else(String::new, LitStr::value);
    let size = |size: &Option<LitStr>| crate::row::option(size.as_ref().map(|size| quote!(#size)));
    let next = match &paginate.next {
        Next::Link => quote!(Link),
        Next::Cursor { answer, argument } => quote!(Cursor { answer: #answer, argument: #argument }),
        Next::Offset { argument, size: name } => {
            let size = size(name);
            quote!(Offset { argument: #argument, size: #size })
        }
        Next::Page { argument, size: name, first } => {
            let size = size(name);
            quote!(Page { argument: #argument, size: #size, first: #first })
        }
    };
    quote! {
        ::toolwright_core::Paginate {
            argument: #argument,
            items: #items,
            next: ::toolwright_core::NextPage::#next,
        }
    }
}
