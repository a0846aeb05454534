//! What only some bindings have: hidden arguments, a projection, pages. Rows leave out what is not there.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::option;
use crate::load::extension::NextPage;
use crate::model::tool::{Hidden, HiddenValue, HttpBinding, Pages, Tool};

/// The fields of such a binding, and the plain one for the others.
pub(super) fn fields(tool: &Tool, http: &HttpBinding) -> TokenStream {
    let hidden = (!tool.hidden.is_empty()).then(|| {
        let hidden = self::hidden(tool);
        quote!(hidden: #hidden,)
    });
    let project = http.project.as_ref().map(|filter| quote!(project: Some(#filter),));
    let pages = http.pages.as_ref().map(|pages| {
        let pages = self::pages(pages);
        quote!(paginate: Some(#pages),)
    });
    let is_full = hidden.is_some() && project.is_some() && pages.is_some();
    let others = (!is_full).then(|| quote!(..HttpBinding::PLAIN));
    quote!(#hidden #project #pages #others)
}

pub(super) fn hidden(tool: &Tool) -> TokenStream {
    let rows = tool.hidden.iter().map(|Hidden { argument, value }| {
        let name = &argument.name;
        let value = match value {
            HiddenValue::Constant(value) => {
                let text = value.to_string();
                quote!(HiddenValue::Constant(#text))
            }
            HiddenValue::Setting { key, schema } => {
                let schema = schema.to_string();
                quote!(HiddenValue::Setting { key: #key, schema: #schema })
            }
        };
        quote!(Hidden { argument: #name, value: #value })
    });
    quote!(&[#(#rows),*])
}

fn pages(pages: &Pages) -> TokenStream {
    let Pages { argument, items, next } = pages;
    let size = |size: &Option<String>| option(size.as_ref().map(|size| quote!(#size)));
    let next = match next {
        NextPage::Link => quote!(Link),
        NextPage::Cursor { answer, argument } => quote!(Cursor { answer: #answer, argument: #argument }),
        NextPage::Offset { argument, size: name } => {
            let size = size(name);
            quote!(Offset { argument: #argument, size: #size })
        }
        NextPage::Page { argument, size: name, first } => {
            let size = size(name);
            let first = Literal::u32_unsuffixed(first.unwrap_or(1));
            quote!(Page { argument: #argument, size: #size, first: #first })
        }
    };
    quote!(Paginate { argument: #argument, items: #items, next: NextPage::#next })
}
