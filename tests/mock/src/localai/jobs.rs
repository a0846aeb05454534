//! Installing and removing models and backends: a request starts a job, polling follows it.

use crate::answer::Answer;
use crate::check::Call;
use serde_json::{Map, Value, json};
use std::sync::{Mutex, PoisonError};

/// A job is done at this poll.
const LAST_POLL: u32 = 3;

#[derive(Debug, Clone)]
struct Job {
    id: String,
    backend: bool,
    element: String,
    deletion: bool,
    polls: u32,
}

#[derive(Debug, Default)]
pub(super) struct Jobs(Mutex<Vec<Job>>);

impl Jobs {
    pub(super) fn answer(&self, key: &str, call: &Call) -> Option<Answer> {
        let named = || call.path_value("name");
        match key {
            "POST /models/apply" => Some(self.start(false, false, element(call), call)),
            "POST /models/delete/{name}" => Some(self.start(false, true, named(), call)),
            "POST /backends/apply" => Some(self.start(true, false, element(call), call)),
            "POST /backends/upgrade/{name}" => Some(self.start(true, false, named(), call)),
            "POST /backends/delete/{name}" => Some(self.start(true, true, named(), call)),
            "GET /models/jobs/{uuid}" => Some(self.poll(false, &call.path_value("uuid"))),
            "GET /backends/jobs/{uuid}" => Some(self.poll(true, &call.path_value("uuid"))),
            "GET /models/jobs" => Some(self.all()),
            _ => None,
        }
    }

    fn start(&self, backend: bool, deletion: bool, element: String, call: &Call) -> Answer {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = format!("00000000-0000-4000-8000-{:012}", jobs.len() + 1);
        jobs.push(Job { id: id.clone(), backend, element, deletion, polls: 0 });
        let host = call.header("host").unwrap_or("127.0.0.1");
        let kind = if backend { "backends" } else { "models" };
        let status = format!("http://{host}/{kind}/jobs/{id}");
        Answer::json(
            200,
            &if backend { json!({"id": id, "status_url": status}) } else { json!({"uuid": id, "status": status}) },
        )
    }

    fn poll(&self, backend: bool, id: &str) -> Answer {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match jobs.iter_mut().find(|job| job.id == id && job.backend == backend) {
            Some(job) => {
                job.polls += 1;
                Answer::json(200, &status(job))
            }
            // The real server has no 404 here: an unknown job is a plain error.
            None => Answer::error(500, "could not find any status for ID", ""),
        }
    }

    fn all(&self) -> Answer {
        let jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: Map<String, Value> = jobs.iter().map(|job| (job.id.clone(), status(job))).collect();
        Answer::json(200, &Value::Object(all))
    }
}

fn element(call: &Call) -> String {
    let body = call.json().unwrap_or_default();
    ["id", "name"].into_iter().find_map(|key| body.get(key).and_then(Value::as_str)).unwrap_or("").to_owned()
}

fn status(job: &Job) -> Value {
    let done = job.polls >= LAST_POLL;
    let progress = if done { 100.0 } else { 33.0 * f64::from(job.polls) };
    json!({
        "deletion": job.deletion, "file_name": format!("{}.gguf", job.element), "processed": done,
        "message": if done { "completed" } else { "processing" }, "progress": progress,
        "file_size": "3.0 MiB", "downloaded_size": format!("{}.0 MiB", job.polls.min(LAST_POLL)),
        "gallery_element_name": job.element, "cancelled": false, "cancellable": !done,
    })
}
