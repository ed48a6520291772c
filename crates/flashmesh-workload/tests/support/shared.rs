//! Real traces and published figures, which lie beside the repository where they are there at all.

use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder of `../shared`. Where it is absent the test that asks is to be skipped, which a line on standard error says; under
/// `FLASHMESH_CI` that is a failure.
pub fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    let is_ci = std::env::var_os("FLASHMESH_CI").is_some_and(|value| !value.is_empty());
    let skipped = match found(&path, is_ci) {
        Ok(true) => return Some(path),
        Ok(false) => format!("skipped: {} is absent", path.display()),
        Err(error) => panic!("{error}"),
    };
    // Not with `eprintln!`: the lines of a test that passes are thrown away.
    let _ = writeln!(std::io::stderr(), "{skipped}");
    None
}

/// Whether there is such a folder; under continuous integration there has to be.
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
