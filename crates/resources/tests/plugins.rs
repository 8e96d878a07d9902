//! Types that an operator describes in YAML: they become what a declaration becomes, and what is wrong with a
//! file is told all at once.

use crate::neutron::network;
use crate::rest_world::{RestWorld, SupportStatus};
use crate::stack::members;
use kiln_resources::declare::SupportStatus as _;
use kiln_resources::declare::*;
use kiln_resources::plugin;
use kiln_resources::registry::Registry;
use kiln_resources::rest::RestSpec;
use kiln_template::Sources;
use serde_json::json;

const EXAMPLE: &str = include_str!("../../../examples/types/acme.yaml");

fn load(texts: &[&str]) -> Result<Registry, Vec<String>> {
    let mut sources = Sources::new();
    let files = (1..).zip(texts).map(|(n, text)| sources.add(format!("{n}.yaml"), *text));
    let files: Vec<_> = files.collect();
    plugin::load(&sources, &files).map_err(|found| {
        let told = found.iter().map(|found| {
            let place = found.span().and_then(|span| sources.locate(span)).expect("a place");
            let help = found.help.as_deref().unwrap_or("nothing");
            format!("{place}: {}: {} [{help}]", found.code.id, found.message)
        });
        told.collect()
    })
}

/// What is wrong with the only type of a file, whose text is indented like this.
fn wrong(text: &str) -> Vec<String> {
    let text = text.lines().map(|line| format!("    {line}\n")).collect::<String>();
    load(&[&format!("types:\n  A::B:\n{text}")]).err().unwrap_or_default()
}

fn example(name: &str) -> ResourceType {
    load(&[EXAMPLE]).expect("a good file").get(name).expect("the type").clone()
}

#[test]
fn a_file_becomes_what_a_declaration_becomes() {
    let declared = ResourceType::new("Acme::Network::AddressScope")
        .about("A scope inside which addresses of subnet pools do not overlap.")
        .service(Service::Network)
        .extension("address-scope")
        .checkable()
        .detects_drift()
        .since("1.0")
        .props([
            prop("name", Str, "The name; one is made up if none is given.").updatable(),
            prop("ip_version", Int, "").default(4).one_of([4, 6]),
            prop("shared", Bool, "").updatable().default(false),
            prop(
                "project",
                Str,
                "Whose it is, by name or id; the stack's project if nothing is said.",
            )
            .finds(PROJECT),
        ])
        .attrs([attr("ip_version", Int, "4 or 6."), attr("owner", Str, "")])
        .rest({
            let spec = RestSpec::new(Service::Network, "/address-scopes", "address_scope")
                .marks_then_renames();
            let mut spec = spec.field("project", "tenant_id");
            spec.attribute_paths.push(("owner".into(), "tenant_id".into()));
            spec
        });
    let read = example("Acme::Network::AddressScope");
    // Functions have addresses, which tell nothing.
    let told = |kind: &ResourceType| {
        let kind = ResourceType { behaviour: Behaviour::default(), ..kind.clone() };
        format!("{kind:#?}")
    };
    assert_eq!(told(&read), told(&declared));
    let spec = |kind: &ResourceType| format!("{:#?}", kind.behaviour.rest);
    assert_eq!(spec(&read), spec(&declared));
}

#[test]
fn types_of_files_are_beside_the_built_in_ones() {
    let registry = load(&[EXAMPLE]).expect("a good file");
    assert_eq!(registry.iter().len(), Registry::builtin().iter().len() + 3);
    assert!(registry.get("OS::Nova::Server").is_some());
    assert!(registry.is_needed("Acme::Network::AddressScope"));
    assert_eq!(load(&[""]).expect("nothing").iter().len(), Registry::builtin().iter().len());
}

#[test]
fn types_of_files_leave_nothing_behind_wherever_they_are_interrupted() {
    let cases = [
        ("AddressScope", r#"{}"#, r#"{"shared": true}"#),
        ("AddressScope", r#"{"name": "a"}"#, r#"{"name": "b"}"#),
        ("AddressScope", r#"{"name": "a"}"#, r#"{}"#),
        ("Pool", r#"{"prefixes": ["10.0.0.0/8"]}"#, r#"{"prefixes": ["10.0.0.0/8", "fd00::/8"]}"#),
        (
            "Pool",
            r#"{"name": "p", "prefixes": ["10.0.0.0/8"], "scope": "blue"}"#,
            r#"{"name": "q", "prefixes": ["10.0.0.0/8"], "scope": "green"}"#,
        ),
    ];
    for (name, first, then) in cases {
        let kind = example(&format!("Acme::Network::{name}"));
        let (first, then) = (members(first), members(then));
        let life = SupportStatus { kind, first: &first, then: Some(&then) };
        assert_eq!(life.check(scopes), Ok(()), "{name}");
    }
    let kind = example("Acme::Storage::Disk");
    for (first, then) in [
        (r#"{"size": 1}"#, r#"{"size": 1, "name": "d"}"#),
        (r#"{"size": 1, "name": "c"}"#, r#"{"size": 1, "name": "d"}"#),
    ] {
        let (first, then) = (members(first), members(then));
        let life = SupportStatus { kind: kind.clone(), first: &first, then: Some(&then) };
        assert_eq!(life.check(disks), Ok(()));
    }
}

#[test]
fn a_tag_is_as_good_a_mark_as_a_name() {
    let text = "
types:
  A::Tagged:
    service: network
    path: /tagged
    envelope: thing
    mark: {tag: tags}
    properties:
      tags: {type: list, update_allowed: true}
      size: {type: integer, update_allowed: true}
";
    let kind = load(&[text]).expect("a good file").get("A::Tagged").expect("the type").clone();
    let spec = kind.behaviour.rest.clone().expect("plain");
    let (first, then) = (members(r#"{"tags": ["a"]}"#), members(r#"{"tags": ["b"], "size": 2}"#));
    let life = SupportStatus { kind, first: &first, then: Some(&then) };
    let world = || {
        let mut world = network::world();
        world.know(&spec);
        world.seed("/tagged", json!({ "id": "other", "tags": ["a"] }));
        world
    };
    assert_eq!(life.check(world), Ok(()));
}

fn scopes() -> RestWorld {
    let mut world = network::world();
    for (id, name) in [("1", "blue"), ("2", "green")] {
        let id = format!("aaaaaaaa-0000-0000-0000-00000000010{id}");
        world.seed("/address-scopes", json!({ "id": id, "name": name }));
    }
    world
}

/// Volumes are listed elsewhere than they are made.
fn disks() -> RestWorld {
    RestWorld::new(|world, call| {
        let all = json!({ "volumes": world.all("/volumes") });
        (call.request.path == "/volumes/detail").then(|| crate::rest_world::ok(all))
    })
}

#[test]
fn everything_that_is_wrong_is_told_with_its_place_and_what_to_write_instead() {
    let found = wrong(
        "\
servce: network
service: netwrok
path: address-scopes
envelope: 4
properties:
  name: {type: strin, required: yes please}
  size:
    type: integer
    default: many
    constraints: [{range: {min: one}}, {length: {min: 1}}, {custom_constraint: net_cdr}]
  shape: {required: true}
  owner: {type: string, finds: keystone.projct, schema: {a: {type: string}}}
attributes: {show: {type: map}}
ready: {done: [A], failed: [A]}
retry: [404, 503, soon]",
    );
    let expected = [
        "1.yaml:3:5: K1101: the type `A::B` has no `servce` [did you mean `service`?]",
        "1.yaml:8:20: K1101: `type` cannot be `strin` [did you mean `string`?]",
        "1.yaml:12:37: K1101: min/max must be numeric [write it as parameters of templates have it, such as `range: {min: 1, max: 9}`]",
        "1.yaml:12:44: K1101: Length says nothing of a Integer [leave it out, or change `type`]",
    ];
    let told = found.join("\n");
    for line in expected {
        assert!(found.iter().any(|found| found == line), "{line} is not among\n{told}");
    }
    for part in [
        "there is no check of the name `net_cdr` [did you mean `net_cidr`?]",
        "the default would be refused: ",
        "the property `shape` has no `type` [add `type:` and one of: any, boolean,",
        "there is no kind of object `keystone.projct` [did you mean `keystone.project`?]",
        "only a list or a map has members to say something of",
        "every type has the attribute `show`",
        "there is no `status`: the field that says how far an object is [add `status: …`]",
        "an object in the state `A` is two things at once",
        "what is not allowed, or not there, will be so the next time",
        "an item of `retry` must be a whole number from 400 to 499",
        "`service` cannot be `netwrok` [did you mean `network`?]",
        "`address-scopes` is not a path below the service's version",
        "`envelope` must be a text, not a number [put it in quotes]",
    ] {
        assert!(told.contains(part), "{part} is not among\n{told}");
    }
    assert!(found.iter().all(|found| !found.ends_with("[nothing]")), "{told}");
}

#[test]
fn a_type_that_could_lose_its_objects_is_refused() {
    let lost = wrong("service: network\npath: /things\nproperties: {size: {type: integer}}");
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert!(lost[0].contains("would be made twice after an interruption"), "{lost:?}");
    let marked = "service: network\npath: /things\nmark: {unique: [size]}\n";
    assert_eq!(
        wrong(&format!("{marked}properties: {{size: {{type: integer, required: true}}}}")),
        [""; 0]
    );
    let unsure = wrong(&format!("{marked}properties: {{size: {{type: integer}}}}"));
    assert!(unsure[0].contains("the field `size` is not always sent"), "{unsure:?}");
    let below = "service: network\npath: /things/{thing}/parts\n";
    let elsewhere = wrong(&format!("{below}properties: {{name: {{type: string}}}}"));
    assert!(elsewhere[0].contains("the path needs `thing`"), "{elsewhere:?}");
}

#[test]
fn names_are_taken_once() {
    let server = "service: compute\n    path: /servers\n    envelope: server\n    \
                  properties: {name: {type: string}}\n";
    let text = |name: &str, more: &str| format!("types:\n  {name}:\n    {server}{more}");
    let clash = load(&[&text("OS::Nova::Server", "")]).expect_err("a clash");
    assert_eq!(
        clash,
        [
            "1.yaml:2:3: K1102: there is a built-in type `OS::Nova::Server` [choose another name, or \
          add `override: true` to have this one in its place]"
        ]
    );
    let meant = load(&[&text("OS::Nova::Server", "    override: true\n")]).expect("meant so");
    let kind = meant.get("OS::Nova::Server").expect("the type");
    assert_eq!(kind.schema.properties.len(), 1);
    let nothing = load(&[&text("A::B", "    override: true\n")]).expect_err("nothing there");
    assert!(nothing[0].contains("there is no built-in type `A::B`"), "{nothing:?}");
    let twice = load(&[&text("A::B", ""), &text("A::B", "")]).expect_err("twice");
    assert_eq!(twice.len(), 1);
    assert!(twice[0].starts_with("2.yaml:2:3: K1102: there are two types `A::B`"), "{twice:?}");
    let bad = load(&[&text("server", "")]).expect_err("no name");
    assert!(bad[0].contains("`server` cannot be the name of a type"), "{bad:?}");
}

#[test]
fn what_a_file_may_hold_is_bounded() {
    let long = format!("# {}\n", "x".repeat(plugin::MAX_BYTES));
    let told = load(&[&long]).expect_err("too long");
    assert!(told[0].contains("a file with resource types may have 524288 bytes"), "{told:?}");
    let many = vec![""; plugin::MAX_FILES + 1];
    assert!(load(&many).expect_err("too many")[0].contains("more than 200 files"));
    let kind = |n: usize| {
        format!(
            "  A::T{n}: {{service: network, path: /t, properties: {{name: {{type: string}}}}}}\n"
        )
    };
    let types: String = (0..=plugin::MAX_TYPES).map(kind).collect();
    let told = load(&[&format!("types:\n{types}")]).expect_err("too many");
    assert!(told[0].contains("more than 1000 resource types"), "{told:?}");
}

#[test]
fn no_text_takes_the_reader_down() {
    for text in
        ["[", "types: 1", "types: {1: 2}", "types: {a: [b]}", "- a", "types: {A::B: }", "&a [*a]"]
    {
        assert!(load(&[text]).is_err(), "{text}");
    }
    let deep = format!("types: {{A::B: {{properties: {}", "{a: ".repeat(200));
    assert!(load(&[&deep]).is_err());
}

#[test]
fn the_page_shows_the_example_as_it_is() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/write-a-resource-type.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let shown = format!("```yaml\n{EXAMPLE}```\n");
    assert!(
        page.contains(&shown),
        "copy examples/types/acme.yaml into docs/write-a-resource-type.md"
    );
}
