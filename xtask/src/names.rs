//! A check of the names of modules and types against the words that `docs/glossary.md` replaces.
//!
//! A word that means nothing to a newcomer, or several things, is a stop word: no module and no type may have it as a
//! segment of its name. A type name that other modules can see may occur at most three times in the workspace.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Words that are not names.
const STOP: &[&str] = &[
    "asker",
    "behalf",
    "bell",
    "borrow",
    "chance",
    "classic",
    "debt",
    "deputise",
    "dismiss",
    "elsewhere",
    "freeze",
    "frozen",
    "gaps",
    "given",
    "glance",
    "glimpse",
    "heard",
    "holder",
    "lend",
    "lent",
    "letter",
    "letters",
    "loan",
    "loans",
    "look",
    "looks",
    "mail",
    "messenger",
    "news",
    "notice",
    "own",
    "patience",
    "place",
    "promise",
    "promises",
    "proof",
    "reality",
    "retired",
    "said",
    "seen",
    "sieve",
    "sift",
    "sow",
    "spent",
    "stride",
    "surroundings",
    "told",
    "unfrozen",
    "verb",
    "visitor",
    "vouched",
    "walk",
    "world",
];

/// Names with a stop word that stay, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("Given", "the arguments of the guest's tools; not renamed yet"),
    ("Glance", "OpenStack's image service"),
    ("glance", "OpenStack's image service"),
    ("Holder", "the holder of a Keystone role: a user or a group"),
    (
        "Kind",
        "the category of an HTTP failure in the guest, and of a row in the store; not renamed yet",
    ),
    ("look", "the reads of a server's type; not renamed yet"),
    ("Patience", "the guest's retries; not renamed yet"),
    ("Told", "what a server reports of a deployment; not renamed yet"),
];

/// The number of times that a type name may occur.
const MAX_OCCURRENCES: usize = 3;

/// Type names that occur more often, and why.
const FREQUENT: &[(&str, &str)] = &[
    ("Call", "a call to the cloud, to AWS, and a node of two syntax trees"),
    ("Condition", "of a template, of a query, of a policy and of a wait condition"),
    ("Dialect", "of SQL, of templates, and of the simulated services' errors"),
    ("Handler", "the function behind a route, an action or an operation"),
    ("Key", "of the store's encryption, of signatures, and of caches"),
    ("Options", "of a library that is configured by its caller"),
    ("Reply", "an HTTP response of the cloud, of the guest's client and of the simulated services"),
    ("Request", "an HTTP request of one side: the API, the guest, the simulated services"),
    ("Rule", "of policy, of alarms, of routes and of constraints"),
    ("Service", "the orchestration service, and a service of a catalogue"),
    ("Settings", "of a component that the binary configures"),
    ("Step", "of a plan, of a journal and of a parser"),
    ("Token", "of Keystone, and of a lexer"),
    ("User", "of Keystone, and of an operating system"),
];

/// A module or a type.
struct Name {
    name: String,
    file: PathBuf,
}

/// All modules and types of the workspace, without tests.
fn names() -> (Vec<Name>, Vec<Name>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut modules, mut types) = (Vec::new(), Vec::new());
    let crates = fs::read_dir(root.join("crates")).expect("crates");
    let crates = crates.map(|entry| entry.expect("a crate").path().join("src"));
    for source in crates.chain([root.join("xtask/src")]) {
        collect(&source, &mut modules, &mut types);
    }
    (modules, types)
}

fn collect(folder: &Path, modules: &mut Vec<Name>, types: &mut Vec<Name>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let file = entry.expect("an entry").path();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if file.is_dir() {
            modules.push(Name { name: stem, file: file.clone() });
            collect(&file, modules, types);
        } else if file.extension().is_some_and(|it| it == "rs") && stem != "tests" {
            modules.push(Name { name: stem, file: file.clone() });
            let text = fs::read_to_string(&file).expect("a text");
            let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            let found = text.lines().filter_map(visible_type);
            types.extend(found.map(|name| Name { name: name.to_owned(), file: file.clone() }));
        }
    }
}

/// The name of the type that a line defines at the top level of a file, if other modules can see it.
fn visible_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub")?;
    let rest = rest.strip_prefix('(').map_or(rest, |it| it.split_once(')').map_or(it, |it| it.1));
    let rest = rest.trim_start();
    let keywords = ["struct ", "enum ", "trait ", "type ", "union "];
    let rest = keywords.iter().find_map(|keyword| rest.strip_prefix(keyword))?;
    rest.split(|it: char| !it.is_alphanumeric() && it != '_').next().filter(|it| !it.is_empty())
}

/// The words of a name: `StackScope` and `stack_scope` are `stack`, `scope`.
fn segments(name: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for c in name.chars() {
        match all.last_mut() {
            Some(last) if c.is_lowercase() || c.is_numeric() => last.push(c),
            _ if c == '_' => all.push(String::new()),
            _ => all.push(c.to_lowercase().collect()),
        }
    }
    all
}

#[test]
fn names_have_no_stop_words() {
    let (modules, types) = names();
    let is_exception = |name: &Name| EXCEPTIONS.iter().any(|(known, _)| *known == name.name);
    let has_stop_word =
        |name: &&Name| segments(&name.name).iter().any(|word| STOP.contains(&word.as_str()));
    let wrong: Vec<String> = modules
        .iter()
        .chain(&types)
        .filter(has_stop_word)
        .chain(types.iter().filter(|name| name.name == "Kind"))
        .filter(|name| !is_exception(name))
        .map(|name| format!("{} in {}", name.name, name.file.display()))
        .collect();
    assert!(wrong.is_empty(), "see docs/glossary.md for better words:\n{}", wrong.join("\n"));
}

#[test]
fn a_type_name_occurs_at_most_three_times() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Name { name, file } in names().1 {
        places.entry(name).or_default().push(file.display().to_string());
    }
    let is_known = |name: &String| FREQUENT.iter().any(|(known, _)| known == name);
    let wrong: Vec<String> = places
        .iter()
        .filter(|(name, places)| places.len() > MAX_OCCURRENCES && !is_known(name))
        .map(|(name, places)| format!("{name}:\n  {}", places.join("\n  ")))
        .collect();
    assert!(wrong.is_empty(), "too many types have the same name:\n{}", wrong.join("\n"));
}

#[test]
fn names_are_read() {
    assert_eq!(segments("StackScope2"), ["stack", "scope2"]);
    assert_eq!(segments("stack_scope"), ["stack", "scope"]);
    assert_eq!(visible_type("pub(crate) struct Name<T> {"), Some("Name"));
    assert_eq!(visible_type("pub enum Kind {"), Some("Kind"));
    assert_eq!(visible_type("struct Hidden;"), None);
    assert_eq!(visible_type("    pub struct Inner;"), None);
}
