//! An operation of 200 steps whose process is killed at every one of them.
//!
//! The child is this test program again, told by its environment where to stop. There it says so and waits; the parent
//! kills it with SIGKILL and starts the next. Each effect is a line at the end of a file. What the journal cannot know,
//! whether the line of a step that was cut off is there, the step looks up by its key.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright_workflow::{
    Attempt, Catalogue, Clock, Context, Failure, NewOperation, Operation, Runtime, Settings, State, SystemClock,
    Workflow,
};

use super::LEASE;

const STEPS: u64 = 200;
/// Where a run is killed around its step: before the step is announced, before its effect, and after it.
const POINTS: [&str; 3] = ["before", "announced", "happened"];

/// Each run sees the clock one lease further than the run before, so that nobody waits for a dead worker's lease.
struct Later(u32);

impl Clock for Later {
    fn now(&self) -> i64 {
        SystemClock.now() + i64::try_from((LEASE * self.0).as_millis()).unwrap()
    }
}

struct Lines {
    file: PathBuf,
    /// Where this run stops: a step and a point of it.
    stop: String,
}

impl Lines {
    async fn come_to(&self, step: u64, point: &str) {
        if self.stop == format!("{point} {step}") {
            eprintln!("reached");
            std::future::pending::<()>().await;
        }
    }

    async fn write(&self, step: u64, attempt: Attempt) -> Result<u64, Failure> {
        self.come_to(step, "announced").await;
        let is_there = || std::fs::read_to_string(&self.file).unwrap().lines().any(|line| line == attempt.key);
        if !(attempt.interrupted && is_there()) {
            let mut file = OpenOptions::new().append(true).open(&self.file).unwrap();
            file.write_all(format!("{}\n", attempt.key).as_bytes()).unwrap();
        }
        self.come_to(step, "happened").await;
        Ok(step)
    }
}

impl Workflow for Lines {
    async fn run(&self, context: &mut Context) -> Result<Value, Failure> {
        let mut sum = 0;
        for step in 0..STEPS {
            self.come_to(step, "before").await;
            sum += context.effect(&format!("line {step}"), |attempt| self.write(step, attempt)).await?;
        }
        self.come_to(STEPS, "before").await;
        Ok(json!(sum))
    }
}

#[tokio::test]
#[ignore = "a part of the other tests here, which run it as a process of its own"]
async fn child() {
    let variable = |name: &str| std::env::var(format!("CRASH_{name}")).unwrap();
    let Ok(place) = std::env::var("CRASH_PLACE") else { return };
    let workflow = Lines { file: PathBuf::from(variable("FILE")), stop: variable("STOP") };
    let clock = Arc::new(Later(variable("RUN").parse().unwrap()));
    let mut settings = Settings::new("crash");
    if workflow.stop == "nowhere" {
        // Nothing says that a run which is killed at any time finishes a step.
        settings.max_attempts = 1000;
    }
    let runtime = Runtime::start_with_clock(workflow, crate::named(&place), settings, clock).await.unwrap();
    eprintln!("started");
    // Far more than any run needs, so that one which gets nowhere fails its test.
    tokio::time::timeout(Duration::from_secs(60), runtime.wait(&variable("ID"), "ada")).await.unwrap().unwrap();
    eprintln!("reached");
    runtime.close().await.unwrap();
}

/// An operation, the file of its effects, and how often it was run.
struct Crashes {
    place: crate::Place,
    folder: TempDir,
    id: String,
    runs: u32,
}

impl Crashes {
    async fn new() -> Self {
        let (place, folder) = (crate::place(), TempDir::new().unwrap());
        let catalogue = Catalogue::open(&place.location, Arc::new(SystemClock), 1000).await.unwrap();
        let id = catalogue.create(&NewOperation::new("ada", "two hundred lines", json!(null))).await.unwrap().id;
        catalogue.close().await.unwrap();
        std::fs::write(folder.path().join("lines"), "").unwrap();
        Crashes { place, folder, id, runs: 0 }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("lines")
    }

    /// Starts the next run, which stops at that place.
    fn child(&mut self, stop: &str) -> Child {
        self.runs += 1;
        Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "suite::crash::child", "--nocapture"])
            .env("CRASH_PLACE", &self.place.name)
            .env("CRASH_FILE", self.file())
            .env("CRASH_ID", &self.id)
            .env("CRASH_STOP", stop)
            .env("CRASH_RUN", self.runs.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    async fn operation(&self) -> Operation {
        let catalogue = Catalogue::open(&self.place.location, Arc::new(SystemClock), 1000).await.unwrap();
        catalogue.get(&self.id, "ada").await.unwrap()
    }

    /// The whole claim: it ended, with what all steps returned, and each effect is there once, in its order.
    async fn assert_each_effect_happened_once(&self) {
        let ended = self.operation().await;
        assert_eq!((ended.state, ended.result), (State::Completed, Some(json!((0..STEPS).sum::<u64>()))));
        let expected: Vec<_> = (0..STEPS).map(|step| format!("{}-{step}", self.id)).collect();
        assert_eq!(lines(&self.file()), expected);
        assert_eq!(expected.iter().collect::<HashSet<_>>().len(), 200);
    }
}

fn lines(file: &Path) -> Vec<String> {
    std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect()
}

/// Reads what the child says until it says that.
fn until_it_says(child: &mut Child, wanted: &str) {
    let mut said = String::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        if line == wanted {
            return;
        }
        said += &format!("{line}\n");
    }
    panic!("the child ended before it said {wanted:?}:\n{said}");
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    let status = child.wait().unwrap();
    #[cfg(unix)]
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
    assert!(!status.success());
}

fn kill_at(crashes: &mut Crashes, stop: &str) {
    let mut child = crashes.child(stop);
    until_it_says(&mut child, "reached");
    kill(child);
}

#[tokio::test]
async fn killed_at_every_point_of_every_step_it_does_each_effect_once() {
    let mut crashes = Crashes::new().await;
    for step in 0..STEPS {
        for point in POINTS {
            kill_at(&mut crashes, &format!("{point} {step}"));
        }
        let happened = lines(&crashes.file()).len();
        assert_eq!(happened as u64, step + 1, "a kill at step {step} lost or doubled an effect");
    }
    kill_at(&mut crashes, &format!("before {STEPS}"));
    assert!(crashes.child("nowhere").wait().unwrap().success());
    crashes.assert_each_effect_happened_once().await;
    assert_eq!(crashes.operation().await.fence, 3 * 200 + 2);
}

#[tokio::test]
async fn killed_at_any_time_it_does_each_effect_once() {
    let mut crashes = Crashes::new().await;
    let (mut kills, mut longest) = (0, 2000);
    // Prime steps through the first milliseconds of a run reach what no point names: the middle of a commit, of a start.
    // A run may take as long as this machine needs to get somewhere, and no longer.
    while !crashes.operation().await.state.is_terminal() {
        let before = lines(&crashes.file()).len();
        let mut child = crashes.child("nowhere");
        until_it_says(&mut child, "started");
        tokio::time::sleep(Duration::from_micros(kills * 7919 % longest)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        if lines(&crashes.file()).len() == before {
            longest += 1000;
        }
        assert!(kills < 1000, "the operation gets nowhere");
    }
    assert!(kills > 5, "too few kills to show anything: {kills}");
    crashes.assert_each_effect_happened_once().await;
}
