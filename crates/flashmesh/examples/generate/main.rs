//! Program that writes the files generated from the declared parameters and results: reference pages, schemas and Python types.
//!
//! ```sh
//! cargo run -p flashmesh --example generate            # writes the files
//! cargo run -p flashmesh --example generate -- --check # exits 1 and names stale files
//! ```

use std::process::ExitCode;

mod files;

fn main() -> ExitCode {
    let check = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [option] if option == "--check" => true,
        _ => {
            eprintln!("usage: generate [--check]");
            return ExitCode::from(2);
        }
    };
    let root = files::root();
    let mut stale = false;
    for file in files::all() {
        let path = root.join(file.path);
        if std::fs::read_to_string(&path).is_ok_and(|text| text == file.text) {
            continue;
        }
        stale = true;
        if check {
            eprintln!("{} is stale: run `cargo run -p flashmesh --example generate`", file.path);
        } else {
            let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            if let Err(error) = written.and_then(|()| std::fs::write(&path, &file.text)) {
                eprintln!("{}: {error}", file.path);
                return ExitCode::FAILURE;
            }
            println!("wrote {}", file.path);
        }
    }
    if check && stale { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
