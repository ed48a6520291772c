//! Errors of the operating system, in words.

use std::io;

/// What the system said of an error, without its number, which says nothing to people.
pub fn said(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" (os error ").unwrap_or(text.len());
    text[..end].to_owned()
}
