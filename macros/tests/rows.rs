//! The rows that the generator writes for large documents are those that the derive makes of its structs: for one document
//! that has every kind of body, parameter, credential and server, both are made and compared as syntax.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, File, Item};
use toolwright_generator::diagnostic::Sink;
use toolwright_generator::generate;
use toolwright_generator::load::Files;

// A crate of macros exports nothing else, so the derive is compiled into this test.
#[path = "../src/attribute.rs"]
mod attribute;
#[path = "../src/field.rs"]
mod field;
#[path = "../src/fold.rs"]
mod fold;
#[path = "../src/hidden.rs"]
mod hidden;
#[path = "../src/paginate.rs"]
mod paginate;
#[path = "../src/row.rs"]
mod row;
#[path = "../src/tool.rs"]
mod tool;

const DOCUMENT: &str = include_str!("rows.yaml");

/// Rows by the name of their tool, in one spelling.
type Rows = BTreeMap<String, String>;

fn sources(settings: &str) -> Vec<File> {
    let mut files = Files::new();
    let head = "server: t\ntitle: T\ndocument: openapi.yaml\nupstream: {env_prefix: T}\n";
    files.insert("specs/t/server.yaml", format!("{head}{settings}"));
    files.insert("specs/t/openapi.yaml", DOCUMENT);
    let mut sink = Sink::new();
    let generated = generate(&files, "specs/t", &mut sink).unwrap_or_else(|| panic!("{sink}"));
    let is_source = |path: &str| path.starts_with("generated/t-tools/src/");
    let sources = generated.files.iter().filter(|(path, _)| is_source(path));
    sources.map(|(_, content)| syn::parse_file(std::str::from_utf8(content).unwrap()).unwrap()).collect()
}

fn collect(files: &[File], row: fn(&Item) -> Option<TokenStream>) -> Rows {
    let rows = files.iter().flat_map(|file| &file.items).filter_map(row);
    rows.map(|row| {
        let Expr::Struct(row) = syn::parse2(plain(row)).unwrap() else { panic!("a row is a struct") };
        let is_name = |field: &&syn::FieldValue| field.member.to_token_stream().to_string() == "name";
        let name = row.fields.iter().find(is_name).unwrap().expr.to_token_stream().to_string();
        (name, sorted(Expr::Struct(row)))
    })
    .collect()
}

/// `ToolSpec { .. }` of `const NAME: ToolSpec = ..`.
fn written(item: &Item) -> Option<TokenStream> {
    let Item::Const(row) = item else { return None };
    (row.ty.to_token_stream().to_string() == "ToolSpec").then(|| row.expr.to_token_stream())
}

/// `ToolSpec { .. }` of what the derive makes of a struct.
fn derived(item: &Item) -> Option<TokenStream> {
    let Item::Struct(tool) = item else { return None };
    if !tool.attrs.iter().any(|attribute| attribute.path().is_ident("tool")) {
        return None;
    }
    let expanded = tool::expand(&syn::parse2(tool.to_token_stream()).unwrap()).unwrap();
    let implementation: syn::ItemImpl = syn::parse2(expanded).unwrap();
    implementation.items.into_iter().find_map(|item| match item {
        syn::ImplItem::Const(row) => Some(row.expr.to_token_stream()),
        _ => None,
    })
}

/// Without the paths that lead to names, and with a schema as its file's name.
fn plain(tokens: TokenStream) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Punct(colon) if colon.as_char() == ':' && colon.spacing() == proc_macro2::Spacing::Joint => {
                tokens.next();
                let leads = ["toolwright_core", "core", "option", "Option"];
                if matches!(out.last(), Some(TokenTree::Ident(ident)) if leads.iter().any(|lead| ident == lead)) {
                    out.pop();
                } else if matches!(out.last(), Some(TokenTree::Ident(_))) {
                    out.push(token.clone());
                    out.push(TokenTree::Punct(proc_macro2::Punct::new(':', proc_macro2::Spacing::Alone)));
                }
            }
            TokenTree::Ident(ident) if ident == "include_str" => {
                tokens.next();
                let path = tokens.next().unwrap().to_string();
                let file = path.rsplit_once("schemas/").unwrap().1.split('"').next().unwrap().to_owned();
                out.push(TokenTree::Literal(proc_macro2::Literal::string(&file)));
            }
            TokenTree::Group(group) => {
                let mut inside: Vec<TokenTree> = plain(group.stream()).into_iter().collect();
                if matches!(inside.last(), Some(TokenTree::Punct(comma)) if comma.as_char() == ',')
                    && group.delimiter() != Delimiter::None
                {
                    inside.pop();
                }
                out.push(TokenTree::Group(Group::new(group.delimiter(), inside.into_iter().collect())));
            }
            _ => out.push(token),
        }
    }
    out.into_iter().collect()
}

/// The expression with the fields of every struct in order of their names.
fn sorted(expr: Expr) -> String {
    match expr {
        Expr::Struct(row) => {
            let path = row.path.to_token_stream().to_string();
            let field = |field: syn::FieldValue| format!("{}: {}", field.member.to_token_stream(), sorted(field.expr));
            let mut fields: Vec<String> = row.fields.into_iter().map(field).collect();
            fields.sort();
            format!("{path} {{\n{}\n}}", fields.join(",\n"))
        }
        Expr::Reference(reference) => format!("&{}", sorted(*reference.expr)),
        Expr::Array(array) => format!("[{}]", array.elems.into_iter().map(sorted).collect::<Vec<_>>().join(", ")),
        Expr::Tuple(tuple) => format!("({})", tuple.elems.into_iter().map(sorted).collect::<Vec<_>>().join(", ")),
        Expr::Call(call) => {
            let arguments: Vec<String> = call.args.into_iter().map(sorted).collect();
            format!("{}({})", call.func.to_token_stream(), arguments.join(", "))
        }
        other => other.to_token_stream().to_string(),
    }
}

#[test]
fn rows_are_what_the_derive_makes_of_structs() {
    let written = collect(&sources("structs: []\n"), written);
    let derived = collect(&sources("structs: [\"*\"]\n"), derived);
    assert_eq!(written.keys().collect::<Vec<_>>(), derived.keys().collect::<Vec<_>>());
    for (name, row) in &written {
        assert_eq!(row, &derived[name], "{name}");
    }
}

#[test]
fn the_document_has_every_kind_of_body() {
    let written = collect(&sources("structs: []\n"), written).into_values().collect::<String>();
    let kinds =
        ["None", "Json", "Object", "Raw", "Choice", "Form", "Multipart"].map(|kind| format!("body: Body :: {kind}"));
    for word in kinds.iter().map(String::as_str).chain([
        "security: Some",
        "server: Some",
        "extra: Some",
        "inside: Some",
        "required: true",
        "reserved: true",
        "PartHeaderValue :: Fixed",
        "PartHeaderValue :: Argument",
        "media_type: \"multipart/mixed\"",
        "media_type: \"multipart/related\"",
        "server: Some(\"https://stream.example\")",
        "wire: \"name\"",
        "hidden: &[Hidden",
        "HiddenValue :: Constant",
        "HiddenValue :: Setting",
        "project: Some",
        "NextPage :: Link",
        "NextPage :: Cursor",
        "NextPage :: Offset",
        "NextPage :: Page",
    ]) {
        assert!(written.contains(word), "no `{word}` in\n{written}");
    }
}
