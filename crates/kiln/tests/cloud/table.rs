//! The table of types, `docs/resource-types.md`: what the declarations say of each, what was seen of it on the
//! simulated cloud, and what was seen of it on a real one (`docs/data/types-on-openstack.txt`).

use kiln_resources::behaviour::OperationKind;
use kiln_resources::constraints::offline;
use kiln_resources::declare::ResourceType;
use kiln_resources::environment::MAPPINGS;
use kiln_resources::registry::Registry;
use kiln_template::validate::{Checks, Context, Input, validate};
use kiln_template::{Sources, codes};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The results of the tests of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) created: bool,
    pub(crate) updated: bool,
    pub(crate) checked: bool,
    pub(crate) deleted: bool,
    pub(crate) attributes: bool,
}

/// The types that were seen.
pub(crate) type Table = BTreeMap<String, Seen>;

/// Compares what was seen with the table in the documentation, or renews that.
pub(crate) fn compare(table: &Table) {
    let text = page(table);
    if std::env::var_os("KILN_BLESS").is_some() {
        std::fs::write(path(), text).expect("the page is written");
        return;
    }
    let kept = std::fs::read_to_string(path()).unwrap_or_default();
    assert_eq!(kept, text, "docs/resource-types.md is not what was seen: run dev/types");
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn path() -> PathBuf {
    docs().join("resource-types.md")
}

const HEAD: &str = "\
# Resource types

This page lists every resource type with what the tests did with it on the simulated cloud; `dev/types` writes it.

- **Validate**: templates with the type are validated.
- **Create**, **update** (in place), **check**, **delete**: the action succeeded and left nothing behind.
- **Attributes**: the resource has attributes with values.
- **Drift**: an update with `converge` reads the object. It corrects the values that differ (`values`), or only creates a missing object again (`gone`).
- **OpenStack**: the actions that succeeded on a real cloud, where they were tried (c create, u update, k check, d delete, a attributes).
";

/// The page.
fn page(table: &Table) -> String {
    let types = Registry::builtin();
    for kind in types.iter() {
        let is_made = table.get(kind.name()).is_some_and(|seen| seen.created);
        assert!(is_made, "no case makes a {}", kind.name());
    }
    let (in_cloud, elsewhere): (Vec<_>, Vec<_>) =
        types.iter().partition(|kind| kind.service.is_some());
    let real = real();
    let mut text = HEAD.to_owned();
    let count = types.iter().len();
    let (a, b) = (in_cloud.len(), elsewhere.len());
    _ = write!(
        text,
        "\n{count} types: {a} with objects in the cloud, {b} with nothing in the cloud. The tests create every one.\n"
    );
    let sections = [
        ("With objects in the cloud", in_cloud),
        (
            "With nothing in the cloud: values, handles, groups, and what is left of retired services",
            elsewhere,
        ),
    ];
    for (title, kinds) in sections {
        _ = write!(
            text,
            "\n## {title}\n\n| type | validate | create | update | check | delete | attributes | drift | OpenStack |\n\
             |---|---|---|---|---|---|---|---|---|\n"
        );
        for kind in kinds {
            text.push_str(&row(kind, table.get(kind.name()).copied().unwrap_or_default(), &real));
        }
    }
    text.push_str("\n## Other names\n\n| name | type |\n|---|---|\n");
    for mapping in MAPPINGS {
        _ = writeln!(text, "| {} | {} |", mapping.name, mapping.target);
    }
    text
}

fn mark(seen: bool) -> &'static str {
    if seen { "yes" } else { "–" }
}

fn row(kind: &ResourceType, seen: Seen, real: &BTreeMap<String, String>) -> String {
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
        kind.name(),
        mark(is_judged(kind)),
        mark(seen.created),
        mark(seen.updated),
        mark(seen.checked),
        mark(seen.deleted),
        mark(seen.attributes),
        drift(kind),
        real.get(kind.name()).map_or("", String::as_str),
    )
}

/// How much drift is found when an update is to converge.
fn drift(kind: &ResourceType) -> &'static str {
    match kind.behaviour.handler(OperationKind::Observe) {
        _ if kind.compared().next().is_some() => "values",
        Some(_) => "gone",
        None => "–",
    }
}

/// Whether a template with a resource of the type is judged: its properties are accepted or refused.
fn is_judged(kind: &ResourceType) -> bool {
    let text = format!(
        "heat_template_version: 2021-04-16\nresources: {{it: {{type: '{}'}}}}\n",
        kind.name()
    );
    let mut sources = Sources::new();
    let file = sources.add("t.yaml", text);
    let custom = offline(0);
    let context = Context::new(Registry::builtin(), &custom, Checks::CREATE);
    let report = validate(&context, &mut sources, Input::new(file));
    report.template.is_some()
        && !report.diagnostics.iter().any(|found| found.code == &codes::UNKNOWN_TYPE)
}

/// The results of types on a real cloud.
fn real() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(docs().join("data/types-on-openstack.txt"));
    let mut real = BTreeMap::new();
    for line in text.unwrap_or_default().lines().filter(|line| !line.starts_with('#')) {
        let Some((kind, done)) = line.split_once(' ') else { continue };
        let letter = |word: &str| match word.trim() {
            "check" => Some('k'),
            word => word.chars().next(),
        };
        real.insert(kind.to_owned(), done.split(',').filter_map(letter).collect());
    }
    real
}

#[test]
fn the_table_has_every_declared_type_and_no_other() {
    let text = std::fs::read_to_string(path()).expect("the page");
    let (tables, _) = text.split_once("\n## Other names").expect("a table of other names");
    let rows = tables.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let listed: Vec<&str> = rows.filter(|name| name.contains("::")).collect();
    let declared: BTreeSet<&str> = Registry::builtin().iter().map(|kind| kind.name()).collect();
    let unique: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(unique, declared, "docs/resource-types.md: run dev/types");
    assert_eq!(unique.len(), listed.len(), "a type is in two tables: run dev/types");
    for name in ["OS::Ceilometer::Alarm", "OS::Heat::CWLiteAlarm", "OS::Heat::HARestarter"] {
        assert!(text.contains(&format!("| {name} |")), "{name}");
    }
}
