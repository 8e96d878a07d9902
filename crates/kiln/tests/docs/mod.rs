//! The documentation: its sessions run, its templates are valid, its links lead somewhere, and its reference pages are
//! those that the tables of the code make.
//!
//! `KILN_BLESS=1 cargo nextest run -p kiln docs::` writes the reference pages.

mod command_line;
mod errors;
mod functions;
mod interfaces;
mod links;
mod metrics;
mod native_api;
mod pages;
mod sessions;
mod types;

use std::fs;
use std::path::PathBuf;

/// Where the repository is.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a generated page with the one in `docs/reference`, or writes it there.
fn compare(name: &str, page: &str) {
    let path = root().join("docs/reference").join(name);
    if std::env::var_os("KILN_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        fs::write(&path, page).expect("the page is written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/reference/{name} is stale: run with KILN_BLESS=1");
}

/// Text as it is written into a cell of a table; what is in backticks stays as it is.
fn cell(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
        0 => part.replace('<', "&lt;").replace('*', "\\*").replace('$', "\\$"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}
