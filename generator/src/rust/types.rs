//! Structs and enums for the schemas of arguments and results.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::doc;
use super::names::{self, Item, Names};
use crate::load::tool_file::is_of_file;
use crate::model::Model;
use crate::model::schema::{Additional, JsonType, Schema};
use crate::pass;

/// The types of one module, by name.
pub(super) fn items(model: &Model, names: &Names, boxed: &Boxed, module: &str) -> Vec<TokenStream> {
    let mut own: Vec<(&str, &Item)> = names.items_by_key().filter(|(_, item)| item.named.module == module).collect();
    own.sort_by_key(|(_, item)| item.named.ident.to_string());
    own.into_iter()
        .map(|(key, item)| {
            if names::is_string_enum(item.schema) {
                enumeration(item)
            } else {
                structure(model, names, boxed, key, item)
            }
        })
        .collect()
}

/// True where some field of the module's types has no words of its own.
pub(super) fn undescribed(names: &Names, module: &str) -> bool {
    let own = names.items_by_key().filter(|(_, item)| item.named.module == module);
    own.flat_map(|(_, item)| item.schema.properties.values())
        .any(|property| property.description.as_deref().is_none_or(|text| text.trim().is_empty()))
}

fn structure(model: &Model, names: &Names, boxed: &Boxed, key: &str, item: &Item) -> TokenStream {
    let Item { schema, named, .. } = item;
    let ident = &named.ident;
    let about = doc::attributes(&about(model, key, item));
    let idents = names::fields(schema.properties.keys().map(String::as_str));
    let fields = schema.properties.iter().zip(idents).map(|((wire_name, property), ident)| {
        let is_required = schema.required.iter().any(|required| required == wire_name);
        let boxes = boxed.needed(key, property);
        field(model, names, &Field { wire_name, property, ident, is_required, boxes })
    });
    let derives = match item.sent && is_defaultable(model, schema, 0) {
        true => quote!(#[derive(Debug, Clone, Default, Serialize, Deserialize)]),
        false => quote!(#[derive(Debug, Clone, Serialize, Deserialize)]),
    };
    quote! {
        #about
        #derives
        pub struct #ident { #(#fields)* }
    }
}

/// Every public item says what it is, also where the document says nothing.
fn about(model: &Model, key: &str, item: &Item) -> String {
    if let Some(text) = item.schema.description.as_deref().filter(|text| !text.trim().is_empty()) {
        return text.to_owned();
    }
    if is_of_file(&item.schema.origin) {
        return if item.sent { "What the tool takes." } else { "What the tool returns." }.to_owned();
    }
    let name = match model.types.contains_key(key) && !key.starts_with('/') {
        true => format!("The document's `{}`", key.replace('`', "'")),
        false => "An inline object of the document".to_owned(),
    };
    match (item.sent, item.answered) {
        (true, false) => format!("{name}, as it is sent."),
        (false, _) => format!("{name}, as it is answered."),
        (true, true) => format!("{name}."),
    }
}

struct Field<'f> {
    wire_name: &'f str,
    property: &'f Schema,
    ident: Ident,
    is_required: bool,
    boxes: bool,
}

fn field(model: &Model, names: &Names, field: &Field) -> TokenStream {
    let text = doc::attributes(field.property.description.as_deref().unwrap_or_default());
    let ident = &field.ident;
    let mut kind = rust_type(model, names, field.property);
    if field.boxes {
        kind = quote!(Box<#kind>);
    }
    let serde = serde_attributes(field.wire_name, ident, !field.is_required);
    if !field.is_required && (field.boxes || !is_nullable(field.property)) {
        kind = quote!(Option<#kind>);
    }
    quote! {
        #text
        #serde
        pub #ident: #kind,
    }
}

/// `rename` where the identifier is another word, and no trace of an absent value.
pub(super) fn serde_attributes(wire_name: &str, ident: &Ident, is_optional: bool) -> TokenStream {
    let spelt = ident.to_string();
    let rename = (spelt.strip_prefix("r#").unwrap_or(&spelt) != wire_name).then(|| quote!(rename = #wire_name));
    let skip = is_optional.then(|| quote!(skip_serializing_if = "Option::is_none"));
    let keys: Vec<TokenStream> = rename.into_iter().chain(skip).collect();
    if keys.is_empty() { TokenStream::new() } else { quote!(#[serde(#(#keys),*)]) }
}

fn enumeration(item: &Item) -> TokenStream {
    let Item { schema, named, answered, .. } = item;
    let ident = &named.ident;
    let values: Vec<&str> = schema.enumeration.iter().filter_map(|value| value.as_str()).collect();
    let about = doc::attributes(schema.description.as_deref().unwrap_or("One of a few words."));
    let variants = values.iter().zip(names::variants(&values)).map(|(value, ident)| {
        let text = format!(" {}.", doc::code_span(value));
        quote! { #[doc = #text] #[serde(rename = #value)] #ident, }
    });
    let other = answered.then(|| {
        quote! {
            #[doc = " A word that the document does not list."]
            #[serde(untagged)]
            Other(String),
        }
    });
    let derives = match answered {
        true => quote!(#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]),
        false => quote!(#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]),
    };
    quote! {
        #about
        #derives
        pub enum #ident { #(#variants)* #other }
    }
}

/// True where the type itself already allows null.
pub(super) fn is_nullable(schema: &Schema) -> bool {
    let by_type = schema.types.contains(&JsonType::Null) && schema.types.len() == 2;
    by_type || nullable_member(schema).is_some()
}

/// The schema beside `null` in a union of the two.
fn nullable_member(schema: &Schema) -> Option<&Schema> {
    for members in [&schema.any_of, &schema.one_of] {
        if let [one, other] = members.as_slice() {
            let is_null = |s: &Schema| s.types == [JsonType::Null];
            match (is_null(one), is_null(other)) {
                (true, false) => return Some(other),
                (false, true) => return Some(one),
                _ => {}
            }
        }
    }
    None
}

/// The Rust type of a value. What the type grammar cannot say is a JSON value.
pub(super) fn rust_type(model: &Model, names: &Names, schema: &Schema) -> TokenStream {
    typed(model, names, schema, 0)
}

fn typed(model: &Model, names: &Names, schema: &Schema, depth: usize) -> TokenStream {
    if depth > 16 {
        return quote!(Value);
    }
    if let Some(inner) = nullable_member(schema) {
        let inner = typed(model, names, inner, depth + 1);
        return quote!(Option<#inner>);
    }
    let plain = plain_type(model, names, schema, depth);
    match is_nullable(schema) && plain.to_string() != "Value" {
        true => quote!(Option<#plain>),
        false => plain,
    }
}

fn plain_type(model: &Model, names: &Names, schema: &Schema, depth: usize) -> TokenStream {
    let key = schema.reference.as_deref().unwrap_or(&schema.origin);
    if let Some(item) = names.item(key).filter(|_| schema.reference.is_some() || names::becomes_item(schema)) {
        let ident = &item.named.ident;
        return quote!(#ident);
    }
    if let Some(target) = schema.reference.as_deref().and_then(|name| model.types.get(name)) {
        return typed(model, names, target, depth + 1);
    }
    let composed = !schema.all_of.is_empty() || !schema.any_of.is_empty() || !schema.one_of.is_empty();
    if composed {
        return quote!(Value);
    }
    let kinds: Vec<JsonType> = schema.types.iter().copied().filter(|kind| *kind != JsonType::Null).collect();
    match kinds.as_slice() {
        [JsonType::String] => quote!(String),
        [JsonType::Boolean] => quote!(bool),
        [JsonType::Integer] => integer(schema),
        [JsonType::Number] => quote!(f64),
        [JsonType::Array] => {
            let items = schema.items.as_deref().filter(|_| schema.prefix_items.is_empty());
            let items = items.map_or_else(|| quote!(Value), |items| typed(model, names, items, depth + 1));
            quote!(Vec<#items>)
        }
        [JsonType::Object] => object(model, names, schema, depth),
        _ => quote!(Value),
    }
}

/// Digits beyond 64 bits are kept as a JSON number.
fn integer(schema: &Schema) -> TokenStream {
    let bound = |keyword: &str| schema.bounds.get(keyword);
    let fits = |value: &serde_json::Value| value.as_i64().is_some() || value.as_u64().is_some();
    if ["minimum", "maximum"].iter().filter_map(|keyword| bound(keyword)).any(|value| !fits(value)) {
        return quote!(Number);
    }
    let unsigned = bound("minimum").is_some_and(|minimum| minimum.as_u64().is_some());
    match (schema.format.as_deref(), unsigned) {
        (Some("uint64" | "uint32" | "uint"), _) | (_, true) => quote!(u64),
        _ => quote!(i64),
    }
}

fn object(model: &Model, names: &Names, schema: &Schema, depth: usize) -> TokenStream {
    match &schema.additional {
        Additional::Of(of) if schema.properties.is_empty() => {
            let of = typed(model, names, of, depth + 1);
            match of.to_string().as_str() {
                "Value" => quote!(Map<String, Value>),
                _ => quote!(indexmap::IndexMap<String, #of>),
            }
        }
        _ => quote!(Map<String, Value>),
    }
}

/// True where `Default` gives a value for every required field.
fn is_defaultable(model: &Model, schema: &Schema, depth: usize) -> bool {
    depth < 8
        && schema.required.iter().filter_map(|name| schema.properties.get(name)).all(|property| {
            let target = model.resolve(property);
            !names::is_string_enum(target)
                && (!names::becomes_item(target) || is_nullable(property) || is_defaultable(model, target, depth + 1))
        })
}

/// Types that would have infinite size without a `Box`.
pub(super) struct Boxed<'m> {
    /// The cycle of each type that holds itself in place, not through a vector or map.
    cycles: BTreeMap<&'m str, usize>,
}

impl<'m> Boxed<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let edges: BTreeMap<&str, BTreeSet<&str>> = model
            .types
            .iter()
            .map(|(name, schema)| {
                let mut held = BTreeSet::new();
                holds(schema, &mut held);
                (name.as_str(), held)
            })
            .collect();
        Boxed { cycles: pass::cycles(&edges) }
    }

    /// True where a property holds, in place, a type that leads back to its owner.
    fn needed(&self, owner: &str, property: &Schema) -> bool {
        let Some(cycle) = self.cycles.get(owner) else { return false };
        let mut held: BTreeSet<&str> = BTreeSet::new();
        collect(property, &mut held);
        held.iter().any(|name| self.cycles.get(name) == Some(cycle))
    }
}

fn holds<'m>(schema: &'m Schema, held: &mut BTreeSet<&'m str>) {
    collect(schema, held);
    for property in schema.properties.values() {
        holds(property, held);
    }
}

/// References that stand in place: the schema's own, and that of a nullable union.
fn collect<'s>(schema: &'s Schema, found: &mut BTreeSet<&'s str>) {
    found.extend(schema.reference.as_deref());
    if let Some(inner) = nullable_member(schema) {
        found.extend(inner.reference.as_deref());
    }
}
