//! Writes the table of the dashboard's files, which are built and committed in `ui/dist`: a build needs no npm. Sets the
//! version that the program shows: with the commit, if `KILN_COMMIT` names it.

#![allow(clippy::print_stdout, reason = "cargo reads its instructions there")]

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let missing = |name: &str| io::Error::other(format!("cargo does not set {name}"));
    println!("cargo::rerun-if-env-changed=KILN_COMMIT");
    println!("cargo::rustc-env=KILN_VERSION={}", version(env!("CARGO_PKG_VERSION")));
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR");
    let manifest = PathBuf::from(manifest.ok_or_else(|| missing("CARGO_MANIFEST_DIR"))?);
    let out = std::env::var_os("OUT_DIR").ok_or_else(|| missing("OUT_DIR"))?;
    let dist = manifest.join("../../ui/dist");
    println!("cargo::rerun-if-changed={}", dist.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = Vec::new();
    collect(&dist, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&dist).map_err(io::Error::other)?.display().to_string();
        let path = file.canonicalize()?.display().to_string();
        // Writing to a string does not fail.
        _ = writeln!(table, "    ({name:?}, include_bytes!({path:?})),");
    }
    table.push(']');
    std::fs::write(Path::new(&out).join("dashboard_files.rs"), table)
}

fn version(number: &str) -> String {
    let commit = std::env::var_os("KILN_COMMIT").filter(|commit| !commit.is_empty());
    commit.map_or(number.to_owned(), |commit| format!("{number} ({})", commit.display()))
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
