//! Calls that tell their client what goes on.

use std::time::Duration;

use toolwright_core::{Block, Context, Severity};

use crate::Made;

/// Long enough for a client to see each message by itself.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) async fn progress(context: &Context) -> Made {
    for (at, done) in [0.0, 50.0, 100.0].into_iter().enumerate() {
        if at > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        context.progress(done, Some(100.0), "");
    }
    Ok(vec![Block::text("Done, with progress.")])
}

pub(crate) async fn messages(context: &Context) -> Made {
    for (at, message) in
        ["Tool execution started", "Tool processing data", "Tool execution completed"].into_iter().enumerate()
    {
        if at > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        context.log(Severity::Info, message);
    }
    Ok(vec![Block::text("Done, with three messages.")])
}

pub(crate) fn message(context: &Context) -> Made {
    context.log(Severity::Info, "A message for whoever asked for it");
    Ok(vec![Block::text("Done, with one message.")])
}
