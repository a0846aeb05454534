//! A JSON Schema, as far as arguments and results need it.

use indexmap::IndexMap;
use serde_json::Value;

/// The seven types of JSON Schema 2020-12.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum JsonType {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl JsonType {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => Self::String,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// What an object may hold beyond its named properties.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Additional {
    /// Anything: the document says nothing, or says `true`.
    #[default]
    Open,
    /// Nothing.
    Closed,
    /// Values of this schema.
    Of(Box<Schema>),
}

/// One schema. Nothing set means: any value.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Schema {
    /// JSON pointer in the document's 3.1 form, for messages.
    pub(crate) origin: String,
    /// Name of the type that this stands for; the other keywords then add to it.
    pub(crate) reference: Option<String>,
    /// Allowed types; empty means all.
    pub(crate) types: Vec<JsonType>,
    pub(crate) description: Option<String>,
    pub(crate) format: Option<String>,
    pub(crate) enumeration: Vec<Value>,
    pub(crate) constant: Option<Value>,
    pub(crate) default: Option<Value>,
    pub(crate) properties: IndexMap<String, Schema>,
    pub(crate) required: Vec<String>,
    pub(crate) additional: Additional,
    /// True where the document says in so many words that there may be further members.
    pub(crate) says_open: bool,
    pub(crate) items: Option<Box<Schema>>,
    pub(crate) prefix_items: Vec<Schema>,
    pub(crate) all_of: Vec<Schema>,
    pub(crate) any_of: Vec<Schema>,
    pub(crate) one_of: Vec<Schema>,
    /// Keywords with one subschema that are carried along as they are, such as `not` and `contains`.
    pub(crate) applied: IndexMap<String, Schema>,
    /// `patternProperties`.
    pub(crate) patterns: IndexMap<String, Schema>,
    /// Keywords that bound a value, such as `minimum` and `maxLength`.
    pub(crate) bounds: IndexMap<String, Value>,
    /// `contentMediaType`: set on a file of a form.
    pub(crate) media_type: Option<String>,
    pub(crate) read_only: bool,
    /// The upstream never answers with it, such as a password.
    pub(crate) write_only: bool,
    /// What tells the alternatives of a union apart, as a sentence. It follows the description, whoever gives that.
    pub(crate) choice: Option<String>,
    /// No value matches (`false` as a schema).
    pub(crate) never: bool,
}

impl Schema {
    /// A schema that `lower` will read from this pointer.
    pub(crate) fn unread(origin: impl Into<String>) -> Self {
        Schema { origin: origin.into(), ..Schema::default() }
    }

    /// A schema of one type.
    pub(crate) fn of(kind: JsonType) -> Self {
        Schema { types: vec![kind], ..Schema::default() }
    }

    pub(crate) fn described(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// True where the only type, `null` aside, is this one.
    pub(crate) fn is(&self, kind: JsonType) -> bool {
        self.types.contains(&kind) && self.types.iter().all(|t| *t == kind || *t == JsonType::Null)
    }

    /// True where nothing is said but, perhaps, a description or a default.
    pub(crate) fn is_any(&self) -> bool {
        let bare = Schema {
            origin: self.origin.clone(),
            description: self.description.clone(),
            default: self.default.clone(),
            read_only: self.read_only,
            write_only: self.write_only,
            says_open: self.says_open,
            ..Schema::default()
        };
        *self == bare
    }

    /// The schemas directly inside this one.
    pub(crate) fn children(&self) -> impl Iterator<Item = &Schema> {
        let additional = match &self.additional {
            Additional::Of(schema) => Some(schema.as_ref()),
            Additional::Open | Additional::Closed => None,
        };
        self.properties
            .values()
            .chain(additional)
            .chain(self.items.as_deref())
            .chain(&self.prefix_items)
            .chain(&self.all_of)
            .chain(&self.any_of)
            .chain(&self.one_of)
            .chain(self.applied.values())
            .chain(self.patterns.values())
    }

    /// The schemas directly inside this one, to be changed.
    pub(crate) fn children_mut(&mut self) -> impl Iterator<Item = &mut Schema> {
        let additional = match &mut self.additional {
            Additional::Of(schema) => Some(schema.as_mut()),
            Additional::Open | Additional::Closed => None,
        };
        self.properties
            .values_mut()
            .chain(additional)
            .chain(self.items.as_deref_mut())
            .chain(&mut self.prefix_items)
            .chain(&mut self.all_of)
            .chain(&mut self.any_of)
            .chain(&mut self.one_of)
            .chain(self.applied.values_mut())
            .chain(self.patterns.values_mut())
    }

    /// Calls `visit` on this schema and everything inside it, parents first.
    pub(crate) fn walk<'s>(&'s self, visit: &mut dyn FnMut(&'s Schema)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }

    /// Calls `visit` on this schema and everything inside it, children first.
    pub(crate) fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Schema)) {
        for child in self.children_mut() {
            child.walk_mut(visit);
        }
        visit(self);
    }
}
