//! Functions of the C interface on drives.

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::ptr;

use flashmesh::config::Config;
use flashmesh::stepping::{Drive, Snapshot};
use flashmesh::units::{Bytes, Time};

use crate::errors::{guarded, text};
use crate::types::{FlashmeshCompletion, FlashmeshRequest};

/// A simulated drive that is stepped.
pub struct FlashmeshDrive {
    drive: Drive,
    /// Completions of the last step, to which the C caller holds a pointer.
    completed: Vec<FlashmeshCompletion>,
}

/// A copy of the whole state of a drive.
pub struct FlashmeshSnapshot(Snapshot);

/// Returns the version of the library as a text, which must not be freed.
#[unsafe(no_mangle)]
pub extern "C" fn flashmesh_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no byte 0"),
    };
    VERSION.as_ptr()
}

/// Returns the text at `pointer`. Returns an error that names `name` if the pointer is null or the text is not UTF-8.
///
/// SAFETY: `pointer` is null or points to a NUL-terminated text that outlives the result.
unsafe fn text_of<'a>(pointer: *const c_char, name: &str) -> Result<&'a str, String> {
    if pointer.is_null() {
        return Err(format!("{name} is a null pointer"));
    }
    // SAFETY: the caller keeps the contract of this function.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| format!("{name} is not UTF-8"))
}

/// Returns the `count` values at `pointer` as a slice, which is empty if `count` is 0.
///
/// SAFETY: `pointer` is null or points to `count` values that outlive the result.
unsafe fn slice_of<'a, T>(pointer: *const T, count: usize) -> Result<&'a [T], String> {
    match (count, pointer.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err("the array is a null pointer".to_owned()),
        // SAFETY: the caller keeps the contract of this function.
        _ => Ok(unsafe { std::slice::from_raw_parts(pointer, count) }),
    }
}

/// Returns the drive, or an error for a null pointer.
///
/// SAFETY: `drive` is null or was created by this library and not freed, and no other thread uses it.
unsafe fn drive_of<'a>(drive: *mut FlashmeshDrive) -> Result<&'a mut FlashmeshDrive, String> {
    // SAFETY: the caller keeps the contract of this function.
    unsafe { drive.as_mut() }.ok_or_else(|| "the drive is a null pointer".to_owned())
}

fn opened(config: &Config) -> Result<*mut FlashmeshDrive, String> {
    let drive = Drive::new(config).map_err(text)?;
    Ok(Box::into_raw(Box::new(FlashmeshDrive { drive, completed: Vec::new() })))
}

/// Builds a drive at time 0 from the configuration file at `path`. `overrides` are `count` texts such as "geometry.channels=4", which take precedence
/// over the file; the pointer may be null if `count` is 0. Returns null on failure. Free the drive with `flashmesh_drive_free`.
///
/// # Safety
/// The texts are NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_drive_open(
    path: *const c_char,
    overrides: *const *const c_char,
    count: usize,
) -> *mut FlashmeshDrive {
    guarded(ptr::null_mut(), || {
        // SAFETY: the caller keeps the contract of this function.
        let path = unsafe { text_of(path, "path") }?;
        // SAFETY: the caller keeps the contract of this function.
        let overrides = unsafe { overrides_of(overrides, count) }?;
        opened(&Config::from_file(Path::new(path), &overrides).map_err(text)?)
    })
}

/// Like `flashmesh_drive_open`, but takes the text of the configuration (TOML) in place of a file. An empty text is the default configuration.
///
/// # Safety
/// The texts are NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_drive_from_text(
    toml: *const c_char,
    overrides: *const *const c_char,
    count: usize,
) -> *mut FlashmeshDrive {
    guarded(ptr::null_mut(), || {
        // SAFETY: the caller keeps the contract of this function.
        let toml = unsafe { text_of(toml, "toml") }?;
        // SAFETY: the caller keeps the contract of this function.
        let overrides = unsafe { overrides_of(overrides, count) }?;
        opened(&Config::from_str(toml, "the configuration", &overrides).map_err(text)?)
    })
}

/// Returns the texts of the overrides.
///
/// SAFETY: `overrides` is null or points to `count` NUL-terminated texts.
unsafe fn overrides_of(overrides: *const *const c_char, count: usize) -> Result<Vec<String>, String> {
    // SAFETY: the caller keeps the contract of this function.
    let pointers = unsafe { slice_of(overrides, count) }?;
    // SAFETY: the caller keeps the contract of this function.
    pointers.iter().map(|&pointer| unsafe { text_of(pointer, "an override") }.map(str::to_owned)).collect()
}

/// Frees a drive. A null pointer is ignored.
///
/// # Safety
/// `drive` was created by this library and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_drive_free(drive: *mut FlashmeshDrive) {
    guarded((), || {
        if !drive.is_null() {
            // SAFETY: the drive was created by `Box::into_raw`, and the caller passes back its ownership.
            drop(unsafe { Box::from_raw(drive) });
        }
        Ok(())
    });
}

/// Submits a request and stores its id in `id`, unless that is null. Ids count from 0. `op` is a `FlashmeshOp`. Returns 0, or -1 if the request is
/// refused.
///
/// # Safety
/// `drive` was created by this library; `id` is null or points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_submit(
    drive: *mut FlashmeshDrive,
    time_ps: u64,
    op: u8,
    offset: u64,
    bytes: u64,
    stream: u32,
    id: *mut u64,
) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller keeps the contract of this function.
        let drive = unsafe { drive_of(drive) }?;
        let request = FlashmeshRequest { time_ps, offset, bytes, stream, op }.submission()?;
        let given = drive.drive.submit(request).map_err(text)?;
        // SAFETY: the caller keeps the contract of this function.
        if let Some(id) = unsafe { id.as_mut() } {
            *id = given;
        }
        Ok(0)
    })
}

/// Submits `count` requests: all of them, or none if one is refused. Stores the id of the first in `first_id`, unless that is null; the others have
/// consecutive ids. Returns 0, or -1 on refusal.
///
/// # Safety
/// `drive` was created by this library; `requests` points to `count` requests; `first_id` is null or points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_submit_batch(
    drive: *mut FlashmeshDrive,
    requests: *const FlashmeshRequest,
    count: usize,
    first_id: *mut u64,
) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller keeps the contract of this function.
        let drive = unsafe { drive_of(drive) }?;
        // SAFETY: the caller keeps the contract of this function.
        let requests = unsafe { slice_of(requests, count) }?;
        for (row, request) in requests.iter().enumerate() {
            request.submission().map_err(|error| format!("request {row}: {error}"))?;
        }
        let submissions = requests.iter().filter_map(|request| request.submission().ok());
        let submitted = drive.drive.submit_all(submissions);
        let first = submitted.map_err(|(row, error)| format!("request {row}: {error}"))?;
        // SAFETY: the caller keeps the contract of this function.
        if let Some(first_id) = unsafe { first_id.as_mut() } {
            *first_id = first;
        }
        Ok(0)
    })
}

/// Stores the time of the next event, in picoseconds, in `time_ps`. Returns 1 if there is an event, 0 if none is pending until a request is
/// submitted, -1 on failure.
///
/// # Safety
/// `drive` was created by this library; `time_ps` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_next_event(drive: *mut FlashmeshDrive, time_ps: *mut u64) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller keeps the contract of this function.
        let drive = unsafe { drive_of(drive) }?;
        // SAFETY: the caller keeps the contract of this function.
        let time_ps = unsafe { time_ps.as_mut() }.ok_or("time_ps is a null pointer")?;
        let Some(next) = drive.drive.next_event() else { return Ok(0) };
        *time_ps = next.as_ps();
        Ok(1)
    })
}

/// Condition at which a step ends.
enum Step {
    To(u64),
    ToCompletion(u64),
    Drain,
}

/// Advances the drive until the condition `how` holds, and stores the completions.
///
/// SAFETY: like `flashmesh_advance`.
unsafe fn step(
    drive: *mut FlashmeshDrive,
    how: Step,
    completions: *mut *const FlashmeshCompletion,
    count: *mut usize,
) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller keeps the contract of `flashmesh_advance`.
        let FlashmeshDrive { drive, completed } = unsafe { drive_of(drive) }?;
        let done = match how {
            Step::To(time) => drive.advance(Time::from_ps(time)),
            Step::ToCompletion(u64::MAX) => drive.advance_to_completion(None),
            Step::ToCompletion(time) => drive.advance_to_completion(Some(Time::from_ps(time))),
            Step::Drain => drive.drain(),
        };
        completed.clear();
        completed.extend(done.map_err(text)?.iter().map(FlashmeshCompletion::from));
        // SAFETY: the caller keeps the contract of this function.
        if let Some(completions) = unsafe { completions.as_mut() } {
            *completions = completed.as_ptr();
        }
        // SAFETY: the caller keeps the contract of this function.
        if let Some(count) = unsafe { count.as_mut() } {
            *count = completed.len();
        }
        Ok(0)
    })
}

/// Simulates all events up to and including `time_ps`. Sets `completions` to the array of the `count` requests that completed, in order of
/// completion. The array is valid until the next call with this drive. Either pointer may be null. Returns 0, or -1 on failure.
///
/// # Safety
/// `drive` was created by this library; `completions` and `count` are null or point to a pointer and a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_advance(
    drive: *mut FlashmeshDrive,
    time_ps: u64,
    completions: *mut *const FlashmeshCompletion,
    count: *mut usize,
) -> c_int {
    // SAFETY: the caller keeps the contract of this function.
    unsafe { step(drive, Step::To(time_ps), completions, count) }
}

/// Like `flashmesh_advance`, but stops at the time of the next completion, if that is earlier. With `UINT64_MAX` there is no limit on its time.
///
/// # Safety
/// Like `flashmesh_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_advance_to_completion(
    drive: *mut FlashmeshDrive,
    time_ps: u64,
    completions: *mut *const FlashmeshCompletion,
    count: *mut usize,
) -> c_int {
    // SAFETY: the caller keeps the contract of this function.
    unsafe { step(drive, Step::ToCompletion(time_ps), completions, count) }
}

/// Like `flashmesh_advance`, but simulates until all requests have completed.
///
/// # Safety
/// Like `flashmesh_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_drain(
    drive: *mut FlashmeshDrive,
    completions: *mut *const FlashmeshCompletion,
    count: *mut usize,
) -> c_int {
    // SAFETY: the caller keeps the contract of this function.
    unsafe { step(drive, Step::Drain, completions, count) }
}

/// Returns the simulated time of the drive, in picoseconds; 0 for a null pointer.
///
/// # Safety
/// `drive` was created by this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_now_ps(drive: *mut FlashmeshDrive) -> u64 {
    // SAFETY: the caller keeps the contract of this function.
    guarded(0, || Ok(unsafe { drive_of(drive) }?.drive.now().as_ps()))
}

/// Returns the capacity that a stream sees, in bytes; 0 if there is no such stream, or for a null pointer.
///
/// # Safety
/// `drive` was created by this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_capacity(drive: *mut FlashmeshDrive, stream: u32) -> u64 {
    // SAFETY: the caller keeps the contract of this function.
    guarded(0, || Ok(unsafe { drive_of(drive) }?.drive.capacity(stream as usize).map_or(0, Bytes::as_u64)))
}

/// Returns the report of a run that ends now, as JSON: of a whole run if all requests have completed, otherwise of an interrupted one. Free it with
/// `flashmesh_string_free`. Returns null on failure. The drive does not change.
///
/// # Safety
/// `drive` was created by this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_report(drive: *mut FlashmeshDrive) -> *mut c_char {
    guarded(ptr::null_mut(), || {
        // SAFETY: the caller keeps the contract of this function.
        let report = unsafe { drive_of(drive) }?.drive.report().map_err(text)?;
        let json = serde_json::to_string(&report).map_err(text)?;
        Ok(CString::new(json).map_err(text)?.into_raw())
    })
}

/// Frees a text. A null pointer is ignored.
///
/// # Safety
/// `string` was returned by `flashmesh_report` and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_string_free(string: *mut c_char) {
    guarded((), || {
        if !string.is_null() {
            // SAFETY: the text was created by `CString::into_raw`, and the caller passes back its ownership.
            drop(unsafe { CString::from_raw(string) });
        }
        Ok(())
    });
}

/// Returns a copy of the whole state of the drive; null on failure. Free the copy with `flashmesh_snapshot_free`.
///
/// # Safety
/// `drive` was created by this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_snapshot(drive: *mut FlashmeshDrive) -> *mut FlashmeshSnapshot {
    guarded(ptr::null_mut(), || {
        // SAFETY: the caller keeps the contract of this function.
        let snapshot = unsafe { drive_of(drive) }?.drive.snapshot();
        Ok(Box::into_raw(Box::new(FlashmeshSnapshot(snapshot))))
    })
}

/// Restores the drive to the state of a snapshot, which can be used again. Returns 0, or -1 if the snapshot is of a drive with another configuration.
///
/// # Safety
/// Both were created by this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_restore(drive: *mut FlashmeshDrive, snapshot: *const FlashmeshSnapshot) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller keeps the contract of this function.
        let snapshot = unsafe { snapshot.as_ref() }.ok_or("the snapshot is a null pointer")?;
        // SAFETY: the caller keeps the contract of this function.
        unsafe { drive_of(drive) }?.drive.restore(&snapshot.0).map_err(text)?;
        Ok(0)
    })
}

/// Frees a snapshot. A null pointer is ignored.
///
/// # Safety
/// `snapshot` was created by this library and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashmesh_snapshot_free(snapshot: *mut FlashmeshSnapshot) {
    guarded((), || {
        if !snapshot.is_null() {
            // SAFETY: the snapshot was created by `Box::into_raw`, and the caller passes back its ownership.
            drop(unsafe { Box::from_raw(snapshot) });
        }
        Ok(())
    });
}
