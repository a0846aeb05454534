//! `main.rs` of the server crate: everything it does is in the runtime.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::native;
use crate::model::Model;

pub(super) fn about(model: &Model) -> String {
    let config = &model.loaded.config;
    let name = &config.server;
    [
        format!("The MCP server `{name}-server`. Without a subcommand it serves over stdio."),
        String::new(),
        "- `stdio`, `http`: serve over a transport".to_owned(),
        "- `tools`, `call`: look at a tool, or run one".to_owned(),
        "- `prompts`, `resources`: what there is beside tools".to_owned(),
        "- `doctor`, `config`, `completions`: settings, examples, shell completion".to_owned(),
        String::new(),
        format!("Its tools are the crate `{name}-tools`; `--help` says the rest."),
    ]
    .join("\n")
}

pub(super) fn items(model: &Model) -> Vec<TokenStream> {
    let tools = format_ident!("{}_tools", model.loaded.config.server.replace('-', "_"));
    vec![
        quote!(#![cfg_attr(rustfmt, rustfmt_skip)]),
        quote!(
            use std::process::ExitCode;
        ),
        main(model, &tools),
    ]
}

/// Handlers are handed over here, where the compiler sees that none is missing.
fn main(model: &Model, tools: &Ident) -> TokenStream {
    if !native::is_needed(model) {
        return quote! {
            fn main() -> ExitCode {
                toolwright_server::run(&#tools::SERVER, &#tools::TOOLS)
            }
        };
    }
    let handlers = format_ident!("{}_native", model.loaded.config.server.replace('-', "_"));
    quote! {
        fn main() -> ExitCode {
            let tools = #tools::native::Native(#handlers::handlers());
            toolwright_server::run_native(&#tools::SERVER, &#tools::TOOLS, tools)
        }
    }
}
