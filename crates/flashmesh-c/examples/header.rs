//! Writes `include/flashmesh.h`. With `--check`, fails if the file is stale.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = root.join("include/flashmesh.h");
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml can be read");
    let bindings = cbindgen::generate_with_config(root, config).expect("the crate can be read");
    let mut made = Vec::new();
    bindings.write(&mut made);
    if std::env::args().any(|argument| argument == "--check") {
        if std::fs::read(&header).ok().as_deref() != Some(&made[..]) {
            eprintln!("{} is stale: run `make generate`", header.display());
            return ExitCode::FAILURE;
        }
        return ExitCode::SUCCESS;
    }
    std::fs::write(&header, made).expect("the header can be written");
    ExitCode::SUCCESS
}
