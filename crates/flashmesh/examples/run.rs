//! Runs a drive and prints its report as JSON: `run [--check] FILE [KEY=VALUE...]`.
//!
//! `make bench` measures this program, and also compiles it against earlier revisions of the library. So the program uses only stable parts
//! of the interface.

use std::error::Error;
use std::path::Path;

use flashmesh::config::Config;
use flashmesh::simulation::{Control, Simulation};

fn main() -> Result<(), Box<dyn Error>> {
    let (options, arguments): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let [file, overrides @ ..] = arguments.as_slice() else {
        return Err("which configuration? run [--check] FILE [KEY=VALUE...]".into());
    };
    let config = Config::from_file(Path::new(file), overrides)?;
    let mut simulation = Simulation::new(&config)?;
    for option in options {
        match option.as_str() {
            "--check" => simulation.enable_checks(),
            _ => return Err(format!("{option} is no option").into()),
        }
    }
    println!("{}", simulation.run(&Control::default())?.to_json());
    Ok(())
}
