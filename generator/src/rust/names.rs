//! Every Rust identifier, computed once.

use std::collections::{BTreeMap, BTreeSet};

use heck::ToUpperCamelCase;
use proc_macro2::{Ident, Span};

use super::{content, native, rows};
use crate::model::Model;
use crate::model::schema::{JsonType, Schema};
use crate::model::tool::Tool;
use crate::pass::{bind, name, reached_from};

/// The module of types that several areas use.
pub(super) const SHARED: &str = "types";

/// Idents that would shadow the prelude, an import, or a macro.
const TAKEN: [&str; 24] = [
    "Box",
    "Catalog",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "Err",
    "Error",
    "IndexMap",
    "Map",
    "None",
    "Number",
    "Ok",
    "Option",
    "Result",
    "Self",
    "Serialize",
    "Some",
    "String",
    "Tool",
    "ToolSpec",
    "Value",
    "Vec",
];

/// Where an item stands and what it is called.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub(super) module: String,
    pub(super) ident: Ident,
}

/// An object or enum that becomes a Rust item.
#[derive(Debug)]
pub(super) struct Item<'m> {
    pub(super) schema: &'m Schema,
    pub(super) named: Named,
    /// Some tool takes it.
    pub(super) sent: bool,
    /// Some tool returns it.
    pub(super) answered: bool,
}

#[derive(Debug)]
pub(super) struct Names<'m> {
    tools: BTreeMap<String, Named>,
    /// By type name, or by the pointer of an inline schema.
    items: BTreeMap<String, Item<'m>>,
    tags: BTreeMap<String, String>,
}

impl<'m> Names<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let mut tags = BTreeMap::new();
        let mut tools = BTreeMap::new();
        let mut taken: BTreeSet<String> = TAKEN.iter().map(ToString::to_string).collect();
        for tool in &model.tools {
            let tag = tool.area().to_owned();
            let module = module_of(&tag);
            tags.entry(module.clone()).or_insert(tag);
            if rows::is_row(model, tool) {
                tools.insert(tool.name.clone(), Named { module, ident: rows::ident(tool) });
                continue;
            }
            let camel = unique(
                &mut taken,
                [tool.name.to_upper_camel_case(), format!("{}Tool", tool.name.to_upper_camel_case())],
            );
            tools.insert(tool.name.clone(), Named { module, ident: ident(&camel) });
        }
        let mut names = Names { tools, items: BTreeMap::new(), tags };
        let found = Collector::new(model, &names).found;
        names.name_items(found, taken);
        names
    }

    /// Names that several items would share are told apart by their package, for all of them alike.
    fn name_items(&mut self, found: BTreeMap<String, Found<'m>>, mut taken: BTreeSet<String>) {
        let mut short: BTreeMap<String, usize> = BTreeMap::new();
        for item in found.values() {
            *short.entry(last_part(&item.label)).or_default() += 1;
        }
        for (key, item) in found {
            let short_name = last_part(&item.label);
            let full_name = camel(&item.label);
            let alone = short.get(&short_name) == Some(&1);
            let first = if alone { short_name } else { full_name.clone() };
            let camel = unique(&mut taken, [first, full_name.clone(), format!("{full_name}Type")]);
            let module = match item.modules.first() {
                Some(only) if item.modules.len() == 1 => only.clone(),
                _ => SHARED.to_owned(),
            };
            let named = Named { module, ident: ident(&camel) };
            let Found { schema, sent, answered, .. } = item;
            self.items.insert(key, Item { schema, named, sent, answered });
        }
    }

    pub(super) fn tool(&self, tool: &Tool) -> Named {
        self.tools
            .get(&tool.name)
            .cloned()
            .unwrap_or_else(|| Named { module: SHARED.to_owned(), ident: ident("Unnamed") })
    }

    /// The item that a schema became, by type name or pointer.
    pub(super) fn item(&self, key: &str) -> Option<&Item<'m>> {
        self.items.get(key)
    }

    pub(super) fn items_by_key(&self) -> impl Iterator<Item = (&str, &Item<'m>)> {
        self.items.iter().map(|(key, item)| (key.as_str(), item))
    }

    pub(super) fn items(&self) -> impl Iterator<Item = &Item<'m>> {
        self.items.values()
    }

    /// All modules, sorted.
    pub(super) fn modules(&self) -> Vec<String> {
        let tools = self.tools.values().map(|named| named.module.clone());
        let items = self.items.values().map(|item| item.named.module.clone());
        tools.chain(items).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The tag that a module stands for.
    pub(super) fn tag<'s>(&'s self, module: &'s str) -> &'s str {
        self.tags.get(module).map_or(module, String::as_str)
    }
}

struct Found<'m> {
    /// What the name is made of.
    label: String,
    schema: &'m Schema,
    modules: BTreeSet<String>,
    sent: bool,
    answered: bool,
}

struct Collector<'m> {
    model: &'m Model<'m>,
    found: BTreeMap<String, Found<'m>>,
}

impl<'m> Collector<'m> {
    fn new(model: &'m Model<'m>, names: &Names) -> Self {
        let mut collector = Collector { model, found: BTreeMap::new() };
        for tool in model.tools.iter().filter(|tool| !rows::is_row(model, tool)) {
            let module = names.tool(tool).module;
            for argument in &tool.arguments {
                let label = format!("{}_{}", tool.name, argument.name);
                collector.reach(&argument.schema, &label, &module, true);
            }
            if let Some(output) = &tool.output {
                collector.reach(output, &format!("{}_result", tool.name), &module, false);
            }
        }
        collector
    }

    /// A schema used by a tool, and every named type behind it.
    fn reach(&mut self, schema: &'m Schema, label: &str, module: &str, sent: bool) {
        self.inside(schema, label, module, sent);
        for (name, target) in reached_from(self.model, std::iter::once(schema)) {
            if becomes_item(target) {
                self.add(name, name, target, module, sent);
            }
            self.children(target, name, module, sent);
        }
    }

    /// Inline objects and enums, by their pointer.
    fn inside(&mut self, schema: &'m Schema, label: &str, module: &str, sent: bool) {
        if schema.reference.is_none() && becomes_item(schema) && !schema.origin.is_empty() {
            self.add(&schema.origin, &label.replace(['.', '/'], "_"), schema, module, sent);
        }
        self.children(schema, label, module, sent);
    }

    fn children(&mut self, schema: &'m Schema, label: &str, module: &str, sent: bool) {
        for (name, property) in &schema.properties {
            self.inside(property, &format!("{label}_{}", bind::spelt_out(name, "field")), module, sent);
        }
        let own: Vec<*const Schema> = schema.properties.values().map(std::ptr::from_ref).collect();
        for child in schema.children().filter(|child| !own.contains(&std::ptr::from_ref(*child))) {
            self.inside(child, &format!("{label}_item"), module, sent);
        }
    }

    fn add(&mut self, key: &str, label: &str, schema: &'m Schema, module: &str, sent: bool) {
        let found = self.found.entry(key.to_owned()).or_insert_with(|| Found {
            label: label.to_owned(),
            schema,
            modules: BTreeSet::new(),
            sent: false,
            answered: false,
        });
        found.modules.insert(module.to_owned());
        found.sent |= sent;
        found.answered |= !sent;
    }
}

/// Objects with named properties, and enums of strings.
pub(super) fn becomes_item(schema: &Schema) -> bool {
    let composed = !schema.all_of.is_empty() || !schema.any_of.is_empty() || !schema.one_of.is_empty();
    let is_struct = schema.is(JsonType::Object) || (schema.types.is_empty() && !schema.properties.is_empty());
    let is_struct = is_struct && !schema.properties.is_empty() && !composed;
    is_struct || is_string_enum(schema)
}

/// More than one fixed string.
pub(super) fn is_string_enum(schema: &Schema) -> bool {
    let mut strings = schema.enumeration.iter().filter(|value| !value.is_null());
    schema.enumeration.len() > 1
        && strings.all(|value| value.as_str().is_some_and(|text| !text.is_empty()))
        && (schema.types.is_empty() || schema.is(JsonType::String))
}

/// Identifiers of fields, unique among their siblings.
pub(super) fn fields<'n>(wire_names: impl Iterator<Item = &'n str>) -> Vec<Ident> {
    let wire_names: Vec<&str> = wire_names.collect();
    told_apart(&wire_names, BTreeSet::new(), |wire_name| {
        let snake = bind::spelt_out(wire_name, "field");
        [snake.clone(), format!("{snake}_value")]
    })
}

/// The identifiers of an enum's variants, in its order.
pub(super) fn variants(values: &[&str]) -> Vec<Ident> {
    told_apart(values, ["Self".to_owned(), "Other".to_owned()].into(), |value| {
        let camel = bind::spelt_out(value, "value").to_upper_camel_case();
        [camel.clone(), format!("{camel}Value")]
    })
}

/// An identifier for each word, in their order. Who gets the better one does not depend on it: a word that is its own
/// identifier goes first, then the words go by the alphabet.
fn told_apart(words: &[&str], mut taken: BTreeSet<String>, candidates: impl Fn(&str) -> [String; 2]) -> Vec<Ident> {
    let mut named: Vec<(usize, [String; 2])> = words.iter().map(|word| candidates(word)).enumerate().collect();
    named.sort_by_key(|(index, [first, _])| {
        let word = words.get(*index).copied().unwrap_or_default();
        (first != word, word.to_owned())
    });
    let mut idents: Vec<(usize, Ident)> =
        named.into_iter().map(|(index, candidates)| (index, ident(&unique(&mut taken, candidates)))).collect();
    idents.sort_by_key(|(index, _)| *index);
    idents.into_iter().map(|(_, ident)| ident).collect()
}

fn unique<const N: usize>(taken: &mut BTreeSet<String>, candidates: [String; N]) -> String {
    let last = candidates.last().cloned().unwrap_or_default();
    let free = candidates.into_iter().find(|name| !taken.contains(name));
    let numbered = || (2..).map(|number| format!("{last}{number}")).find(|name| !taken.contains(name));
    let name = free.or_else(numbered).unwrap_or_default();
    taken.insert(name.clone());
    name
}

/// `schema.TTSRequest` -> `TtsRequest`.
fn last_part(label: &str) -> String {
    camel(label.rsplit(['.', '/']).next().unwrap_or(label))
}

/// A type's name in the letters that identifiers keep, so that names which differ in others alone are told apart.
fn camel(text: &str) -> String {
    let kept: String = text.to_upper_camel_case().chars().filter(char::is_ascii_alphanumeric).collect();
    if kept.starts_with(|c: char| c.is_ascii_uppercase()) { kept } else { format!("X{kept}") }
}

/// Modules that would clash with files of the crate or with crates that its root names.
const TAKEN_MODULES: [&str; 18] = [
    SHARED,
    "alloc",
    "client",
    "core",
    "gen",
    "general",
    "indexmap",
    "lib",
    "main",
    native::MODULE,
    content::PROMPTS,
    content::RESOURCES,
    "serde",
    "serde_json",
    "std",
    "toolwright_core",
    "toolwright_http",
    "toolwright_macros",
];

/// Longest name of a module: a file is named after it, and file systems refuse names of more than 255 bytes.
const MAX_MODULE: usize = 60;

fn module_of(tag: &str) -> String {
    let snake = name::cut(&name::snake(tag), MAX_MODULE);
    let is_free = !TAKEN_MODULES.contains(&snake.as_str()) || tag == "general";
    match snake.as_str() {
        "" => "other_area".to_owned(),
        // Keywords are no identifiers; a raw one would be, but not every keyword can be raw.
        _ if is_free && syn::parse_str::<Ident>(&snake).is_ok() => snake,
        _ => format!("{snake}_area"),
    }
}

/// An identifier; keywords become raw, and the four that cannot be raw get a trailing underscore.
pub(super) fn ident(name: &str) -> Ident {
    let legal: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let legal = if legal.starts_with(|c: char| c.is_ascii_alphabetic()) { legal } else { format!("x{legal}") };
    match legal.as_str() {
        "self" | "Self" | "super" | "crate" => Ident::new(&format!("{legal}_"), Span::call_site()),
        // A keyword since edition 2024, which syn does not take for one.
        "gen" => Ident::new_raw("gen", Span::call_site()),
        plain if syn::parse_str::<Ident>(plain).is_ok() => Ident::new(plain, Span::call_site()),
        keyword => Ident::new_raw(keyword, Span::call_site()),
    }
}

#[cfg(test)]
mod tests {
    use super::{fields, variants};

    fn told(idents: &[proc_macro2::Ident]) -> Vec<String> {
        idents.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn identifiers_do_not_depend_on_the_order() {
        assert_eq!(told(&fields(["fooBar", "foo_bar"].into_iter())), ["foo_bar_value", "foo_bar"]);
        assert_eq!(told(&fields(["foo_bar", "fooBar"].into_iter())), ["foo_bar", "foo_bar_value"]);
        assert_eq!(told(&variants(&["a-b", "a.b"])), ["AB", "ABValue"]);
        assert_eq!(told(&variants(&["a.b", "a-b"])), ["ABValue", "AB"]);
    }
}
