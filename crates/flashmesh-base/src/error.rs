//! Messages of the operating system.

use std::io;

/// Returns the system's message of an error, without the error number.
pub fn system_message(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" (os error ").unwrap_or(text.len());
    text[..end].to_owned()
}
