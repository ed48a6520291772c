//! Compiles the C example with the system's compiler and checks its output, also under valgrind if that is installed.
#![allow(missing_docs)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the folder into which cargo built the library for this test.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a test is a file");
    let folder = test.parent().expect("a file is in a folder").to_owned();
    if folder.join("libflashmesh_c.so").exists() {
        folder
    } else {
        folder.parent().expect("deps is in a folder").to_owned()
    }
}

fn ran(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

fn compiled(source: &Path, to: &Path) {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-I"]).arg(include).arg(source);
    ran(compiler.arg("-L").arg(libraries()).args(["-lflashmesh_c", "-o"]).arg(to));
}

#[test]
fn the_example_in_c_is_compiled_and_runs() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let program = folder.path().join("step");
    compiled(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c/step.c"), &program);
    let output = ran(Command::new(&program).env("LD_LIBRARY_PATH", libraries()));
    let text = String::from_utf8(output.stdout).expect("the example prints text");
    assert!(text.contains("1000 reads by 4 readers"), "{text}");
    assert!(text.contains("the same latencies"), "{text}");
    assert!(text.contains("{\"requests\":1000"), "{text}");
    let has_valgrind = Command::new("valgrind").arg("--version").output().is_ok();
    let is_ci = std::env::var_os("FLASHMESH_CI").is_some_and(|value| !value.is_empty());
    assert!(has_valgrind || !is_ci, "valgrind is not installed, and has to be where CI runs");
    if has_valgrind {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--leak-check=full", "--error-exitcode=9"]).arg(&program);
        ran(valgrind.env("LD_LIBRARY_PATH", libraries()));
    }
}

#[test]
fn what_c_does_wrong_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let (source, program) = (folder.path().join("wrong.c"), folder.path().join("wrong"));
    let text = r#"
        #include <stdio.h>
        #include "flashmesh.h"
        int main(void) {
          if (flashmesh_drive_open("/nonexistent.toml", NULL, 0)) return 1;
          puts(flashmesh_last_error());
          if (flashmesh_drive_from_text("[replay]\nmode = \"closed\"", NULL, 0)) return 2;
          puts(flashmesh_last_error());
          if (flashmesh_submit(NULL, 0, 0, 0, 4096, 0, NULL) != -1) return 3;
          puts(flashmesh_last_error());
          const char *small[] = {"geometry.blocks-per-plane=64"};
          FlashmeshDrive *drive = flashmesh_drive_from_text("", small, 1);
          if (!drive) return 4;
          if (flashmesh_submit(drive, 0, 77, 0, 4096, 0, NULL) != -1) return 5;
          puts(flashmesh_last_error());
          FlashmeshRequest requests[2] = {{0, 0, 4096, 0, FLASHMESH_OP_READ}, {0, 1, 4096, 0, FLASHMESH_OP_READ}};
          if (flashmesh_submit_batch(drive, requests, 2, NULL) != -1) return 6;
          puts(flashmesh_last_error());
          uint64_t time_ps;
          if (flashmesh_next_event(drive, &time_ps) != 0) return 7;
          if (flashmesh_advance(drive, 1000, NULL, NULL) != 0 || flashmesh_advance(drive, 999, NULL, NULL) != -1) return 8;
          puts(flashmesh_last_error());
          flashmesh_drive_free(drive);
          flashmesh_drive_free(NULL);
          flashmesh_snapshot_free(NULL);
          flashmesh_string_free(NULL);
          return 0;
        }"#;
    std::fs::write(&source, text).expect("the file can be written");
    compiled(&source, &program);
    let output = ran(Command::new(&program).env("LD_LIBRARY_PATH", libraries()));
    let said = String::from_utf8(output.stdout).expect("errors are text");
    let expected =
        ["nonexistent.toml", "replay.mode", "null pointer", "no operation 77", "request 1: the offset", "before that"];
    for text in expected {
        assert!(said.contains(text), "{text}: {said}");
    }
}
