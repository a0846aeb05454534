//! Rust code: names once, then one emitter per kind of generated file.

mod agreement;
mod content;
mod crate_root;
mod doc;
mod names;
mod native;
mod print;
mod rows;
pub(crate) mod server;
mod tools;
mod types;

use proc_macro2::TokenStream;
use quote::quote;

use crate::diagnostic::{Diagnostic, Sink};
use crate::file_set::FileSet;
use crate::model::Model;
use names::Names;

/// Code that does not parse is a fault of the emitters.
#[derive(Debug, thiserror::Error)]
#[error("the emitted code of {file} does not parse: {source}")]
struct EmitError {
    file: String,
    source: syn::Error,
}

/// Writes the Rust files of `<server>-tools` and `<server>-server`.
pub(crate) fn emit(model: &Model, facts: &crate_root::Facts, files: &mut FileSet, sink: &mut Sink) {
    let names = Names::new(model);
    let tools = format!("generated/{}-tools/src", model.loaded.config.server);
    let server = format!("generated/{}-server/src", model.loaded.config.server);
    let mut sources: Vec<(String, String, Vec<TokenStream>)> = Vec::new();
    for (module, (about, items)) in modules(model, &names) {
        sources.push((format!("{tools}/{module}.rs"), about, items));
    }
    sources.push((
        format!("{tools}/lib.rs"),
        crate_root::about(model, &names),
        crate_root::items(model, &names, facts),
    ));
    if native::is_needed(model) {
        let path = format!("{tools}/{}.rs", native::MODULE);
        sources.push((path, native::about(model), native::items(model, &names)));
    }
    for module in content::modules(model) {
        sources.push((format!("{tools}/{module}.rs"), content::about(model, module), content::items(model, module)));
    }
    let tests = format!("generated/{}-tools/tests", model.loaded.config.server);
    let agreement = agreement::items(model, &names);
    if !agreement.is_empty() {
        sources.push((format!("{tests}/agreement.rs"), agreement::about(), agreement));
    }
    sources.push((format!("{server}/main.rs"), server::about(model), server::items(model)));
    for (path, about, items) in sources {
        match print::file(&model.loaded.dir, &path, &about, items) {
            Ok(text) => files.insert(path, text),
            Err(error) => {
                let help = "this is a fault of the generator, not of a spec; please report it";
                sink.push(Diagnostic::error("bad-emission", error.to_string()).help(help));
            }
        }
    }
}

pub(crate) use crate_root::Facts;

/// Each module with its first doc line and its items: tools by name, then types by name.
fn modules(model: &Model, names: &Names) -> std::collections::BTreeMap<String, (String, Vec<TokenStream>)> {
    let mut modules = std::collections::BTreeMap::new();
    let boxed = types::Boxed::new(model);
    for module in names.modules() {
        let own: Vec<_> = model.tools.iter().filter(|tool| names.tool(tool).module == module).collect();
        let mut items: Vec<TokenStream> = own
            .iter()
            .map(|tool| match rows::is_row(model, tool) {
                true => rows::item(tool),
                false => tools::item(model, names, tool),
            })
            .collect();
        let has_rows = own.iter().any(|tool| rows::is_row(model, tool));
        let row_imports = has_rows.then(|| rows::imports(&items));
        let rows_only = has_rows && own.iter().all(|tool| rows::is_row(model, tool));
        items.extend(types::items(model, names, &boxed, &module));
        let silent = types::undescribed(names, &module).then(
            || quote!(#![allow(missing_docs, reason = "the document does not describe every field of its answers")]),
        );
        let nested = items
            .iter()
            .any(print::nests_deeply)
            .then(|| quote!(#![allow(clippy::type_complexity, reason = "the document nests maps in maps")]));
        let imports = if rows_only { Vec::new() } else { print::imports(&items, &module, names) };
        let about = match own.is_empty() {
            true => "Types that several areas share.".to_owned(),
            false => format!("Tools of the area {}.", doc::code_span(names.tag(&module))),
        };
        // rustfmt does not carry the root's skip into the files of modules.
        let skip = std::iter::once(quote!(#![cfg_attr(rustfmt, rustfmt_skip)]));
        let items = skip.chain(silent).chain(nested).chain(row_imports).chain(imports).chain(items);
        modules.insert(module, (about, items.collect()));
    }
    modules
}
