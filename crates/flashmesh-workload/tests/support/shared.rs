//! Real traces and published figures in `../shared`, which may be absent.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the path of a folder of `../shared`. If it is absent, prints on standard error that the test is skipped and returns `None`; with
/// `FLASHMESH_CI` set, panics.
pub fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    let is_ci = std::env::var_os("FLASHMESH_CI").is_some_and(|value| !value.is_empty());
    let skipped = match found(&path, is_ci) {
        Ok(true) => return Some(path),
        Ok(false) => format!("skipped: {} is absent", path.display()),
        Err(error) => panic!("{error}"),
    };
    // Not `eprintln!`, because the test harness discards the output of a passing test.
    let _ = writeln!(std::io::stderr(), "{skipped}");
    None
}

/// Returns whether the folder exists. With `is_ci`, an absent folder is an error.
fn found(path: &Path, is_ci: bool) -> Result<bool, String> {
    if path.is_dir() {
        return Ok(true);
    }
    if is_ci {
        return Err(format!("{} is absent, and FLASHMESH_CI is set: nothing would be tested", path.display()));
    }
    Ok(false)
}

#[test]
fn an_absent_folder_is_skipped_but_under_continuous_integration() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_eq!((found(here, false), found(here, true)), (Ok(true), Ok(true)));
    let nowhere = here.join("no such folder");
    assert_eq!(found(&nowhere, false), Ok(false));
    assert!(found(&nowhere, true).is_err_and(|error| error.contains("no such folder is absent")));
}
