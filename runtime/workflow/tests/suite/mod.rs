//! What holds on every database. The test crate that includes this says where operations are kept, by `crate::place`.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::json;
use toolwright_workflow::{Catalogue, Claim, Clock, Lease, NewOperation, Operation};

mod budget;
mod cancel;
mod catalogue;
mod crash;
mod fence;
pub(crate) mod runtime;
mod steps;

pub(crate) const LEASE: Duration = Duration::from_secs(90);

/// A clock that goes when it is told to.
#[derive(Clone)]
pub(crate) struct Hands(Arc<AtomicI64>);

impl Hands {
    pub(crate) fn new() -> Self {
        Hands(Arc::new(AtomicI64::new(1_000_000)))
    }

    pub(crate) fn forward(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for Hands {
    fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// A catalogue with a clock of its own.
pub(crate) struct Fixture {
    pub(crate) catalogue: Catalogue,
    pub(crate) clock: Hands,
    pub(crate) place: crate::Place,
}

pub(crate) async fn fixture() -> Fixture {
    let (place, clock) = (crate::place(), Hands::new());
    let catalogue = Catalogue::open(&place.location, Arc::new(clock.clone()), 1000).await.unwrap();
    Fixture { catalogue, clock, place }
}

pub(crate) fn new() -> NewOperation {
    NewOperation::new("ada", "a label", json!({"n": 1}))
}

impl Fixture {
    pub(crate) async fn made(&self) -> Operation {
        self.catalogue.create(&new()).await.unwrap()
    }

    pub(crate) async fn claim(&self, id: &str, worker: &str) -> Claim {
        self.catalogue.claim(id, worker, LEASE, 5).await.unwrap()
    }

    pub(crate) async fn held(&self, id: &str, worker: &str) -> Lease {
        match self.claim(id, worker).await {
            Claim::Held(lease, _) => lease,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn get(&self, id: &str) -> Operation {
        self.catalogue.get(id, "ada").await.unwrap()
    }
}
