//! Tells the module what it is built of: the commit, the profile, the compiler and the machine it is built for.

use std::env;
use std::process::Command;

/// Set by whoever builds where there is no repository, such as in a container.
const COMMIT: &str = "FLASHMESH_COMMIT";

fn main() {
    println!("cargo::rerun-if-env-changed={COMMIT}");
    // Written at every commit and checkout, so that the facts are never those of an earlier one.
    if let Some(log) = said("git", &["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    let given = env::var(COMMIT).ok().filter(|commit| !commit.is_empty());
    let commit = given.or_else(committed).unwrap_or_else(|| "unknown".to_owned());
    let compiler = env::var("RUSTC").ok().and_then(|rustc| said(&rustc, &["--version"]));
    println!("cargo::rustc-env=BUILD_COMMIT={commit}");
    println!("cargo::rustc-env=BUILD_PROFILE={}", env::var("PROFILE").unwrap_or_default());
    println!("cargo::rustc-env=BUILD_TARGET={}", env::var("TARGET").unwrap_or_default());
    println!("cargo::rustc-env=BUILD_RUSTC={}", compiler.unwrap_or_else(|| "unknown".to_owned()));
}

/// The commit of the repository that holds this crate; `None` where an unpacked source distribution lies in another repository.
fn committed() -> Option<String> {
    said("git", &["ls-files", "--error-unmatch", "build.rs"])?;
    said("git", &["rev-parse", "--short=12", "HEAD"])
}

/// The first line that a program prints; `None` when it fails.
fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    let line = String::from_utf8(output.stdout).ok()?.lines().next()?.trim().to_owned();
    (!line.is_empty()).then_some(line)
}
