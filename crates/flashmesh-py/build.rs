//! Build script: passes facts about the build (commit, profile, target, compiler) to the module, and builds the plugin of nbdkit, which is in the
//! same wheel.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment variable that contains the commit, for builds without a repository, such as in a container.
const COMMIT: &str = "FLASHMESH_COMMIT";

/// File name of the plugin, which maturin takes from the output folder of this script (`pyproject.toml`).
const PLUGIN: &str = "libflashmesh_nbdkit.so";

/// Folder of the documentation's examples, in the repository and in wheels.
const EXAMPLES: &str = "examples";

fn main() {
    build_plugin();
    take_examples();
    println!("cargo::rerun-if-env-changed={COMMIT}");
    // Rerun this script when this log changes: Git appends to it at every commit and checkout, so the commit in the module is never stale.
    if let Some(log) = said("git", &["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    let given = env::var(COMMIT).ok().filter(|commit| !commit.is_empty());
    let commit = given.or_else(committed).unwrap_or_else(|| "unknown".to_owned());
    let compiler = env::var("RUSTC").ok().and_then(|rustc| said(&rustc, &["--version"]));
    println!("cargo::rustc-env=BUILD_COMMIT={commit}");
    println!("cargo::rustc-env=BUILD_PROFILE={}", profile());
    println!("cargo::rustc-env=BUILD_TARGET={}", env::var("TARGET").unwrap_or_default());
    println!("cargo::rustc-env=BUILD_RUSTC={}", compiler.unwrap_or_else(|| "unknown".to_owned()));
}

/// Provides the nbdkit plugin for the wheel. In the release profile builds the plugin, which takes as long as building the module. In other profiles
/// copies the plugin that `make build` has built beside the module, from the same sources.
///
/// The plugin is a separate library, because a Python module needs the symbols of Python, which nbdkit does not have.
fn build_plugin() {
    let manifest = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(variable("OUT_DIR"));
    let profile = profile();
    let built = out.join("../../..").join(PLUGIN);
    if profile != "release" {
        // Without the plugin, `flashmesh serve` reports that it is missing.
        if std::fs::copy(&built, out.join(PLUGIN)).is_ok() {
            println!("cargo::rerun-if-changed={}", built.display());
        }
        return;
    }
    if variable("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    for folder in ["flashmesh", "flashmesh-base", "flashmesh-nbdkit", "flashmesh-workload"] {
        println!("cargo::rerun-if-changed={}", manifest.with_file_name(folder).join("src").display());
    }
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    let target = variable("TARGET");
    let mut build = Command::new(variable("CARGO"));
    build.args(["build", "--quiet", "--lib", "--profile", &profile, "--target", &target]);
    build.arg("--config").arg(format!("profile.{profile}.strip = \"debuginfo\""));
    build.arg("--manifest-path").arg(manifest.with_file_name("flashmesh-nbdkit").join("Cargo.toml"));
    // A separate target folder, because the cargo process that runs this script has locked the default one.
    build.arg("--target-dir").arg(out.join("plugin"));
    assert!(build.status().is_ok_and(|status| status.success()), "the plugin of nbdkit does not compile");
    let built = out.join("plugin").join(&target).join(&profile).join(PLUGIN);
    std::fs::copy(&built, out.join(PLUGIN)).unwrap_or_else(|error| panic!("{}: {error}", built.display()));
}

/// Copies the examples to the folder from which maturin takes them for a wheel.
fn take_examples() {
    let source = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("../..").join(EXAMPLES);
    if !source.is_dir() {
        return;
    }
    println!("cargo::rerun-if-changed={}", source.display());
    let target = PathBuf::from(variable("OUT_DIR")).join(EXAMPLES);
    // Remove the old copy first, so that deleted examples do not remain.
    let _ = std::fs::remove_dir_all(&target);
    copy_folder(&source, &target).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
}

fn copy_folder(source: &Path, target: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(target)?;
    for entry in std::fs::read_dir(source)? {
        let entry = entry?;
        let (from, to) = (entry.path(), target.join(entry.file_name()));
        if from.is_file() {
            std::fs::copy(&from, &to)?;
        } else if entry.file_name() != "__pycache__" {
            copy_folder(&from, &to)?;
        }
    }
    Ok(())
}

/// Returns the folder that cargo names after the profile: `release`, `quick`, or `debug` for the profile of development. Cargo sets no variable with
/// the name of a custom profile, so the name is taken from the path of the output folder.
fn profile() -> String {
    let out = PathBuf::from(variable("OUT_DIR"));
    out.ancestors().nth(3).and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default().to_owned()
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// Returns the commit of the repository that contains this crate; `None` if an unpacked source distribution lies in another repository.
fn committed() -> Option<String> {
    said("git", &["ls-files", "--error-unmatch", "build.rs"])?;
    said("git", &["rev-parse", "--short=12", "HEAD"])
}

/// Returns the first line that a program prints; `None` if the program fails.
fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    let line = String::from_utf8(output.stdout).ok()?.lines().next()?.trim().to_owned();
    (!line.is_empty()).then_some(line)
}
