//! The fields of the struct: one argument each.

use proc_macro2::Span;
use syn::{Attribute, Field, Ident, LitBool, LitStr, ext::IdentExt as _, spanned::Spanned as _};

use crate::attribute::{key, one_of};

/// One argument: where it goes, and how it is written there.
pub(crate) struct Argument {
    pub(crate) span: Span,
    pub(crate) place: Place,
    pub(crate) name: String,
    pub(crate) wire: String,
    pub(crate) style: Option<Ident>,
    pub(crate) explode: Option<LitBool>,
    pub(crate) send_as: Vec<(LitStr, LitStr)>,
    /// True where reserved characters of its values stay as they are.
    pub(crate) reserved: bool,
    /// The part whose header it is.
    pub(crate) part: Option<LitStr>,
    pub(crate) media_type: Option<LitStr>,
    /// Media type of a part.
    pub(crate) content_type: Option<LitStr>,
    /// True where the body that it belongs to cannot be sent without it.
    pub(crate) required: bool,
    /// True for the fields of a urlencoded form that are one argument.
    pub(crate) urlencoded: bool,
    /// The form's fields, where the argument holds all of them.
    pub(crate) fields: Vec<FormField>,
    /// Set where it is no field of the struct.
    pub(crate) hidden: Option<HiddenValue>,
}

/// Where the value of a hidden argument comes from.
pub(crate) enum HiddenValue {
    /// JSON text.
    Constant(LitStr),
    Setting {
        key: LitStr,
        schema: LitStr,
    },
}

/// One field of a form that is an argument as a whole.
pub(crate) struct FormField {
    pub(crate) wire: LitStr,
    pub(crate) file: bool,
    pub(crate) style: Option<Ident>,
    pub(crate) explode: Option<LitBool>,
    pub(crate) content_type: Option<LitStr>,
    pub(crate) reserved: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    Header,
    Cookie,
    Body,
    /// A member of the JSON object that is the body.
    Member,
    Form,
    Part,
    File,
    /// A header of a part.
    PartHeader,
    Exchange,
    Extra,
    /// Another body that the operation takes.
    Alternative,
    /// The argument that chooses the body.
    ContentType,
    /// How many items are wanted of a list in pages.
    Paging,
    /// What a handler in Rust takes.
    Input,
}

const PLACES: [(&str, Place); 16] = [
    ("segment", Place::Path),
    ("query", Place::Query),
    ("header", Place::Header),
    ("cookie", Place::Cookie),
    ("body", Place::Body),
    ("member", Place::Member),
    ("form", Place::Form),
    ("part", Place::Part),
    ("file", Place::File),
    ("part_header", Place::PartHeader),
    ("exchange", Place::Exchange),
    ("extra", Place::Extra),
    ("alternative", Place::Alternative),
    ("content_type", Place::ContentType),
    ("paging", Place::Paging),
    ("input", Place::Input),
];

const STYLES: [&str; 10] = ["simple", "form", "label", "matrix", "spaces", "pipes", "tabs", "deep", "cookie", "json"];

impl Place {
    pub(crate) fn is_parameter(self) -> bool {
        matches!(self, Place::Path | Place::Query | Place::Header | Place::Cookie)
    }

    /// The argument is a body.
    fn is_whole(self) -> bool {
        matches!(self, Place::Body | Place::Alternative)
    }

    fn is_part(self) -> bool {
        matches!(self, Place::Part | Place::File)
    }

    pub(crate) fn is_form(self) -> bool {
        matches!(self, Place::Form | Place::Part | Place::File)
    }
}

pub(crate) fn argument(field: &Field) -> syn::Result<Argument> {
    let ident = field.ident.as_ref().ok_or_else(|| syn::Error::new(field.span(), "a tool's fields have names"))?;
    let mut bound = field.attrs.iter().filter_map(|attribute| {
        PLACES.iter().find(|(name, _)| attribute.path().is_ident(name)).map(|(_, place)| (attribute, *place))
    });
    let (attribute, place) = bound.next().ok_or_else(|| {
        let names: Vec<String> = PLACES.iter().map(|(name, _)| format!("#[{name}]")).collect();
        syn::Error::new(ident.span(), format!("the field goes nowhere; add one of {}", names.join(", ")))
    })?;
    if let Some((second, _)) = bound.next() {
        return Err(syn::Error::new(second.span(), "a field goes to one place"));
    }
    let name = serde_name(&field.attrs)?.unwrap_or_else(|| ident.unraw().to_string());
    let mut argument = Argument { place, wire: name.clone(), name, ..Argument::empty(ident.span()) };
    if !matches!(attribute.meta, syn::Meta::Path(_)) {
        attribute.parse_nested_meta(|meta| match key(&meta).as_str() {
            "wire" => {
                argument.wire = meta.value()?.parse::<LitStr>()?.value();
                Ok(())
            }
            _ => read_key(&mut argument, &meta),
        })?;
    }
    if place == Place::PartHeader && argument.part.is_none() {
        return Err(syn::Error::new(attribute.span(), "say whose header it is: part = \"the part's name\""));
    }
    Ok(argument)
}

/// The place of that word.
pub(crate) fn place_of(word: &str) -> Option<Place> {
    PLACES.iter().find(|(name, _)| *name == word).map(|(_, place)| *place)
}

/// Reads what says how an argument is written.
pub(crate) fn read_key(argument: &mut Argument, meta: &syn::meta::ParseNestedMeta<'_>) -> syn::Result<()> {
    let place = argument.place;
    match key(meta).as_str() {
        "style" => argument.style = Some(one_of(meta.value()?.parse()?, &STYLES)?),
        "explode" => argument.explode = Some(meta.value()?.parse()?),
        "reserved" if matches!(place, Place::Query | Place::Form) => argument.reserved = true,
        "part" if place == Place::PartHeader => argument.part = Some(meta.value()?.parse()?),
        "send_as" => argument.send_as = pairs(meta)?,
        "media_type" if place.is_whole() => argument.media_type = Some(meta.value()?.parse()?),
        "content_type" if place.is_part() => argument.content_type = Some(meta.value()?.parse()?),
        "required" => argument.required = true,
        "urlencoded" if place == Place::Extra => argument.urlencoded = true,
        "field" if place == Place::Alternative => argument.fields.push(form_field(meta)?),
        _ => return Err(meta.error(KEYS)),
    }
    Ok(())
}

impl Argument {
    /// An argument of which nothing is said.
    pub(crate) fn empty(span: Span) -> Self {
        Argument {
            span,
            place: Place::Query,
            name: String::new(),
            wire: String::new(),
            style: None,
            explode: None,
            send_as: Vec::new(),
            reserved: false,
            part: None,
            media_type: None,
            content_type: None,
            required: false,
            urlencoded: false,
            fields: Vec::new(),
            hidden: None,
        }
    }
}

const KEYS: &str = "keys here are wire, style, explode, send_as, required; for a body media_type, for a part content_type, for a header of \
     one part, for what stands in a query or a form reserved";

/// `field(wire = "x", file, style = json, explode = false, content_type = "text/csv")`.
fn form_field(meta: &syn::meta::ParseNestedMeta<'_>) -> syn::Result<FormField> {
    let (mut wire, mut file, mut style, mut explode, mut content_type) = (None, false, None, None, None);
    let mut reserved = false;
    meta.parse_nested_meta(|meta| {
        match key(&meta).as_str() {
            "wire" => wire = Some(meta.value()?.parse()?),
            "file" => file = true,
            "style" => style = Some(one_of(meta.value()?.parse()?, &STYLES)?),
            "explode" => explode = Some(meta.value()?.parse()?),
            "content_type" => content_type = Some(meta.value()?.parse()?),
            "reserved" => reserved = true,
            _ => return Err(meta.error("keys of a field are wire, file, style, explode, reserved and content_type")),
        }
        Ok(())
    })?;
    let wire = wire.ok_or_else(|| meta.error("a field needs `wire`"))?;
    Ok(FormField { wire, file, style, explode, content_type, reserved })
}

/// The name that serde gives the field, so that the row and the struct agree.
fn serde_name(attributes: &[Attribute]) -> syn::Result<Option<String>> {
    let mut name = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") {
                name = Some(meta.value()?.parse::<LitStr>()?.value());
            } else if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            }
            Ok(())
        })?;
    }
    Ok(name)
}

/// `key(("a", "b"), ("c", "d"))`.
fn pairs(meta: &syn::meta::ParseNestedMeta<'_>) -> syn::Result<Vec<(LitStr, LitStr)>> {
    let content;
    syn::parenthesized!(content in meta.input);
    let pairs = content.parse_terminated(
        |input| {
            let pair;
            syn::parenthesized!(pair in input);
            let from = pair.parse()?;
            pair.parse::<syn::Token![,]>()?;
            Ok((from, pair.parse()?))
        },
        syn::Token![,],
    )?;
    Ok(pairs.into_iter().collect())
}
