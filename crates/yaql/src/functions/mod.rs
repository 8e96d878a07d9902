//! The standard library: one file for each family, every function a row of a table.

pub(crate) mod branching;
pub(crate) mod contexts;
pub(crate) mod dates;
pub(crate) mod generators;
pub(crate) mod lists;
pub(crate) mod maps;
pub(crate) mod merge;
pub(crate) mod numbers;
pub(crate) mod operators;
pub(crate) mod ordering;
pub(crate) mod queries;
pub(crate) mod reductions;
pub(crate) mod regexes;
pub(crate) mod sets;
pub(crate) mod slices;
pub(crate) mod strings;
pub(crate) mod types;

use crate::signature::Function;
use std::collections::HashMap;
use std::sync::LazyLock;

/// All tables.
static TABLES: [&[Function]; 16] = [
    branching::TABLE,
    contexts::TABLE,
    dates::TABLE,
    generators::TABLE,
    lists::TABLE,
    maps::TABLE,
    merge::TABLE,
    numbers::TABLE,
    operators::TABLE,
    ordering::TABLE,
    queries::TABLE,
    reductions::TABLE,
    regexes::TABLE,
    sets::TABLE,
    slices::TABLE,
    strings::TABLE,
];

/// Functions by name. The order of the map is never seen.
static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Function>>> = LazyLock::new(|| {
    let mut by_name: HashMap<&'static str, Vec<&'static Function>> = HashMap::new();
    for function in TABLES.iter().copied().flatten().chain(types::TABLE) {
        by_name.entry(function.name).or_default().push(function);
    }
    by_name
});

/// All functions of a name.
pub(crate) fn named(name: &str) -> &'static [&'static Function] {
    BY_NAME.get(name).map_or(&[], Vec::as_slice)
}

/// The names of all functions and methods, sorted; operators are not among them.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> =
        BY_NAME.keys().copied().filter(|name| !name.starts_with(['#', '*'])).collect();
    names.sort_unstable();
    names
}
