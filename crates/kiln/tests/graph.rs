//! `kiln template graph`.

use crate::test_directory::{TestDirectory, prints};
use serde_json::{Value, json};

const TEMPLATE: &str = "\
heat_template_version: 2021-04-16
parameters:
  with_volume: {type: boolean, default: false}
conditions:
  has_volume: {get_param: with_volume}
resources:
  net: {type: OS::Neutron::Net}
  subnet:
    type: OS::Neutron::Subnet
    properties: {network: {get_resource: net}, cidr: 10.0.0.0/24}
  port:
    type: OS::Neutron::Port
    properties: {network: {get_resource: net}}
    depends_on: subnet
  server:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: small
      networks: [{port: {get_resource: port}}]
  volume:
    type: OS::Cinder::Volume
    condition: has_volume
    properties: {size: 1}
    depends_on: server
";

#[test]
fn a_tree_shows_what_needs_what() {
    let directory = TestDirectory::with(&[("t.yaml", TEMPLATE)]);
    prints(
        &directory.run(&["template", "graph", "t.yaml"]),
        0,
        "\
server (OS::Nova::Server)
└── port (OS::Neutron::Port)
    ├── subnet (OS::Neutron::Subnet)
    │   └── net (OS::Neutron::Net)
    └── net (above)
",
    );
    let with_volume = directory.run(&["template", "graph", "t.yaml", "-P", "with_volume=true"]);
    assert!(with_volume.out.starts_with("volume (OS::Cinder::Volume)\n└── server (OS::N"));
}

#[test]
fn graphviz_gets_quoted_names_and_edges_to_what_is_needed() {
    let directory = TestDirectory::with(&[(
        "t.yaml",
        "\
heat_template_version: 2021-04-16
resources:
  'a \"b\"': {type: OS::Heat::RandomString}
  c: {type: OS::Heat::RandomString, depends_on: 'a \"b\"'}
",
    )]);
    prints(
        &directory.run(&["template", "graph", "t.yaml", "--format", "dot"]),
        0,
        r#"digraph stack {
  rankdir=LR;
  node [shape=box];
  "a \"b\"" [label="a \"b\"\nOS::Heat::RandomString"];
  "c" [label="c\nOS::Heat::RandomString"];
  "c" -> "a \"b\"";
}
"#,
    );
}

#[test]
fn programs_get_needs_and_an_order() {
    let directory = TestDirectory::with(&[("t.yaml", TEMPLATE)]);
    let run = directory.run(&["template", "graph", "t.yaml", "--format", "json"]);
    let found: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(found["order"], json!(["net", "subnet", "port", "server"]));
    let port = json!({"name": "port", "type": "OS::Neutron::Port", "needs": ["subnet", "net"]});
    assert_eq!(found["resources"][2], port);
}

#[test]
fn a_ring_cannot_be_drawn_and_is_told_beside() {
    let directory = TestDirectory::with(&[(
        "t.yaml",
        "\
heat_template_version: 2021-04-16
resources:
  a: {type: OS::Heat::RandomString, depends_on: b}
  b: {type: OS::Heat::RandomString, depends_on: a}
",
    )]);
    let run = directory.run(&["template", "graph", "t.yaml"]);
    assert_eq!((run.status, &*run.out), (1, ""));
    assert_eq!(
        run.err,
        "\
error[K0504]: Circular Dependency Found: {Resource \"a\": {Resource \"b\"}, Resource \"b\": {Resource \"a\"}}
 --> t.yaml:3:49
  |
3 |   a: {type: OS::Heat::RandomString, depends_on: b}
  |                                                 ^ `a` needs `b`
4 |   b: {type: OS::Heat::RandomString, depends_on: a}
  |                                                 - `b` needs `a`
  |
  = help: remove one of these references or depends_on entries

t.yaml: 1 error
"
    );
}

#[test]
fn other_mistakes_stand_beside_the_graph() {
    let directory = TestDirectory::with(&[(
        "t.yaml",
        "heat_template_version: 2021-04-16\nresources:\n  a: {type: No::Such}\n",
    )]);
    let run = directory.run(&["template", "graph", "t.yaml"]);
    assert_eq!((run.status, &*run.out), (1, "a (No::Such)\n"));
    assert!(run.err.starts_with("error[K0402]"), "{}", run.err);
}

#[test]
fn a_long_chain_is_drawn_in_pieces_and_a_dense_graph_once() {
    let mut chain = "heat_template_version: 2021-04-16\nresources:\n".to_owned();
    for n in 0..600 {
        let needs = if n == 0 { String::new() } else { format!(", depends_on: r{}", n - 1) };
        chain.push_str(&format!("  r{n}: {{type: OS::Heat::RandomString{needs}}}\n"));
    }
    let directory = TestDirectory::with(&[("t.yaml", &chain)]);
    let run = directory.run(&["template", "graph", "t.yaml"]);
    assert_eq!(run.status, 0);
    // Every resource once, and once more where a piece ends.
    assert_eq!(run.out.lines().count(), 600 + 599 / 24);
    assert!(run.out.lines().all(|line| line.chars().count() < 150));
    assert_eq!(run.out.matches(" (below)\n").count(), 599 / 24);
    let wide: String = (0..100)
        .map(|n| {
            let needs: Vec<String> = (0..n).map(|m| format!("r{m}")).collect();
            format!(
                "  r{n}: {{type: OS::Heat::RandomString, depends_on: [{}]}}\n",
                needs.join(", ")
            )
        })
        .collect();
    let directory = TestDirectory::with(&[(
        "t.yaml",
        &format!("heat_template_version: 2021-04-16\nresources:\n{wide}"),
    )]);
    let run = directory.run(&["template", "graph", "t.yaml"]);
    assert!(run.out.lines().count() <= 100 + 100 * 99 / 2);
}
