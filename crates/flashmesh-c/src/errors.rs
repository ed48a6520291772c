//! Why a call failed: a text for each thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use flashmesh::units::printable;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Why the last call of this thread failed; an empty text before one has. Stays until the next call of this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn flashmesh_last_error() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}

fn remember(error: &str) {
    // A text that is printable has no byte 0.
    let text = CString::new(printable(error).to_string()).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = text);
}

/// What `work` gives, or `failure` with the reason remembered; a panic is one.
pub fn guarded<T>(failure: T, work: impl FnOnce() -> Result<T, String>) -> T {
    let error = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => return value,
        Ok(Err(error)) => error,
        Err(panic) => {
            let text =
                panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            format!("a fault of flashmesh: {}", text.unwrap_or("a panic without a message"))
        }
    };
    remember(&error);
    failure
}

/// The text of an error.
pub fn text(error: impl Display) -> String {
    error.to_string()
}
