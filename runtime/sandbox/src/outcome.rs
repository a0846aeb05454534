//! What became of a command.

use crate::shape::shape;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The shell ended by itself with this code; 128 and the signal's number where a signal ended it.
    Exited(i32),
    /// The time was over.
    TimedOut,
    /// The caller cancelled.
    Cancelled,
    /// More output than allowed.
    OutputLimit,
    /// More memory than allowed.
    MemoryLimit,
    /// More processes than allowed.
    ProcessLimit,
}

/// The result of one command. Everything that it started is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// What it wrote to standard output, as far as the limit allowed.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error, as far as the limit allowed.
    pub stderr: Vec<u8>,
    /// From the start of the support process to the death of the last process.
    pub elapsed: Duration,
}

/// An outcome as a model reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelOutput {
    /// The exit code; -1 where the command was ended from outside.
    pub exit_code: i32,
    /// Head and tail of standard output.
    pub stdout: String,
    /// Head and tail of standard error, and a last line where the command was ended from outside.
    pub stderr: String,
    /// Whether the time was over.
    pub timed_out: bool,
    /// Whether output is missing: for the limit, or because only head and tail are shown.
    pub truncated: bool,
}

impl Outcome {
    /// The exit code; -1 where the command was ended from outside.
    pub fn exit_code(&self) -> i32 {
        match self.end {
            End::Exited(code) => code,
            _ => -1,
        }
    }

    /// Whether it ended by itself with code 0.
    pub fn success(&self) -> bool {
        self.end == End::Exited(0)
    }

    /// One sentence where the command was ended from outside.
    pub fn note(&self) -> Option<String> {
        Some(match self.end {
            End::Exited(_) => return None,
            End::TimedOut => format!("[stopped: time ran out after {:.1} s]", self.elapsed.as_secs_f64()),
            End::Cancelled => "[stopped: cancelled]".to_owned(),
            End::OutputLimit => format!(
                "[stopped: more output than the limit of {} bytes; select less of it]",
                self.stdout.len() + self.stderr.len()
            ),
            End::MemoryLimit => "[stopped: more memory than allowed]".to_owned(),
            End::ProcessLimit => "[stopped: more processes than allowed]".to_owned(),
        })
    }

    /// The outcome with at most `bytes` bytes of each stream: their head and tail, cut at line ends where that is possible.
    pub fn for_model(&self, bytes: usize) -> ModelOutput {
        let (stdout, cut_out) = shape(&String::from_utf8_lossy(&self.stdout), bytes);
        let (mut stderr, cut_err) = shape(&String::from_utf8_lossy(&self.stderr), bytes);
        if let Some(note) = self.note() {
            if !stderr.is_empty() && !stderr.ends_with('\n') {
                stderr.push('\n');
            }
            stderr.push_str(&note);
            stderr.push('\n');
        }
        ModelOutput {
            exit_code: self.exit_code(),
            stdout,
            stderr,
            timed_out: self.end == End::TimedOut,
            truncated: cut_out || cut_err || self.end == End::OutputLimit,
        }
    }
}
