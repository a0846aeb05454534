//! `native.rs` of the tools crate: the trait that a server's own handlers implement, and the way of a call to them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::doc;
use super::names::{self, Names};
use crate::model::Model;
use crate::model::tool::{Binding, Tool};

/// Name of the module.
pub(super) const MODULE: &str = "native";

/// Whether some tool is Rust.
pub(super) fn is_needed(model: &Model) -> bool {
    tools(model).next().is_some()
}

fn tools<'m>(model: &'m Model) -> impl Iterator<Item = &'m Tool> {
    model.tools.iter().filter(|tool| matches!(tool.binding, Binding::Native { .. }))
}

/// The module's documentation.
pub(super) fn about(model: &Model) -> String {
    format!(
        "The tools that are Rust: a method each, which the crate `{}/native` implements.\n\n\
         A tool file with `native: {{}}` adds a method, and whoever lacks it does not compile.",
        model.loaded.dir
    )
}

pub(super) fn items(model: &Model, names: &Names) -> Vec<TokenStream> {
    let skip = quote!(#![cfg_attr(rustfmt, rustfmt_skip)]);
    let native = quote! {
        /// Passes each call to its handler.
        #[derive(Debug)]
        pub struct Native<H>(pub H);
    };
    vec![skip, imports(model, names), handlers(model, names), native, dispatch(model)]
}

/// Modules rather than types: no tool's name can clash with what stands here.
fn imports(model: &Model, names: &Names) -> TokenStream {
    let inputs = tools(model).map(|tool| names.tool(tool).module);
    let outputs = tools(model).filter_map(|tool| Some(output_item(names, tool)?.module.clone()));
    let mut modules: Vec<String> = inputs.chain(outputs).collect();
    modules.sort();
    modules.dedup();
    let modules: Vec<_> = modules.iter().map(|module| format_ident!("{module}")).collect();
    match modules.as_slice() {
        [only] => quote!(use crate::#only;),
        several => quote!(use crate::{#(#several),*};),
    }
}

fn input_type(names: &Names, tool: &Tool) -> TokenStream {
    let named = names.tool(tool);
    let (module, ident) = (format_ident!("{}", named.module), named.ident);
    quote!(#module::#ident)
}

/// The struct or enum that the output became.
fn output_item<'n>(names: &'n Names, tool: &Tool) -> Option<&'n names::Named> {
    let output = tool.output.as_ref()?;
    let key = output.reference.as_deref().unwrap_or(&output.origin);
    let is_item = output.reference.is_some() || names::becomes_item(output);
    names.item(key).filter(|_| is_item).map(|item| &item.named)
}

fn output_type(names: &Names, tool: &Tool) -> TokenStream {
    if let Some(named) = output_item(names, tool) {
        let (module, ident) = (format_ident!("{}", named.module), &named.ident);
        return quote!(#module::#ident);
    }
    match tool.output {
        None if makes_content(tool) => quote!(Vec<toolwright_core::Block>),
        Some(_) => {
            let input = input_type(names, tool);
            quote!(<#input as toolwright_core::Tool>::Output)
        }
        None => quote!(serde_json::Value),
    }
}

fn makes_content(tool: &Tool) -> bool {
    matches!(tool.binding, Binding::Native { content: true })
}

fn handlers(model: &Model, names: &Names) -> TokenStream {
    let methods = tools(model).map(|tool| {
        let text = doc::attributes(&tool.purpose);
        let (method, input, output) = (names::ident(&tool.name), input_type(names, tool), output_type(names, tool));
        quote! {
            #text
            fn #method(
                &self,
                input: #input,
                context: &toolwright_core::Context,
            ) -> impl Future<Output = Result<#output, toolwright_core::ToolError>> + Send;
        }
    });
    quote! {
        /// The handlers of this server. Arguments have passed the tool's schema; what comes back is the `data` of the result,
        /// or, as blocks of content, the result itself.
        ///
        /// Write the methods as `async fn`. A call that is cancelled or past its deadline is dropped at its next await; a panic
        /// is answered as a failure of that call.
        pub trait Handlers: Send + Sync + 'static {
            #(#methods)*
        }
    }
}

fn dispatch(model: &Model) -> TokenStream {
    let arms = tools(model).map(|tool| {
        let (name, method) = (&tool.name, names::ident(&tool.name));
        let output = match makes_content(tool) {
            true => quote!(Ok(toolwright_core::NativeOutput::Content(output))),
            false => quote!(toolwright_core::native_output(output)),
        };
        quote! {
            #name => {
                let output = self.0.#method(toolwright_core::native_input(arguments)?, context).await?;
                #output
            }
        }
    });
    quote! {
        impl<H: Handlers> toolwright_core::NativeTools for Native<H> {
            fn call<'a>(
                &'a self,
                tool: &'a str,
                arguments: serde_json::Map<String, serde_json::Value>,
                context: &'a toolwright_core::Context,
            ) -> toolwright_core::NativeCall<'a> {
                Box::pin(async move {
                    match tool {
                        #(#arms)*
                        other => Err(toolwright_core::no_handler(other)),
                    }
                })
            }
        }
    }
}
