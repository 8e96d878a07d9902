//! The types whose services run: the same cases as on the simulated cloud, and what they show is written down.
//!
//! `KILN_BLESS=1` renews `docs/data/types-on-openstack.txt`; `KILN_CASE` narrows the cases down.

use crate::cloud::kiln_process::KilnProcess;
use crate::cloud::table::Table;
use crate::cloud::types::{cases, name, run};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The prefixes of the cases for services that run.
const SERVICES: &[&str] =
    &["aws_ec2_", "cinder_", "glance_", "heat_", "keystone_", "neutron_", "nova_", "tutorial_"];

/// Cases for what the services that run do not have, and why.
const ABSENT: &[(&str, &str)] = &[
    ("glance_web_image", "there is nobody from whom Glance could fetch an image"),
    ("neutron_firewall", "the extension fwaas is not installed"),
    ("neutron_l2_gateway", "the extension l2-gateway is not installed"),
    ("neutron_network_gateway", "the extension network-gateway is gone from Neutron"),
    ("neutron_sfc", "the extension sfc is not installed"),
    ("neutron_taas", "the extension taas is not installed"),
    ("neutron_vpn", "the extension vpnaas is not installed"),
    ("neutron_vpn_connection", "the extension vpnaas is not installed"),
];

#[tokio::test]
async fn every_type_whose_service_runs_lives_and_leaves_nothing_behind() {
    let Some(kiln) = KilnProcess::on_openstack().await else { return };
    let only = std::env::var_os("KILN_CASE").unwrap_or_default().to_string_lossy().into_owned();
    let table = RefCell::new(Table::new());
    let (mut count, mut wrong) = (0, Vec::new());
    for path in cases() {
        let name = name(&path);
        let is_there = SERVICES.iter().any(|it| name.starts_with(it))
            && !ABSENT.iter().any(|(absent, _)| name == *absent);
        if !is_there || !name.contains(&only) {
            continue;
        }
        count += 1;
        let ended = run(&kiln, &path, &table).await;
        println!("{name}: {}", ended.as_ref().map_or_else(String::as_str, |()| "good"));
        if ended.is_ok() && std::env::var_os("KILN_BLESS").is_some() {
            write(&table.borrow());
        }
        wrong.extend(ended.err().map(|why| format!("{name}: {why}")));
    }
    let table = table.into_inner();
    println!("{count} cases, {} types, {} wrong", table.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// One line for each type: its name, and what was seen of it, now or before.
fn write(table: &Table) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("types-on-openstack.txt");
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let mut lines: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (kind, words) in kept.lines().filter_map(|line| line.split_once(' ')) {
        lines.entry(kind).or_default().extend(words.split(','));
    }
    for (kind, seen) in table.iter().filter(|(kind, _)| kind.contains("::")) {
        let words = [
            (seen.created, "create"),
            (seen.updated, "update"),
            (seen.checked, "check"),
            (seen.deleted, "delete"),
            (seen.attributes, "attributes"),
        ];
        lines.entry(kind).or_default().extend(words.iter().filter(|it| it.0).map(|it| it.1));
    }
    let mut text = String::new();
    for (kind, words) in lines {
        let words: Vec<&str> = WORDS.into_iter().filter(|word| words.contains(word)).collect();
        text.push_str(&format!("{kind} {}\n", words.join(",")));
    }
    std::fs::write(path, text).expect("the list is written");
}

/// The capabilities of a type that are tested, in the order of the list.
const WORDS: [&str; 5] = ["create", "update", "check", "delete", "attributes"];
