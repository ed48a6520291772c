//! Errors of the C interface: one message for each thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use flashmesh::units::printable;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Returns the message of the last failed call in this thread; an empty text if none has failed. The pointer is valid until
/// the next call in this thread fails.
#[unsafe(no_mangle)]
pub extern "C" fn flashmesh_last_error() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}

fn remember(error: &str) {
    // `printable` escapes NUL bytes, so `CString::new` cannot fail.
    let text = CString::new(printable(error).to_string()).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = text);
}

/// Returns the result of `work`. On an error or a panic, stores the message for [`flashmesh_last_error`] and returns
/// `failure`.
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

/// Returns the message of an error.
pub fn text(error: impl Display) -> String {
    error.to_string()
}
