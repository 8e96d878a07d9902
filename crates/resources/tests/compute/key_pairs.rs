//! What is special about key pairs.

use super::lives::{Lifecycle, seams};
use crate::driving::Seam;
use crate::stack::{Stack, view};
use kiln_cloud::Service;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::Value;

fn key_pair(text: &str) -> Lifecycle {
    Lifecycle::new("OS::Nova::KeyPair", text)
}

fn attribute(life: &Lifecycle, name: &str) -> Value {
    let stack = Stack::default();
    let mut view = view("x", &life.drive.context.properties, &stack);
    (view.remote, view.data) = (&life.drive.shown, &life.drive.context.data);
    let attribute = life.kind.behaviour.attribute.expect("as told");
    attribute(&view, name, &[]).expect("an answer").expect("an attribute")
}

#[test]
fn a_pair_is_made_here_and_its_private_half_is_hidden() {
    let mut life = key_pair(r#"{"name": "k", "save_private_key": true}"#);
    life.does(OperationKind::Create, None);
    let Value::Secret(private) = attribute(&life, "private_key") else {
        panic!("it is not hidden")
    };
    let private = private.expose().as_text().expect("a text").to_string();
    assert!(private.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----\n"));
    let public = attribute(&life, "public_key").as_text().expect("a text").to_string();
    assert!(public.starts_with("ssh-ed25519 AAAA"));
    let made = life.cloud.get(Service::Compute, "/os-keypairs", "k").expect("it is there");
    assert_eq!(made["public_key"], public.as_str());
    let mut life = key_pair(r#"{"name": "k"}"#);
    life.does(OperationKind::Create, None);
    assert_eq!(attribute(&life, "private_key"), "".into());
    assert!(!life.drive.context.data.contains_key("private_key"));
}

#[test]
fn a_pair_that_somebody_else_has_is_left_alone() {
    let mut other = key_pair(r#"{"name": "k", "public_key": "ssh-rsa AAAA other"}"#);
    other.does(OperationKind::Create, None);
    let mut life = key_pair(r#"{"name": "k"}"#);
    std::mem::swap(&mut life.cloud, &mut other.cloud);
    life.tries(OperationKind::Create, None);
    assert!(life.drive.failure().starts_with("Conflict: there is one already"));
    life.drive.context.is_doubtful = true;
    life.does(OperationKind::Delete, None);
    assert!(life.cloud.get(Service::Compute, "/os-keypairs", "k").is_some());
}

#[test]
fn a_name_goes_to_a_replacement_and_back() {
    let holder = |life: &mut Lifecycle| {
        let pair = life.cloud.get(Service::Compute, "/os-keypairs", "k").expect("it is there");
        pair["public_key"].as_str().expect("a key").to_owned()
    };
    let story = |forth: Option<Seam>, back: Option<Seam>| {
        let mut old = key_pair(r#"{"name": "k", "public_key": "ssh-rsa AAAA old"}"#);
        old.does(OperationKind::Create, None);
        let mut new = key_pair(r#"{"name": "k", "public_key": "ssh-rsa AAAA new"}"#);
        new.drive.context.predecessor = old.drive.context.physical_id.clone();
        std::mem::swap(&mut new.cloud, &mut old.cloud);
        new.does(OperationKind::Create, forth);
        assert_eq!(holder(&mut new), "ssh-rsa AAAA new", "{forth:?}");
        let demands = new.drive.demands.len();
        std::mem::swap(&mut new.cloud, &mut old.cloud);
        old.drive.context.predecessor = new.drive.context.physical_id.clone();
        old.has_become();
        old.does(OperationKind::Update, back);
        assert_eq!(holder(&mut old), "ssh-rsa AAAA old", "{back:?}");
        // The one that was given up has nothing to remove.
        std::mem::swap(&mut new.cloud, &mut old.cloud);
        new.does(OperationKind::Delete, None);
        assert_eq!(holder(&mut new), "ssh-rsa AAAA old", "{back:?}");
        (demands, old.drive.demands.len())
    };
    let (forth, back) = story(None, None);
    seams(forth).for_each(|seam| _ = story(Some(seam), None));
    seams(back).for_each(|seam| _ = story(None, Some(seam)));
}
