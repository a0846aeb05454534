//! From an answer to an envelope: limits while reading, the reading by media type, and what is kept of the headers.

mod binary;
mod collect;
mod explain;
mod headers;
mod mask;
mod reading;
mod reply;
#[cfg(test)]
mod tests;

pub(crate) use collect::{Unread, whole};
pub(crate) use mask::Masks;
pub(crate) use reading::{Reader, read, read_text};
pub(crate) use reply::Reply;
