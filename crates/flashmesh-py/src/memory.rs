//! Handling of failed allocations: the process ends with a message and an exit code, without a backtrace.

#![allow(
    unsafe_code,
    reason = "only an allocator is told that an allocation failed; the default aborts with a backtrace"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

/// The system's allocator, except that the process ends if an allocation fails.
struct Checked;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

// SAFETY: all calls are forwarded to the system's allocator. If an allocation fails, the process ends.
unsafe impl GlobalAlloc for Checked {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller satisfies the contract of `alloc`, which is the same for the system's allocator.
        found(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller satisfies the contract of `alloc_zeroed`, which is the same for the system's allocator.
        found(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller satisfies the contract of `realloc`, which is the same for the system's allocator.
        found(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller satisfies the contract of `dealloc`, which is the same for the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn found(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        give_up(size);
    }
    pointer
}

/// Ends the process with the exit code for bad input. Threads cannot continue, and this code must not allocate memory.
#[cold]
#[inline(never)]
fn give_up(size: usize) -> ! {
    let _ = writeln!(
        Unbuffered,
        "error: out of memory: the system refused {size} bytes more; lower geometry.* or the number of runs at once, or \
         raise the limit"
    );
    // SAFETY: `_exit` ends the process at once. It runs no exit handlers, which could allocate memory.
    unsafe { libc::_exit(2) }
}

/// Standard error, without a buffer and without a lock.
struct Unbuffered;

impl Write for Unbuffered {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // SAFETY: the bytes are valid for the duration of the call.
        let written = unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
        usize::try_from(written).map_err(|_| std::io::Error::last_os_error())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
