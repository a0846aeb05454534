//! Output within a limit that two streams share.

use std::sync::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};

/// How many bytes of output may still be kept.
#[derive(Debug)]
pub(crate) struct Allowance(Mutex<usize>);

impl Allowance {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Mutex::new(bytes))
    }

    /// Takes up to `wanted` bytes and says how many there were.
    fn take(&self, wanted: usize) -> usize {
        let mut left = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let taken = wanted.min(*left);
        *left -= taken;
        taken
    }
}

/// Reads to the end into `kept`, so that what was read survives when this is dropped. `false` once the allowance is used up
/// and there is more.
pub(crate) async fn collect(mut source: impl AsyncRead + Unpin, kept: &Mutex<Vec<u8>>, allowance: &Allowance) -> bool {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        // A read error ends the stream: the process at the other end is gone.
        let Ok(count @ 1..) = source.read(&mut buffer).await else { return true };
        let taken = allowance.take(count);
        let mut kept = kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        kept.extend_from_slice(buffer.get(..taken).unwrap_or_default());
        if taken < count {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Allowance, collect};
    use std::sync::Mutex;

    #[tokio::test]
    async fn exactly_the_allowance_is_kept() {
        let kept = Mutex::new(Vec::new());
        assert!(!collect(&b"12345"[..], &kept, &Allowance::new(4)).await);
        assert_eq!(kept.into_inner().unwrap(), b"1234");
    }

    #[tokio::test]
    async fn output_of_exactly_the_allowance_is_complete() {
        let kept = Mutex::new(Vec::new());
        assert!(collect(&b"1234"[..], &kept, &Allowance::new(4)).await);
        assert_eq!(kept.into_inner().unwrap(), b"1234");
    }
}
