//! Tells the core what it is built of: a hash of its sources, so that no build takes a state that another one has computed.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates that decide what is simulated; beside this one in a repository and in a source distribution.
const CRATES: [&str; 3] = ["flashmesh", "flashmesh-base", "flashmesh-workload"];

fn main() {
    let manifest = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    let folders = CRATES.map(|name| manifest.with_file_name(name).join("src"));
    let mut files = Vec::new();
    for folder in &folders {
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(folder, &mut files);
    }
    files.sort();
    let mut hash = Fnv::default();
    for file in files {
        let name =
            file.strip_prefix(manifest.parent().unwrap_or(&manifest)).unwrap_or(&file).to_string_lossy().into_owned();
        for part in [name.replace('\\', "/").as_bytes(), &fs::read(&file).unwrap_or_default()] {
            hash.add(&(part.len() as u64).to_le_bytes());
            hash.add(part);
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=FLASHMESH_SOURCES={:016x}", hash.0);
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// FNV-1a, which tells builds apart without a crate that has to be compiled first.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
