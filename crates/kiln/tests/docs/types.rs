//! The reference of resource types, `docs/reference/types/`: a page for each family, made of the declarations.

use super::{cell, compare, root};
use kiln_resources::environment::MAPPINGS;
use kiln_resources::registry::Registry;
use kiln_template::print::{Keys, json};
use kiln_template::schema::{Attribute, Inner, Property, Status, Support, TypeSchema};
use kiln_template::{Constraint, Rule, Value};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

const INDEX: &str = "\
# Resource types by family

Every resource type that Kiln has, with its properties and attributes. `kiln orchestration resource type show TYPE` prints the same for
one type. What the tests did with each type, and on which cloud, is in [resource-types.md](../../resource-types.md).

In the tables:

- A property in **bold** is required.
- `networks[].port` is a member of every item of a list, `policies.timeout` a member of a map, and `tags.*` any member of a map.
- *Update* says what a change of the property does: the object is updated in *place*, it is *replaced* by a new one, or the change is *refused*.
- Every type also has the attribute `show`: the object as its service shows it. For types without an object in the cloud, it is null.

This page and those of the families are generated: `KILN_BLESS=1 cargo nextest run -p kiln docs::types` writes them.
";

#[test]
fn the_pages_of_types_are_in_step() {
    let mut families: BTreeMap<&str, Vec<&TypeSchema>> = BTreeMap::new();
    for kind in Registry::builtin().iter() {
        let (family, _) = kind.name().rsplit_once("::").expect("a family");
        families.entry(family).or_default().push(&kind.schema);
    }
    for (family, schemas) in &families {
        let mut page = format!("# {family}\n");
        schemas.iter().for_each(|schema| page.push_str(&section(schema)));
        compare(&format!("types/{}.md", file(family)), &page);
    }
    compare("types/index.md", &index(&families));
    let pages = fs::read_dir(root().join("docs/reference/types")).expect("the folder").count();
    assert_eq!(pages, families.len() + 1, "docs/reference/types has a page of no family");
}

/// The number of types is told in several places, and is the same in all.
#[test]
fn the_number_of_types_is_the_same_everywhere() {
    let count = Registry::builtin().iter().len();
    for page in ["README.md", "docs/index.md", "docs/resource-types.md", "docs/zh/README.md"] {
        let text = fs::read_to_string(root().join(page)).expect("a page");
        let told = text.contains(&format!("{count} resource types"))
            || text.contains(&format!("{count} types"))
            || text.contains(&format!("{count} 种资源类型"));
        assert!(told, "{page} does not say that there are {count} types");
    }
}

fn file(family: &str) -> String {
    family.to_lowercase().replace("::", "-")
}

fn index(families: &BTreeMap<&str, Vec<&TypeSchema>>) -> String {
    let count: usize = families.values().map(Vec::len).sum();
    let mut page = format!("{INDEX}\n{count} types:\n");
    for (family, schemas) in families {
        let file = file(family);
        _ = writeln!(page, "\n## {family}\n\n| type | meaning |\n|---|---|");
        for schema in schemas {
            let anchor = schema.name.to_lowercase().replace("::", "");
            let about = cell(&schema.about);
            _ = writeln!(page, "| [{}]({file}.md#{anchor}) | {about} |", schema.name);
        }
    }
    page.push_str("\n## Other names\n\n| name | type |\n|---|---|\n");
    for mapping in MAPPINGS {
        _ = writeln!(page, "| {} | {} |", cell(mapping.name), cell(mapping.target));
    }
    let mut names: Vec<String> = families.keys().map(|family| file(family)).collect();
    names.sort();
    _ = write!(page, "\n```{{toctree}}\n:hidden:\n\n{}\n```\n", names.join("\n"));
    page
}

fn section(schema: &TypeSchema) -> String {
    let mut text = format!("\n## {}\n\n{}\n", schema.name, schema.about);
    let status = status(&schema.support);
    if !status.is_empty() {
        _ = writeln!(text, "\n{status}");
    }
    if schema.still_supported {
        text.push_str("\nHeat no longer supports this type; Kiln does.\n");
    }
    let mut rows = Vec::new();
    schema.properties.iter().for_each(|it| collect(it, "", &mut rows));
    if schema.any_property {
        text.push_str("\nThe type accepts any property.\n");
    }
    if !rows.is_empty() {
        let head = "| property | type | default | update | meaning |\n|---|---|---|---|---|";
        _ = writeln!(text, "\n{head}\n{}", rows.join("\n"));
    }
    if !schema.update_policy.is_empty() {
        let mut rows = Vec::new();
        schema.update_policy.iter().for_each(|it| collect(it, "update_policy.", &mut rows));
        let head = "| policy | type | default | update | meaning |\n|---|---|---|---|---|";
        _ = writeln!(text, "\n{head}\n{}", rows.join("\n"));
    }
    if schema.dynamic_attributes {
        text.push_str("\nFurther attributes depend on the resource.\n");
    }
    let attributes: Vec<String> = schema.attributes.iter().map(attribute).collect();
    if !attributes.is_empty() {
        let head = "| attribute | type | meaning |\n|---|---|---|";
        _ = writeln!(text, "\n{head}\n{}", attributes.join("\n"));
    }
    text
}

/// The rows of a property and of its members.
fn collect(property: &Property, above: &str, rows: &mut Vec<String>) {
    let path = format!("{above}{}", property.name);
    rows.push(row(property, &path, above.is_empty()));
    match &property.inner {
        Inner::Free => (),
        Inner::Members(members) => {
            members.iter().for_each(|it| collect(it, &format!("{path}."), rows));
        }
        Inner::Each(each) => {
            let path = path + if property.kind.name() == "List" { "[]" } else { ".*" };
            match &each.inner {
                Inner::Members(members) => {
                    members.iter().for_each(|it| collect(it, &format!("{path}."), rows));
                }
                _ if each.constraints.is_empty() && each.about.is_empty() => (),
                _ => rows.push(row(each, &path, false)),
            }
        }
    }
}

fn row(property: &Property, path: &str, is_outermost: bool) -> String {
    let name = match property.required {
        true => format!("**`{path}`**"),
        false => format!("`{path}`"),
    };
    let default = property.default.as_ref().map(code).unwrap_or_default();
    let update = match property {
        _ if !is_outermost => "",
        Property { update_allowed: true, .. } => "place",
        Property { immutable: true, .. } => "refused",
        _ => "replaced",
    };
    let mut meaning = vec![cell(&property.about)];
    meaning.extend(property.constraints.iter().map(constraint));
    meaning.push(status(&property.support));
    if !property.implemented {
        meaning.push("Not implemented: the value is ignored.".to_owned());
    }
    meaning.retain(|part| !part.is_empty());
    format!("| {name} | {} | {default} | {update} | {} |", property.kind.name(), meaning.join(" "))
}

fn attribute(attribute: &Attribute) -> String {
    let kind = attribute.kind.map(|kind| kind.name()).unwrap_or_default();
    let mut meaning = vec![cell(&attribute.about), status(&attribute.support)];
    meaning.retain(|part| !part.is_empty());
    format!("| `{}` | {kind} | {} |", attribute.name, meaning.join(" "))
}

fn code(value: &Value) -> String {
    format!("`{}`", json(value, Keys::Ordered).replace('|', "\\|"))
}

fn constraint(constraint: &Constraint) -> String {
    let between = |min: Option<String>, max: Option<String>| match (min, max) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("{min} or more"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::new(),
    };
    match &constraint.rule {
        Rule::Length { min, max } => {
            format!(
                "Length: {}.",
                between(min.map(|it| it.to_string()), max.map(|it| it.to_string()))
            )
        }
        Rule::Range { min, max } => {
            let number = |value: &Option<Value>| value.as_ref().map(|it| json(it, Keys::Ordered));
            format!("Range: {}.", between(number(min), number(max)))
        }
        Rule::Modulo { step, offset } => format!("Multiples of {step}, plus {offset}."),
        Rule::AllowedValues(values) => {
            format!("One of {}.", values.iter().map(code).collect::<Vec<_>>().join(", "))
        }
        Rule::AllowedPattern(pattern) => {
            format!("Pattern: `{}`.", pattern.source().replace('|', "\\|"))
        }
        Rule::Custom(name) => format!("Constraint: `{name}`."),
    }
}

/// What a support status says; nothing for what is supported.
fn status(support: &Support) -> String {
    let since = support.version.as_ref().map(|it| format!(" since {it}")).unwrap_or_default();
    let note = support.message.as_ref().map(|it| format!(": {}", cell(it.trim_end_matches('.'))));
    let note = note.unwrap_or_default();
    match support.status {
        Status::Supported => String::new(),
        Status::Deprecated => format!("*Deprecated{since}{note}.*"),
        Status::Hidden => format!("*Hidden{since}{note}.*"),
        Status::Unsupported => format!("*Not supported{since}{note}.*"),
    }
}
