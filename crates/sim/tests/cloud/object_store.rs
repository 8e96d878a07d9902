//! The object store.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::test_cloud::TestCloud;

impl TestCloud {
    fn swift(&self) -> String {
        format!("/object-store/v1/AUTH_{}", self.demo_project())
    }
}

fn text(text: &str) -> Value {
    json!(text)
}

#[test]
fn containers_hold_objects_and_cannot_go_before_them() {
    let cloud = TestCloud::new();
    let account = cloud.swift();
    cloud.demo(&format!("PUT {account}/c"), Value::Null).has(201);
    cloud.demo(&format!("PUT {account}/c"), Value::Null).has(202);
    cloud
        .demo_with(&format!("POST {account}/c"), &[("X-Container-Meta-Colour", "red")], Value::Null)
        .has(204);
    let kind = [("Content-Type", "text/plain"), ("X-Object-Meta-A", "b")];
    let put = cloud.demo_with(&format!("PUT {account}/c/a/b%20c"), &kind, text("hello")).has(201);
    assert_eq!(put.headers["etag"], "5d41402abc4b2a76b9719d911017c592");
    let got = cloud.demo(&format!("GET {account}/c/a/b%20c"), Value::Null).has(200);
    assert_eq!(
        (got.text.as_str(), got.headers["x-object-meta-a"].to_str().unwrap()),
        ("hello", "b")
    );
    let head = cloud.demo(&format!("HEAD {account}/c"), Value::Null).has(204);
    assert_eq!(
        (&head.headers["x-container-object-count"], &head.headers["x-container-bytes-used"]),
        (&"1".parse().unwrap(), &"5".parse().unwrap())
    );
    assert_eq!(head.headers["x-container-meta-colour"], "red");
    let list = cloud.get(&format!("{account}/c?format=json"));
    assert_eq!((&list[0]["name"], &list[0]["bytes"]), (&json!("a/b c"), &json!(5)));
    let folded = cloud.get(&format!("{account}/c?format=json&delimiter=/"));
    assert_eq!(folded, json!([{ "subdir": "a/" }]));
    assert_eq!(cloud.demo(&format!("GET {account}"), Value::Null).has(200).text, "c\n");
    cloud.demo(&format!("DELETE {account}/c"), Value::Null).has(409);
    let gone = cloud
        .demo_with(
            &format!("POST {account}?bulk-delete"),
            &[("Content-Type", "text/plain")],
            text("c/a/b%20c\nc\nc/nope"),
        )
        .has(200)
        .body;
    assert_eq!((&gone["Number Deleted"], &gone["Number Not Found"]), (&json!(2), &json!(1)));
    cloud.demo(&format!("GET {account}/c"), Value::Null).has(404);
    cloud.demo(&format!("PUT {account}/nope/x"), Value::Null).has(404);
}

#[test]
fn strangers_need_an_open_container_or_a_signed_address() {
    let cloud = TestCloud::new();
    let account = cloud.swift();
    cloud.demo(&format!("PUT {account}/c"), Value::Null).has(201);
    cloud
        .demo_with(&format!("PUT {account}/c/o"), &[("Content-Type", "text/plain")], text("x"))
        .has(201);
    let get = || cloud.ask("", "GET", &format!("{account}/c/o"), Value::Null).unwrap();
    get().has(401);
    cloud
        .demo_with(&format!("POST {account}/c"), &[("X-Container-Read", ".r:*")], Value::Null)
        .has(204);
    get().has(200);
    cloud
        .demo_with(&format!("POST {account}/c"), &[("X-Remove-Container-Read", "x")], Value::Null)
        .has(204);
    get().has(401);
    cloud
        .demo_with(
            &format!("POST {account}"),
            &[("X-Account-Meta-Temp-Url-Key", "secret")],
            Value::Null,
        )
        .has(204);
    let signed = |method: &str, ends: i64| {
        let body = format!("{method}\n{ends}\n{account}/c/o");
        let mac = Hmac::<Sha256>::new_from_slice(b"secret").unwrap().chain_update(body).finalize();
        let digits: String = mac.into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{account}/c/o?temp_url_sig={digits}&temp_url_expires={ends}")
    };
    let soon = 1_794_816_100;
    cloud.ask("", "PUT", &signed("PUT", soon), text("new")).unwrap().has(201);
    let got = cloud.ask("", "GET", &signed("GET", soon), Value::Null).unwrap().has(200);
    assert_eq!(got.text, "new");
    cloud.ask("", "HEAD", &signed("GET", soon), Value::Null).unwrap().has(200);
    cloud.ask("", "PUT", &signed("GET", soon), text("no")).unwrap().has(401);
    cloud.later(200);
    cloud.ask("", "GET", &signed("GET", soon), Value::Null).unwrap().has(401);
}

#[test]
fn a_container_keeps_what_its_objects_held_before() {
    let cloud = TestCloud::new();
    let root = cloud.swift();
    cloud
        .demo_with(&format!("PUT {root}/box"), &[("X-Versions-Location", "box")], Value::Null)
        .has(201);
    for text in ["one", "two", "three"] {
        cloud.demo(&format!("PUT {root}/box/it"), json!(text)).has(201);
        cloud.later(1);
    }
    let names = || -> Vec<String> {
        let all = cloud.get(&format!("{root}/box?format=json"));
        all.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    let kept = names();
    assert_eq!(kept.len(), 3);
    assert!(kept[..2].iter().all(|name| name.starts_with("002it/")), "{kept:?}");
    let read =
        |name: &str| cloud.demo(&format!("GET {root}/box/{name}"), Value::Null).has(200).text;
    assert_eq!(read(&kept[0]), "one");
    cloud.demo(&format!("DELETE {root}/box/it"), Value::Null).has(204);
    assert_eq!(read("it"), "two", "the last one takes its place");
    assert_eq!(names().len(), 2);
}
