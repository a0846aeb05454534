//! From an answer to an envelope: limits while reading, the reading by media type, and what is kept of the headers.

mod binary;
mod collect;
mod explain;
mod headers;
mod mask;
mod reading;
mod reply;
mod secret_form;
mod secret_names;
mod secret_text;
mod shape;
#[cfg(test)]
mod tests;

pub(crate) use binary::{blob, link, tolerate};
pub(crate) use collect::{Unread, check as check_size, next as next_piece};
pub use explain::message_of;
pub(crate) use explain::{cut, one_line, refusal};
pub use mask::{MASK, mask_arguments, mask_members, mask_result};
pub(crate) use mask::{Masks, change_texts, credentials, recognizable, scrub_note};
pub(crate) use reading::{Reader, read};
pub(crate) use reply::Reply;
pub use secret_names::is_secret as names_secret;
pub(crate) use secret_text::mask as mask_text;
pub(crate) use shape::Shapes;
