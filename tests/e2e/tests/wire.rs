//! Every operation through the real server against the mock, which shares no code with the generator and checks each
//! request against the raw document.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use serde_json::{Map, Value, json};
use toolwright_core::{Binding, Body, FieldKind, ToolSpec};
use toolwright_e2e::{Session, Stage, structured};
use toolwright_samples::Extent;

/// Arguments of a call that the real upstream would take: samples of the schema, with real files for file arguments.
fn arguments(spec: &ToolSpec, extent: Extent) -> Map<String, Value> {
    let mut arguments = toolwright_samples::arguments(spec, extent);
    arguments.shift_remove("extra_form");
    if let Binding::Http(http) = spec.binding
        && let Body::Multipart { fields, .. } = http.body
    {
        for field in fields.iter().filter(|field| field.kind == FieldKind::File) {
            if let Some(value) = arguments.get_mut(field.argument) {
                *value = json!(toolwright_e2e::file_for(field.argument));
            }
        }
    }
    if spec.name == "stream_audio_transform" {
        arguments.insert("frames_base64".into(), json!(["AAAAAAAAAAA=", "AAAAAAAAAAA="]));
    }
    arguments
}

/// Some arguments must name what exists: a job is installed first, and only a model that is named can be loaded.
async fn prepare(session: &Session, spec: &ToolSpec, arguments: &mut Map<String, Value>) {
    let install = match spec.name {
        "get_model_job" => "install_model",
        "get_backend_job" => "install_backend",
        _ => return,
    };
    let started = structured(&session.execute(install, json!({"request": {"id": "localai@demo"}})).await.unwrap());
    let id = started.pointer("/data/uuid").or_else(|| started.pointer("/data/id")).expect("an id");
    arguments.insert("uuid".into(), id.clone());
}

fn warnings(answer: &Value) -> impl Iterator<Item = &str> {
    answer.get("warnings").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

async fn call(session: &Session, stage: &Stage, spec: &ToolSpec, extent: Extent) -> Result<(), String> {
    let mut arguments = arguments(spec, extent);
    prepare(session, spec, &mut arguments).await;
    stage.mock.clear();
    let result = match stage.is_listed(spec.name) {
        true => session.call(spec.name, Value::Object(arguments.clone())).await,
        false => session.execute(spec.name, Value::Object(arguments.clone())).await,
    };
    let result = result.map_err(|error| error.to_string())?;
    let answer = structured(&result);
    if let Binding::NoRoute(_) = spec.binding {
        let code = answer.get("code").cloned().unwrap_or_default();
        return if code == "no_route" { Ok(()) } else { Err(format!("expected no_route, and got {answer}")) };
    }
    let violations = stage.mock.violations();
    if !violations.is_empty() {
        return Err(format!("violations {violations:?} of {arguments:?}"));
    }
    if answer.get("ok") != Some(&json!(true)) || result.is_error == Some(true) {
        return Err(format!("answered {answer} to {arguments:?}"));
    }
    let wrong: Vec<&str> = warnings(&answer).filter(|warning| warning.contains("the document declares")).collect();
    if !wrong.is_empty() {
        return Err(format!("the document is wrong about the answer: {wrong:?}"));
    }
    if stage.mock.requests().is_empty() {
        return Err("no request reached the upstream".to_owned());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_operation_is_right_on_the_wire_with_minimal_and_full_arguments() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[]).await.unwrap();
    let mut faults = Vec::new();
    for spec in localai_tools::TOOLS.tools() {
        for extent in [Extent::Minimal, Extent::Full] {
            if let Err(fault) = call(&session, &stage, spec, extent).await {
                faults.push(format!("{} ({extent:?}): {fault}", spec.name));
            }
        }
    }
    session.close().await.unwrap();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert_eq!(localai_tools::TOOLS.tools().len(), 123);
}
