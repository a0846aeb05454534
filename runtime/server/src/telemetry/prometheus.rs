//! The counters as Prometheus text (exposition format 0.0.4).

use std::fmt::Write as _;
use std::time::Duration;

use toolwright_core::ServerSpec;

use super::metrics::{Answered, BUCKETS_MS, Durations, Metrics, Snapshot};

impl Metrics {
    /// All counters as Prometheus text.
    pub(crate) fn render(&self, server: &ServerSpec) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = write_all(&mut out, server, &self.snapshot());
        out
    }
}

fn write_all(out: &mut String, server: &ServerSpec, seen: &Snapshot) -> std::fmt::Result {
    let name = server.name;
    head(out, "info", "gauge", "The server and its catalog.")?;
    let (version, catalog, tools) = (server.version, server.catalog_sha256, seen.tools);
    writeln!(
        out,
        "toolwright_info{{server=\"{name}\",version=\"{version}\",catalog=\"{catalog}\",tools=\"{tools}\"}} 1"
    )?;
    head(out, "calls_total", "counter", "Calls that ended.")?;
    for ((tool, outcome), durations) in &seen.calls {
        let count = durations.count();
        writeln!(out, "toolwright_calls_total{{server=\"{name}\",tool=\"{tool}\",outcome=\"{outcome}\"}} {count}")?;
    }
    head(out, "calls_running", "gauge", "Calls that run.")?;
    writeln!(out, "toolwright_calls_running{{server=\"{name}\"}} {}", seen.running)?;
    write_durations(out, name, "call_duration_seconds", "Time from arrival to result.", seen.calls.values())?;
    write_requests(out, name, seen)
}

fn write_requests(out: &mut String, name: &str, seen: &Snapshot) -> std::fmt::Result {
    head(out, "upstream_requests_total", "counter", "Requests to the API that ended.")?;
    for ((method, answered), durations) in &seen.requests {
        let (outcome, count) = (outcome(*answered), durations.count());
        writeln!(
            out,
            "toolwright_upstream_requests_total{{server=\"{name}\",method=\"{method}\",outcome=\"{outcome}\"}} {count}"
        )?;
    }
    head(out, "upstream_requests_running", "gauge", "Requests to the API that run.")?;
    writeln!(out, "toolwright_upstream_requests_running{{server=\"{name}\"}} {}", seen.requests_running)?;
    head(out, "upstream_bytes_total", "counter", "Bytes of bodies to and from the API.")?;
    for (direction, bodies) in [("received", seen.received), ("sent", seen.sent)] {
        let bytes = bodies.bytes;
        writeln!(out, "toolwright_upstream_bytes_total{{server=\"{name}\",direction=\"{direction}\"}} {bytes}")?;
    }
    let help = "Time of a request to the API, to the end of its answer.";
    write_durations(out, name, "upstream_request_duration_seconds", help, seen.requests.values())
}

fn outcome(answered: Answered) -> String {
    match answered {
        Answered::Status(status) => status.to_string(),
        Answered::Failed(kind) => kind.to_owned(),
    }
}

fn head(out: &mut String, metric: &str, kind: &str, help: &str) -> std::fmt::Result {
    writeln!(out, "# HELP toolwright_{metric} {help}\n# TYPE toolwright_{metric} {kind}")
}

fn write_durations<'d>(
    out: &mut String,
    name: &str,
    metric: &str,
    help: &str,
    all: impl Iterator<Item = &'d Durations>,
) -> std::fmt::Result {
    head(out, metric, "histogram", help)?;
    let durations = all.fold(Durations::default(), Durations::merge);
    let mut below = 0;
    for (bound, count) in BUCKETS_MS.iter().zip(&durations.buckets) {
        below += count;
        let seconds = Duration::from_millis(*bound).as_secs_f64();
        writeln!(out, "toolwright_{metric}_bucket{{server=\"{name}\",le=\"{seconds}\"}} {below}")?;
    }
    let (count, sum) = (durations.count(), durations.total());
    writeln!(out, "toolwright_{metric}_bucket{{server=\"{name}\",le=\"+Inf\"}} {count}")?;
    writeln!(out, "toolwright_{metric}_sum{{server=\"{name}\"}} {sum}")?;
    writeln!(out, "toolwright_{metric}_count{{server=\"{name}\"}} {count}")
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
        for (millis, outcome) in [(3, "ok"), (30, "deadline"), (400_000, "ok")] {
            metrics.begin();
            metrics.end("get_item", outcome, Duration::from_millis(millis));
        }
        let text = metrics.render(&SERVER);
        for expected in ["le=\"0.001\"} 0", "le=\"0.005\"} 1", "le=\"0.05\"} 2", "le=\"300\"} 2", "le=\"+Inf\"} 3"] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
    }

    #[test]
    fn requests_are_counted_by_method_and_outcome_with_their_bytes() {
        let metrics = Metrics::new(&CATALOG);
        for (bytes, answered) in [(5, Answered::Status(200)), (7, Answered::Failed("connect"))] {
            metrics.request_begins(bytes);
            metrics.received(10);
            metrics.request_ends("POST", answered, Duration::from_millis(1));
        }
        let text = metrics.render(&SERVER);
        for expected in [
            "toolwright_upstream_requests_total{server=\"demo\",method=\"POST\",outcome=\"200\"} 1\n",
            "toolwright_upstream_requests_total{server=\"demo\",method=\"POST\",outcome=\"connect\"} 1\n",
            "toolwright_upstream_requests_running{server=\"demo\"} 0\n",
            "toolwright_upstream_bytes_total{server=\"demo\",direction=\"sent\"} 12\n",
            "toolwright_upstream_bytes_total{server=\"demo\",direction=\"received\"} 20\n",
            "toolwright_upstream_request_duration_seconds_count{server=\"demo\"} 2\n",
        ] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
    }
}
