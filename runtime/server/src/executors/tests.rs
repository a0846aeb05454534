use std::time::Duration;

use serde_json::json;
use tempfile::tempdir;
use toolwright_core::{
    Binding, Catalog, ConfigurationFault, Context, Examination, ExecutorCall, NoSecrets, Payload, Risk, read_plan,
};

use super::*;
use crate::settings::{BaseUrl, ConfigFile, SettingValue as _};
use crate::testing::{ROWS, SERVER, settings};
use crate::{App, Program};

const fn linked(name: &'static str, plan: &'static str, project: Option<&'static str>) -> ToolSpec {
    let binding = Binding::Linked(LinkedBinding { executor: "echo", plan, project });
    ToolSpec { name, risk: Risk::Compute, binding, ..ROWS[3] }
}

static CATALOG: Catalog = Catalog::new(&[
    linked("broken", "not JSON", None),
    linked("panic", "\"panic\"", None),
    linked("projected", "\"said\"", Some(".said | length")),
    ToolSpec { deadline_seconds: Some(1), ..linked("wait", "\"wait\"", None) },
]);

/// Answers with its plan.
#[derive(Default)]
struct Echo {
    key: Option<String>,
}

impl Executor for Echo {
    fn kind(&self) -> &'static str {
        "echo"
    }

    fn configure(&mut self, configuration: Configuration) -> Result<(), Vec<ConfigurationFault>> {
        self.key = configuration.secrets.get("echo_key").unwrap().map(|key| key.expose().to_owned());
        match configuration.table {
            Some(table) if table["loud"] != true => {
                Err(vec![ConfigurationFault { field: "llm.loud".into(), message: "must be true".into() }])
            }
            _ => Ok(()),
        }
    }

    fn call<'a>(&'a self, tool: LinkedTool, _: Map<String, Value>, _: &'a Context) -> ExecutorCall<'a> {
        Box::pin(async move {
            match read_plan::<String>(tool) {
                Ok(plan) if plan == "panic" => panic!("a fault in this executor"),
                Ok(plan) if plan == "wait" => std::future::pending().await,
                Ok(plan) => Envelope::success(json!({"said": plan})),
                Err(error) => Envelope::failure(error),
            }
        })
    }

    fn explain(&self, tool: LinkedTool, _: &Map<String, Value>, _: &Context) -> Result<String, ToolError> {
        Ok(format!("says {}", tool.plan))
    }

    fn examine<'a>(&'a self, tool: LinkedTool, _: &'a Context) -> Examination<'a> {
        Box::pin(async move { if tool.plan == "not JSON" { Err("no plan".into()) } else { Ok("ready".into()) } })
    }
}

fn app(state: &tempfile::TempDir, program: Program) -> Arc<App> {
    let mut settings = settings(state);
    settings.base_url = BaseUrl::read("").unwrap();
    program.app(settings).unwrap()
}

fn echoing() -> Program {
    Program::new(&SERVER, &CATALOG).executor(Echo::default())
}

async fn called(program: Program, name: &str) -> Envelope {
    let state = tempdir().unwrap();
    let app = app(&state, program);
    app.operation(CATALOG.find(name).unwrap(), Map::new(), &CallContext::within(Duration::from_secs(20))).await
}

#[tokio::test]
async fn a_tool_is_carried_out_by_the_executor_of_its_kind_and_then_projected() {
    let envelope = called(echoing(), "projected").await;
    assert!(matches!(&envelope.payload, Payload::Data(data) if *data == json!(4)), "{envelope:?}");
}

#[tokio::test]
async fn a_panic_is_answered_without_its_text() {
    let envelope = called(echoing(), "panic").await;
    assert_eq!(envelope.code(), Some(Code::HandlerFailed));
    assert!(!envelope.error.unwrap().message.contains("a fault in this executor"));
}

#[tokio::test]
async fn an_executor_that_takes_too_long_is_dropped_at_the_deadline() {
    assert_eq!(called(echoing(), "wait").await.code(), Some(Code::Deadline));
}

#[tokio::test]
async fn a_plan_that_cannot_be_read_says_to_generate_again() {
    let error = called(echoing(), "broken").await.error.unwrap();
    assert!(error.message.contains("the plan of broken") && error.message.contains("generate"), "{error}");
}

#[tokio::test]
async fn a_program_without_the_executor_says_which_one_it_lacks() {
    let error = called(Program::new(&SERVER, &CATALOG), "projected").await.error.unwrap();
    assert_eq!((error.code, error.message.contains("`echo`")), (Code::NotAllowed, true), "{error}");
}

#[tokio::test]
async fn every_tool_is_examined_and_named_with_what_is_said_of_it() {
    let state = tempdir().unwrap();
    let app = app(&state, echoing());
    let rows = CATALOG.tools().iter().take(2);
    let found = app.executors.examine(rows, &CallContext::within(Duration::from_secs(1))).await;
    assert_eq!(found, [("echo", "broken", Err("no plan".to_owned())), ("echo", "panic", Ok("ready".to_owned()))]);
}

#[test]
fn a_fault_of_a_table_names_the_file_and_the_field() {
    struct Named(Echo);
    impl Executor for Named {
        fn kind(&self) -> &'static str {
            "llm"
        }
        fn configure(&mut self, configuration: Configuration) -> Result<(), Vec<ConfigurationFault>> {
            self.0.configure(configuration)
        }
        fn call<'a>(&'a self, tool: LinkedTool, given: Map<String, Value>, context: &'a Context) -> ExecutorCall<'a> {
            self.0.call(tool, given, context)
        }
        fn explain(&self, tool: LinkedTool, given: &Map<String, Value>, seen: &Context) -> Result<String, ToolError> {
            self.0.explain(tool, given, seen)
        }
        fn examine<'a>(&'a self, tool: LinkedTool, context: &'a Context) -> Examination<'a> {
            self.0.examine(tool, context)
        }
    }
    let configured = |text: &str| {
        let file = ConfigFile::parse(text, std::path::Path::new("c.toml"), &SERVER).unwrap();
        let mut executors: Vec<Box<dyn Executor>> = vec![Box::new(Named(Echo::default()))];
        configure(&mut executors, &file.tables(None), &Arc::new(NoSecrets))
    };
    let problems = configured("[llm]\nloud = false\n").unwrap_err();
    assert_eq!(problems.iter().map(Problem::to_string).collect::<Vec<_>>(), ["c.toml: llm.loud: must be true"]);
    for (value, what) in
        [("inf", "is infinite"), ("-inf", "is infinite"), ("nan", "is not a number"), ("1979-05-27", "is a date")]
    {
        let problems = configured(&format!("[llm]\nloud = {value}\n")).unwrap_err();
        let [problem] = problems.as_slice() else { panic!("one fault a value: {problems:?}") };
        assert!(problem.to_string().starts_with(&format!("c.toml: llm.loud: {what}")), "{problem}");
    }
    assert_eq!(configured("[llm]\nloud = true\n"), Ok(()));
    assert_eq!(configured(""), Ok(()), "a table that is absent is no fault");
}

#[tokio::test]
async fn a_table_that_no_executor_reads_is_known() {
    let state = tempdir().unwrap();
    let file = ConfigFile::parse("[llm]\nloud = 1\n", std::path::Path::new("c.toml"), &SERVER).unwrap();
    let app = app(&state, echoing());
    assert_eq!(app.executors.unread(&file.tables(None)), ["llm"]);
    assert!(app.executors.unread(&Tables::default()).is_empty());
}
