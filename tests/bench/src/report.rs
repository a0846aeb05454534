//! The table at the end.

/// Measured rows.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

struct Row {
    what: &'static str,
    measured: String,
    target: &'static str,
    met: bool,
}

impl Report {
    pub(crate) fn row(&mut self, what: &'static str, measured: String, target: &'static str, met: bool) {
        println!("{what}: {measured} (target {target})");
        self.rows.push(Row { what, measured, target, met });
    }

    pub(crate) fn print(&self) {
        println!("\n| what | measured | target | met |\n|---|---|---|---|");
        for Row { what, measured, target, met } in &self.rows {
            println!("| {what} | {measured} | {target} | {} |", if *met { "yes" } else { "NO" });
        }
    }
}

/// The median; zero for no values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
