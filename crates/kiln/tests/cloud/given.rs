//! Values for the parameters that have none: whatever their names make one think of.

use super::kiln_process::{KilnProcess, Who};
use serde_json::{Map, Value as Json, json};

/// The meaning of a part of a name.
enum Means {
    /// A fixed value.
    Text(&'static str),
    /// Any value.
    Any,
    /// An object in the cloud.
    One(&'static Collection),
}

use Means::{Any, One, Text};

/// A kind of objects, and one that there is.
struct Collection {
    path: &'static str,
    many: &'static str,
    usual: &'static str,
}

const FLAVOR: Collection =
    Collection { path: "/compute/v2.1/flavors?limit=1000", many: "flavors", usual: "m1.small" };
const IMAGE: Collection =
    Collection { path: "/image/v2/images?limit=1000", many: "images", usual: "cirros" };
const KEY: Collection =
    Collection { path: "/compute/v2.1/os-keypairs", many: "keypairs", usual: "key" };
const PRIVATE: Collection =
    Collection { path: "/network/v2.0/networks", many: "networks", usual: "private" };
const POOL: Collection =
    Collection { path: "/load-balancer/v2/lbaas/pools", many: "pools", usual: "pool" };
const PUBLIC: Collection =
    Collection { path: "/network/v2.0/networks", many: "networks", usual: "public" };
const SERVER: Collection =
    Collection { path: "/compute/v2.1/servers", many: "servers", usual: "server" };
const SUBNET: Collection =
    Collection { path: "/network/v2.0/subnets", many: "subnets", usual: "private-subnet" };

/// The public half of a key.
pub(crate) const PUBLIC_KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB0OBbFSjY5Nc9Xp2yXoKPXNqkPd2hnPBVxL5BDPHGhV kiln";

/// A part of a parameter's constraint and name, and what is meant by it; the first that fits.
const MEANINGS: &[(&str, Means)] = &[
    ("passw", Any),
    ("_pass", Any),
    ("public_ssh_key", Text(PUBLIC_KEY)),
    ("user_data", Any),
    ("userdata", Any),
    ("ssh_key_name", One(&KEY)),
    ("ssh_key", Any),
    ("key", One(&KEY)),
    ("image", One(&IMAGE)),
    ("flavor", One(&FLAVOR)),
    ("instance_type", One(&FLAVOR)),
    ("instancetype", One(&FLAVOR)),
    ("instanceclass", Text("db.m1.small")),
    ("cidr", Text("10.99.0.0/24")),
    ("gateway", Text("10.99.0.1")),
    ("pool_start", Text("10.99.0.10")),
    ("poolstart", Text("10.99.0.10")),
    ("pool_end", Text("10.99.0.20")),
    ("poolend", Text("10.99.0.20")),
    ("dns", Text("10.99.0.2")),
    ("netbios", Any),
    ("networkname", Any),
    ("instance_id", One(&SERVER)),
    ("server_id", One(&SERVER)),
    ("pool_id", One(&POOL)),
    ("ipaddress", Text("10.99.0.9")),
    ("_ip", Text("10.99.0.9")),
    ("server1", Text("10.99.0.9")),
    ("user_domain", Text("default")),
    ("project_domain", Text("default")),
    ("role_domain", Text("default")),
    ("default_project", Text("demo")),
    ("role_project", Text("demo")),
    ("group_role", Text("member")),
    ("security_group", Text("default")),
    ("private_net_name", Any),
    ("subnet", One(&SUBNET)),
    ("sub_net", One(&SUBNET)),
    ("public_url", Any),
    ("public", One(&PUBLIC)),
    ("external", One(&PUBLIC)),
    ("network_name", One(&PUBLIC)),
    ("net", One(&PRIVATE)),
];

/// Values for the parameters that have none, or that stand for something that is not there.
pub(crate) async fn parameters(kiln: &KilnProcess, template: &str, wanted: &Json) -> Json {
    let mut given = Map::new();
    for (name, parameter) in wanted.as_object().into_iter().flatten() {
        let value = match parameter.get("Default") {
            None => Some(value(kiln, name, parameter).await),
            Some(usual) => instead(kiln, template, name, parameter, usual).await,
        };
        given.extend(value.map(|value| (name.clone(), value)));
    }
    Json::Object(given)
}

async fn value(kiln: &KilnProcess, name: &str, parameter: &Json) -> Json {
    if let Some(first) = parameter["AllowedValues"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    let hint = hint(name, parameter);
    match parameter["Type"].as_str().unwrap_or_default() {
        "Number" if hint.contains("timeout") => return json!(60),
        "Number" => return parameter.get("MinValue").cloned().unwrap_or_else(|| 1.into()),
        "Json" => return json!({}),
        "Boolean" => return json!(true),
        "CommaDelimitedList" if hint.contains("securitygroup") => return json!("default"),
        "CommaDelimitedList" => return json!(""),
        _ => {}
    }
    match meaning(&hint) {
        Text(text) => json!(text),
        One(kind) => one(kiln, kind, kind.usual).await.unwrap_or_else(|| kind.usual.into()).into(),
        Any => text(name, parameter).into(),
    }
}

/// Another value, where the usual one stands for something that is not there.
async fn instead(
    kiln: &KilnProcess,
    template: &str,
    name: &str,
    parameter: &Json,
    usual: &Json,
) -> Option<Json> {
    let One(kind) = meaning(&hint(name, parameter)) else { return None };
    let usual = usual.as_str().filter(|usual| !usual.is_empty())?;
    // Keys may be what the stack makes.
    let is_made = kind.many == "keypairs" && template.contains("OS::Nova::KeyPair");
    let is_fixed = parameter.get("AllowedValues").is_some() || is_made;
    if is_fixed || parameter["Type"] != "String" || one(kiln, kind, usual).await.is_some() {
        return None;
    }
    Some(value(kiln, name, parameter).await)
}

fn hint(name: &str, parameter: &Json) -> String {
    let about = parameter["CustomConstraint"].as_str().unwrap_or_default();
    format!("{about} {}", name.to_lowercase())
}

fn meaning(hint: &str) -> &'static Means {
    MEANINGS.iter().find(|(word, _)| hint.contains(word)).map_or(&Any, |(_, means)| means)
}

/// The value that names an object of the cloud: its id, or its name if it has no id.
async fn one(kiln: &KilnProcess, kind: &Collection, name: &str) -> Option<String> {
    let reply = kiln.cloud(Who::Demo, "GET", kind.path, None).await;
    let all = reply.body[kind.many].as_array().cloned().unwrap_or_default();
    let is_it =
        |it: &&Json| it["name"] == name || it["id"] == name || it["keypair"]["name"] == name;
    let found = all.iter().find(is_it)?;
    Some(found["id"].as_str().unwrap_or(name).to_owned())
}

/// A text that is allowed; if any text is, then a unique one.
fn text(name: &str, parameter: &Json) -> String {
    let least = parameter["MinLength"].as_u64().unwrap_or(0).max(3) as usize;
    let most = parameter["MaxLength"].as_u64().unwrap_or(64) as usize;
    let pattern = parameter["AllowedPattern"].as_str().unwrap_or(".*");
    let pattern = fancy_regex::Regex::new(&format!("^(?:{pattern})$")).expect("a pattern");
    let long = |word: &str| word.chars().cycle().take(least.max(6)).collect::<String>();
    let own = format!("a-{}", name.replace('_', "-"));
    let words = [own, long("kiln0"), long("Kiln0"), long("Kiln0!"), "kiln@example.com".into()];
    let is_allowed = |word: &&String| {
        (least..=most).contains(&word.len()) && pattern.is_match(word).unwrap_or(false)
    };
    words.iter().find(is_allowed).unwrap_or(&words[1]).clone()
}
