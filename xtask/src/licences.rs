//! A check of the licences of all dependencies, from what cargo knows of them.

use serde_json::Value;
use std::process::Command;

/// The licences that dependencies may have.
const ALLOWED: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Zlib",
    "bzip2-1.0.6",
];

/// Whether an SPDX expression can be met with the allowed licences.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    // No expression in use has an alternative inside parentheses that matters, so they can be dropped.
    let plain = expression.replace(['(', ')'], "");
    let any = plain.split(" OR ");
    any.into_iter().any(|all| all.split(" AND ").all(|one| ALLOWED.contains(&one.trim())))
}

/// What cargo knows of the packages that are built on this machine.
fn packages() -> Vec<Value> {
    let version = Command::new("rustc").arg("-vV").output().expect("rustc");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo metadata");
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let packages = packages();
    assert!(packages.len() > 100);
    for package in packages {
        let licence = package["license"].as_str();
        assert!(licence.is_some_and(is_allowed), "{}: {licence:?}", package["name"]);
    }
}

#[test]
fn expressions_are_read() {
    assert!(is_allowed("MIT OR Apache-2.0") && is_allowed("MIT/Apache-2.0"));
    assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(is_allowed("GPL-3.0 OR MIT"));
    assert!(!is_allowed("GPL-3.0") && !is_allowed("MIT AND GPL-3.0"));
}
