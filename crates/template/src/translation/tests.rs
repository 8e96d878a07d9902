//! Tests of the rewriting of older properties.
//!
//! Expected texts and paths were recorded from Heat.

use super::*;
use crate::parameters::tests::value;
use crate::source::Sources;
use serde_json::{Value as Json, json};

fn text(name: &'static str) -> Property {
    Property::new(name, PropertyType::String)
}

fn taking(property: Property, older: &'static str) -> Property {
    let mut property = property;
    property.rewriting.takes = Some(Takes::Value(older.into()));
    property
}

fn required(property: Property) -> Property {
    Property { required: true, ..property }
}

fn list_of(name: &'static str, members: Vec<Property>) -> Property {
    let item = Property { inner: Inner::Members(members), ..Property::new("", PropertyType::Map) };
    Property { inner: Inner::Each(Box::new(item)), ..Property::new(name, PropertyType::List) }
}

fn deprecated(property: Property) -> Property {
    let mut property = property;
    property.support.status = Status::Hidden;
    property
}

/// A type with every kind of rule.
fn schema() -> TypeSchema {
    let adding = |name: &'static str, older: &'static str, key| {
        let mut property = Property::new(name, PropertyType::List);
        property.rewriting.takes = Some(Takes::Member { older: older.into(), key });
        property
    };
    let others: Members = [(Arc::from("least"), Value::from(1))].into_iter().collect();
    let mut policies = deprecated(Property::new("policies", PropertyType::Map));
    policies.rewriting.dropped = true;
    let mut schema = TypeSchema::new("OS::Test::Thing");
    schema.properties = vec![
        adding("agents", "agent", None),
        deprecated(text("agent")),
        adding("classes", "class", Some(("name".into(), others))),
        deprecated(text("class")),
        required(taking(text("network"), "network_id")),
        deprecated(text("network_id")),
        list_of("ports", vec![taking(text("subnet"), "subnet_id"), deprecated(text("subnet_id"))]),
        list_of(
            "tasks",
            vec![
                taking(Property::new("timeout", PropertyType::Integer), "policies.timeout"),
                policies,
            ],
        ),
    ];
    schema
}

fn apply_to(values: &mut Members) -> Vec<Diagnostic> {
    let file = Sources::new().add("test", "");
    // Places are the lengths of paths: enough to tell them apart here.
    let spans = |path: &Path<'_>, _: MemberPart| Span::new(file, path.to_string().len(), 100);
    let path = Path::Root.key("properties");
    apply(&schema(), values, &PropertyLocation { path: &path, spans: &spans })
}

/// What becomes of properties, or what is reported of them.
fn translated(supplied: Json) -> Result<Value, Vec<String>> {
    let mut values = value(supplied).as_map().unwrap().clone();
    let reported = apply_to(&mut values);
    if reported.is_empty() {
        Ok(Value::Map(Arc::new(values)))
    } else {
        Err(reported.iter().map(Diagnostic::text).collect())
    }
}

fn assert_becomes(supplied: Json, expected: Json) {
    assert_eq!(translated(supplied.clone()), Ok(value(expected)), "{supplied}");
}

fn assert_refused(supplied: Json, expected: &str) {
    assert_eq!(translated(supplied.clone()), Err(vec![expected.to_owned()]), "{supplied}");
}

#[test]
fn an_older_property_gives_its_value_to_the_newer() {
    assert_becomes(json!({"network_id": "a"}), json!({"network": "a"}));
    assert_becomes(json!({"network_id": 5}), json!({"network": 5}));
    assert_becomes(json!({"network_id": null}), json!({"network": null}));
    assert_becomes(json!({"network": "a"}), json!({"network": "a"}));
    assert_becomes(json!({"other": 1}), json!({"other": 1}));
}

#[test]
fn an_empty_value_gives_way_and_null_is_no_value() {
    assert_becomes(json!({"network": "", "network_id": "a"}), json!({"network": "a"}));
    assert_becomes(json!({"network": null, "network_id": "a"}), json!({"network": "a"}));
    assert_becomes(json!({"network": "a", "network_id": ""}), json!({"network": ""}));
    assert_becomes(json!({"network": "a", "network_id": null}), json!({"network": "a"}));
}

#[test]
fn both_cannot_be_given() {
    assert_refused(
        json!({"network": "a", "network_id": "a"}),
        "Property error: properties.network: Cannot define the following properties at the same \
         time: network, network_id",
    );
    assert_refused(
        json!({"ports": [{"subnet": "a"}, {"subnet": "a", "subnet_id": "b"}]}),
        "Property error: properties.ports[1].subnet: Cannot define the following properties at the \
         same time: ports.subnet, ports.subnet_id",
    );
    assert_refused(
        json!({"tasks": [{"timeout": 3, "policies": {"timeout": 4}}]}),
        "Property error: properties.tasks[0].timeout: Cannot define the following properties at \
         the same time: tasks.timeout, tasks.policies.timeout",
    );
    let mut values = value(json!({"network": "a", "network_id": "b"})).as_map().unwrap().clone();
    let reported = apply_to(&mut values);
    assert_eq!((reported[0].code.id, reported[0].kind), ("K0410", "StackValidationFailed"));
    assert_eq!(reported[0].labels.len(), 2);
    assert_eq!(Value::Map(Arc::new(values)), value(json!({"network": "a"})));
}

#[test]
fn a_value_of_another_kind_is_refused_where_the_reference_looks_for_it() {
    let of_all = "Property error: properties: Value must be a string; got ['a']";
    assert_refused(json!({"network_id": ["a"]}), of_all);
    let of_one = "Property error: properties.network: Value must be a string; got ['a']";
    assert_refused(json!({"network_id": ["a"], "network": "b"}), of_one);
    assert_refused(json!({"network_id": ["a"], "network": null}), of_one);
    assert_refused(
        json!({"ports": [{"subnet_id": ["a"]}]}),
        "Property error: properties.ports[0].subnet: Value must be a string; got ['a']",
    );
    assert_refused(
        json!({"tasks": [{"policies": {"timeout": "x"}}]}),
        "Property error: properties.tasks[0]: Value 'x' is not an integer",
    );
}

#[test]
fn members_of_lists_and_maps_are_rewritten_too() {
    assert_becomes(
        json!({"ports": [{"subnet_id": "a", "ip": 1}, {"subnet": "b"}, "c", null]}),
        json!({"ports": [{"ip": 1, "subnet": "a"}, {"subnet": "b"}, "c", null]}),
    );
    assert_becomes(
        json!({"tasks": [{"policies": {"timeout": 4, "more": 1}}, {"policies": "x"}]}),
        json!({"tasks": [{"timeout": 4}, {}]}),
    );
    assert_becomes(json!({"ports": "a", "tasks": null}), json!({"ports": "a", "tasks": null}));
}

#[test]
fn an_older_property_becomes_the_member_of_a_list() {
    assert_becomes(json!({"agent": "a"}), json!({"agents": ["a"]}));
    assert_becomes(json!({"class": "a"}), json!({"classes": [{"least": 1, "name": "a"}]}));
    assert_becomes(json!({"agent": "", "agents": ["b"]}), json!({"agent": "", "agents": ["b"]}));
    assert_becomes(json!({"agent": ["a"]}), json!({"agent": ["a"]}));
}

#[test]
fn nothing_is_added_to_a_list_that_is_given() {
    let message = |path: &str, value: &str| {
        format!(
            "Property error: properties.agents{path}: Incorrect translation rule using - cannot \
             resolve Add rule for non-list translation value \"agents{value}\"."
        )
    };
    for supplied in [json!(["b"]), json!([]), json!(null)] {
        assert_refused(json!({"agent": "a", "agents": supplied}), &message("[0]", ".0"));
    }
    assert_refused(json!({"agent": "a", "agents": "b"}), &message("", ""));
}

#[test]
fn what_is_not_known_moves_as_it_is() {
    let later = Value::Unknown(Unknown::attribute("a", "b"));
    let id = Value::Unknown(Unknown::Reference("a".into()));
    let moved = |supplied: &[(&str, Value)]| {
        let mut values: Members =
            supplied.iter().map(|(name, value)| (Arc::from(*name), value.clone())).collect();
        let reported = apply_to(&mut values).len();
        (
            values.into_iter().map(|(name, value)| (name.to_string(), value)).collect::<Vec<_>>(),
            reported,
        )
    };
    for unknown in [&later, &id] {
        let one = moved(&[("network_id", unknown.clone())]);
        assert_eq!(one, (vec![("network".into(), unknown.clone())], 0));
        let member = moved(&[("agent", unknown.clone())]);
        assert_eq!(member, (vec![("agents".into(), Value::list([unknown.clone()]))], 0));
    }
    // An attribute may turn out to be empty, an id cannot.
    let (values, reported) = moved(&[("network", "a".into()), ("network_id", later.clone())]);
    assert_eq!((values, reported), (vec![("network".into(), later.clone())], 0));
    assert_eq!(moved(&[("network", "a".into()), ("network_id", id.clone())]).1, 1);
    let both = [("agent", later), ("agents", Value::list([]))];
    assert_eq!(moved(&both), (both.map(|(name, value)| (name.to_owned(), value)).to_vec(), 0));
    assert_eq!(moved(&[("agent", id), ("agents", Value::list([]))]).1, 1);
}

#[test]
fn what_is_hidden_stays_hidden() {
    let secret = |json: Json| Value::Secret(Secret::new(value(json)));
    let mut values = Members::new();
    values.insert("network_id".into(), secret(json!("a")));
    values.insert("ports".into(), secret(json!([{"subnet_id": "a"}])));
    values.insert(
        "tasks".into(),
        Value::list([Value::map([("policies", secret(json!({"timeout": 4})))])]),
    );
    assert!(apply_to(&mut values).is_empty());
    assert_eq!(values["network"], secret(json!("a")));
    assert_eq!(values["ports"], secret(json!([{"subnet": "a"}])));
    let task = Value::map([("timeout", secret(json!(4)))]);
    assert_eq!(values["tasks"], Value::list([task]));
}

#[test]
fn a_place_is_found_under_the_older_name() {
    let schema = schema();
    let named =
        |path: Path<'_>| older_name(&schema.properties, &path.elements()).map(str::to_owned);
    let root = Path::Root;
    let (ports, tasks) = (root.key("ports"), root.key("tasks"));
    let (port, task) = (ports.index(3), tasks.index(0));
    assert_eq!(named(root.key("network")).as_deref(), Some("network_id"));
    assert_eq!(named(port.key("subnet")).as_deref(), Some("subnet_id"));
    assert_eq!(named(task.key("timeout")).as_deref(), Some("policies"));
    assert_eq!(named(root.key("network_id")), None);
    assert_eq!(named(port.key("other")), None);
    assert_eq!(named(root), None);
}

#[test]
fn authors_are_told_of_deprecated_properties_at_their_keys() {
    let mut sources = Sources::new();
    let source = "network_id: a\nports:\n  if: [c, [{subnet: a}], [{subnet_id: b}]]\n\
                  tasks: [{policies: {}}]\nother: {network_id: a}\n";
    let file = sources.add("test", source);
    let (node, _) = crate::read::read(file, source, &crate::limits::Limits::default());
    let version = crate::version::find("heat_template_version", "2018-08-31").unwrap();
    let expr = Expr::lower(node.unwrap(), version, crate::version::Position::Value);
    let reported = deprecations(&schema(), &expr);
    let printed: Vec<_> = reported
        .iter()
        .map(|found| (sources.snippet(found.span().unwrap()).unwrap(), found.help.as_deref()))
        .collect();
    assert_eq!(
        printed,
        [
            ("network_id", Some("use `network` instead")),
            ("subnet_id", Some("use `subnet` instead")),
            ("policies", Some("use `timeout` instead")),
        ]
    );
    assert!(reported.iter().all(|found| !found.is_error()));
    assert_eq!(reported[0].message, "The property network_id of OS::Test::Thing is deprecated");
}
