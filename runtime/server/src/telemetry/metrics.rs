//! Counters of calls, as Prometheus text (exposition format 0.0.4).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use toolwright_core::{Catalog, ServerSpec};

/// Upper bounds of the duration buckets, in milliseconds.
const BUCKETS_MS: [u64; 13] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 15_000, 60_000, 300_000];

/// Counts of calls by tool and outcome, their durations, and how many run.
#[derive(Debug)]
pub(crate) struct Metrics {
    /// Names from outside never reach this map: only tools of the server do.
    calls: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    buckets: [AtomicU64; BUCKETS_MS.len()],
    count: AtomicU64,
    total_us: AtomicU64,
    running: AtomicI64,
    tools: usize,
}

impl Metrics {
    pub(crate) fn new(catalog: &Catalog) -> Self {
        Metrics {
            calls: Mutex::new(BTreeMap::new()),
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            count: AtomicU64::new(0),
            total_us: AtomicU64::new(0),
            running: AtomicI64::new(0),
            tools: catalog.tools().len(),
        }
    }

    /// A call has begun.
    pub(crate) fn begin(&self) {
        self.running.fetch_add(1, Ordering::Relaxed);
    }

    /// A call has ended.
    pub(crate) fn end(&self, tool: &'static str, outcome: &'static str, took: Duration) {
        self.running.fetch_sub(1, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.total_us.fetch_add(micros, Ordering::Relaxed);
        let bucket = BUCKETS_MS.iter().position(|bound| micros <= bound * 1_000);
        if let Some(bucket) = bucket.and_then(|index| self.buckets.get(index)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        // A panic elsewhere cannot leave a counter half written.
        let mut calls = self.calls.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *calls.entry((tool, outcome)).or_default() += 1;
    }

    /// Calls that have begun and not ended.
    pub(crate) fn running(&self) -> i64 {
        self.running.load(Ordering::Relaxed)
    }

    /// All metrics as Prometheus text.
    pub(crate) fn render(&self, server: &ServerSpec) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut out, server);
        out
    }

    fn write(&self, out: &mut String, server: &ServerSpec) -> std::fmt::Result {
        let name = server.name;
        writeln!(out, "# HELP toolwright_info The server and its catalog.\n# TYPE toolwright_info gauge")?;
        let (version, catalog, tools) = (server.version, server.catalog_sha256, self.tools);
        writeln!(
            out,
            "toolwright_info{{server=\"{name}\",version=\"{version}\",catalog=\"{catalog}\",tools=\"{tools}\"}} 1"
        )?;
        writeln!(out, "# HELP toolwright_calls_total Calls that ended.\n# TYPE toolwright_calls_total counter")?;
        let calls = self.calls.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        for ((tool, outcome), count) in calls {
            writeln!(out, "toolwright_calls_total{{server=\"{name}\",tool=\"{tool}\",outcome=\"{outcome}\"}} {count}")?;
        }
        writeln!(out, "# HELP toolwright_calls_running Calls that run.\n# TYPE toolwright_calls_running gauge")?;
        writeln!(out, "toolwright_calls_running{{server=\"{name}\"}} {}", self.running())?;
        self.write_durations(out, name)
    }

    fn write_durations(&self, out: &mut String, name: &str) -> std::fmt::Result {
        const METRIC: &str = "toolwright_call_duration_seconds";
        writeln!(out, "# HELP {METRIC} Time from arrival to result.\n# TYPE {METRIC} histogram")?;
        let count = self.count.load(Ordering::Relaxed);
        let mut below = 0;
        for (bound, bucket) in BUCKETS_MS.iter().zip(&self.buckets) {
            below += bucket.load(Ordering::Relaxed);
            let seconds = Duration::from_millis(*bound).as_secs_f64();
            writeln!(out, "{METRIC}_bucket{{server=\"{name}\",le=\"{seconds}\"}} {below}")?;
        }
        writeln!(out, "{METRIC}_bucket{{server=\"{name}\",le=\"+Inf\"}} {count}")?;
        let sum = Duration::from_micros(self.total_us.load(Ordering::Relaxed)).as_secs_f64();
        writeln!(out, "{METRIC}_sum{{server=\"{name}\"}} {sum}\n{METRIC}_count{{server=\"{name}\"}} {count}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CATALOG, SERVER};

    #[test]
    fn calls_are_counted_by_tool_and_outcome() {
        let metrics = Metrics::new(&CATALOG);
        metrics.begin();
        metrics.begin();
        metrics.end("get_item", "ok", Duration::from_millis(3));
        let text = metrics.render(&SERVER);
        assert!(
            text.contains("toolwright_calls_total{server=\"demo\",tool=\"get_item\",outcome=\"ok\"} 1\n"),
            "{text}"
        );
        assert!(text.contains("toolwright_calls_running{server=\"demo\"} 1\n"), "{text}");
    }

    #[test]
    fn duration_buckets_are_cumulative() {
        let metrics = Metrics::new(&CATALOG);
        for millis in [3, 30, 400_000] {
            metrics.begin();
            metrics.end("get_item", "ok", Duration::from_millis(millis));
        }
        let text = metrics.render(&SERVER);
        for expected in ["le=\"0.001\"} 0", "le=\"0.005\"} 1", "le=\"0.05\"} 2", "le=\"300\"} 2", "le=\"+Inf\"} 3"] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
    }
}
