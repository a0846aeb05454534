//! The row that attributes make.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use serde::Serialize;
use toolwright_core::{Binding, Body, Catalog, Location, Risk, Style, Tool as _};
use toolwright_macros::{Tool, register_tools};

/// Show one widget,
/// or its parts.
///
/// Inputs: `widget_id`.
#[derive(Serialize, Tool)]
#[tool(
    name = "get_widget",
    title = "Get widget",
    risk = read_only,
    schema = "tests/schemas/get_widget.json",
    tags("widgets"),
    output = String
)]
#[search(en("gadget"), ko("위젯"))]
#[http(get = "/widgets/{widgetId}", declared = "GET /old/{widgetId}", produces("application/json"))]
pub struct GetWidget {
    #[segment(wire = "widgetId")]
    pub widget_id: String,
    #[query(style = pipes)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<String>>,
}

/// Store a picture.
#[derive(Serialize, Tool)]
#[tool(
    name = "put_picture",
    title = "Put picture",
    risk = destructive,
    idempotent,
    schema = "tests/schemas/get_widget.json",
    output = "std::collections::BTreeMap<String, u64>"
)]
#[http(put = "/picture")]
pub struct PutPicture {
    #[file]
    pub image: String,
    #[part(send_as(("text", "txt")))]
    #[serde(rename = "type")]
    pub kind: String,
    #[extra]
    pub extra_form: Option<serde_json::Value>,
}

#[register_tools]
pub static TOOLS: Catalog = [GetWidget, PutPicture];

#[test]
fn texts_come_from_the_doc_comment() {
    let row = GetWidget::SPEC;
    assert_eq!(row.description, "Show one widget, or its parts.\nInputs: `widget_id`.");
    assert_eq!(row.summary, "Show one widget, or its parts.");
    assert_eq!(row.search.ko, ["위젯"]);
}

#[test]
fn an_output_is_a_type_or_its_text() {
    let outputs: (Vec<<GetWidget as toolwright_core::Tool>::Output>, <PutPicture as toolwright_core::Tool>::Output) =
        (vec![String::new()], [(String::new(), 1_u64)].into());
    assert_eq!((outputs.0.len(), outputs.1.len()), (1, 1));
}

#[test]
fn hints_come_from_the_risk() {
    assert_eq!((GetWidget::SPEC.risk, GetWidget::SPEC.idempotent), (Risk::ReadOnly, true));
    assert_eq!((PutPicture::SPEC.risk, PutPicture::SPEC.idempotent), (Risk::Destructive, true));
}

#[test]
fn parameters_keep_their_wire_names_and_default_styles() {
    let Binding::Http(http) = GetWidget::SPEC.binding else { panic!("not HTTP") };
    let [id, parts] = http.parameters else { panic!("two parameters") };
    assert_eq!((id.argument, id.wire, id.location, id.style), ("widget_id", "widgetId", Location::Path, Style::Simple));
    assert_eq!((parts.wire, parts.style, parts.explode), ("parts", Style::Pipes, false));
    assert_eq!(GetWidget::SPEC.declared.path, "/old/{widgetId}");
}

#[test]
fn file_fields_make_a_multipart_body() {
    let Binding::Http(http) = PutPicture::SPEC.binding else { panic!("not HTTP") };
    let Body::Multipart { fields, extra, .. } = http.body else { panic!("not multipart") };
    assert_eq!(fields[1].argument, "type");
    assert_eq!(fields[1].send_as, [("text", "txt")]);
    assert_eq!(extra, Some("extra_form"));
}

#[test]
fn the_table_finds_by_name() {
    assert_eq!(TOOLS.find("put_picture").unwrap().title, "Put picture");
    assert!(TOOLS.find("picture").is_none());
}

#[test]
fn mistakes_are_compile_errors_at_the_attribute() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}

/// Add two numbers.
#[derive(Serialize, Tool)]
#[tool(name = "add", title = "Add", risk = compute, schema = "tests/schemas/get_widget.json")]
#[expression(".a + .b")]
pub struct Add {
    #[input]
    pub a: f64,
    #[input]
    pub b: f64,
}

/// Make several calls.
#[derive(Serialize, Tool)]
#[tool(name = "order", title = "Order", risk = write, schema = "tests/schemas/get_widget.json")]
#[steps("tests/schemas/get_widget.json")]
pub struct Order {
    #[input]
    pub item: String,
}

#[test]
fn a_filter_and_a_plan_stand_in_the_row() {
    assert!(matches!(Add::SPEC.binding, Binding::Expression(".a + .b")));
    let Binding::Steps(plan) = Order::SPEC.binding else { panic!() };
    assert!(plan.starts_with('{'), "the text of the file");
    assert_eq!((Add::SPEC.declared.method, Order::SPEC.declared.path), ("", ""));
}
