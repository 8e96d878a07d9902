//! Public templates on the simulated cloud, where the record of them is at hand: created, updated with no change, checked
//! and deleted, with nothing left behind.

use super::life;
use super::world::World;
use kiln_template::files::{FileLimits, Gathering, ReadError, Reader};
use kiln_template::print::{self, Keys};
use kiln_template::{Sources, Value};
use serde_json::{Map, Value as Json, json};
use std::path::PathBuf;

const ROOT: &str = "file:///corpus/heat-templates/";

/// Somebody inside a server has to say that it is ready; nobody is inside a simulated one.
const GUESTS: [&str; 9] = [
    "AWS::CloudFormation::WaitCondition",
    "OS::Heat::SoftwareDeployment",
    "OS::Heat::SoftwareDeploymentGroup",
    "OS::Heat::SoftwareDeployments",
    "OS::Heat::StructuredDeployment",
    "OS::Heat::StructuredDeploymentGroup",
    "OS::Heat::StructuredDeployments",
    "OS::Heat::SwiftSignal",
    "OS::Heat::WaitCondition",
];

struct Folder(PathBuf);

impl Reader for Folder {
    fn read(&self, url: &str) -> Result<Vec<u8>, ReadError> {
        let missing = || ReadError { reason: "no such file".into() };
        let path = url.strip_prefix(ROOT).ok_or_else(missing)?;
        std::fs::read(self.0.join(path)).map_err(|_| missing())
    }
}

#[tokio::test]
async fn public_templates_live_and_leave_nothing_behind() {
    // It takes minutes: it is run by hand, with KILN_CORPUS=1.
    let corpus = std::env::var_os("KILN_CORPUS").and_then(|_| shared("corpus"));
    let Some(corpus) = corpus else {
        eprintln!("the corpus of public templates is not here, or not asked for");
        return;
    };
    let text = std::fs::read_to_string(corpus.join("expected_validate.json")).expect("the record");
    let record: Json = serde_json::from_str(&text).expect("the record in JSON");
    let folder = Folder(corpus.join("heat-templates"));
    let world = World::start(&[]).await;
    world.make_key("key").await;
    let only = std::env::var_os("KILN_CASE").unwrap_or_default().to_string_lossy().into_owned();
    let (mut lived, mut guests, mut wrong) = (0, 0, Vec::new());
    for (number, case) in record["results"].as_array().into_iter().flatten().enumerate() {
        let name = case["template"].as_str().unwrap_or("?");
        if case["result"] != "ok" || !name.contains(&only) {
            continue;
        }
        let text =
            String::from_utf8_lossy(&folder.read(&format!("{ROOT}{name}")).unwrap_or_default())
                .into_owned();
        if GUESTS.iter().any(|kind| text.contains(kind)) {
            guests += 1;
            continue;
        }
        match live(&world, number, case, &folder).await {
            Ok(()) => lived += 1,
            Err(why) => wrong.push(format!("{name}: {why}")),
        }
    }
    println!(
        "{lived} lived, {guests} need somebody inside their servers, {} went wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{} went wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn shared(folder: &str) -> Option<PathBuf> {
    let all = match std::env::var_os("KILN_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").into(),
    };
    Some(all.join(folder)).filter(|path| path.exists())
}

async fn live(world: &World, number: usize, case: &Json, folder: &Folder) -> Result<(), String> {
    let mut sources = Sources::new();
    let limits = FileLimits::default();
    let mut gathering = Gathering::new(folder, &mut sources, &limits);
    let url = |key: &str| case[key].as_str().map(|path| format!("{ROOT}{path}"));
    let template = gathering.template(&url("template").unwrap_or_default());
    let environment = url("environment").and_then(|url| gathering.environment(&url));
    let gathered = gathering.finish();
    let template = template.ok_or("the template cannot be read")?;
    let files: Map<String, Json> =
        gathered.files.iter().map(|(name, text)| (name.to_string(), Json::from(&**text))).collect();
    let body = json!({
        "template": print::json(&Value::from(&template), Keys::Ordered),
        "files": files,
        "environment": environment.map(|it| print::json(&Value::from(&it), Keys::Ordered)).unwrap_or_default(),
        "parameters": parameters(world, &case["body"]["Parameters"]).await,
        "timeout_mins": 1,
    });
    let who = life::who_may(world, &body).await;
    life::live_and_die(world, who, &format!("corpus-{number}"), &body).await
}

/// Values for the parameters that have none.
async fn parameters(world: &World, wanted: &Json) -> Json {
    let mut given = Map::new();
    for (name, parameter) in wanted.as_object().into_iter().flatten() {
        if parameter.get("Default").is_none() {
            given.insert(name.clone(), value(world, name, parameter).await);
        }
    }
    Json::Object(given)
}

async fn value(world: &World, name: &str, parameter: &Json) -> Json {
    if let Some(first) = parameter["AllowedValues"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    let about = parameter["CustomConstraint"].as_str().unwrap_or_default();
    let hint = format!("{about} {}", name.to_lowercase());
    let has = |word: &str| hint.contains(word);
    match parameter["Type"].as_str().unwrap_or_default() {
        "Number" => return parameter.get("MinValue").cloned().unwrap_or_else(|| 1.into()),
        "Json" => return json!({}),
        "Boolean" => return json!(true),
        _ => {}
    }
    let text = match () {
        () if has("key") && !has("passw") && !has("secret") => "key".into(),
        () if has("image") || has("ami") => "cirros".into(),
        () if has("flavor") || has("instance_type") || has("instancetype") => "m1.small".into(),
        () if has("cidr") => "10.99.0.0/24".into(),
        () if has("subnet") => {
            world.find("/network/v2.0/subnets", "subnets", "private-subnet").await
        }
        () if has("public") || has("external") => {
            world.find("/network/v2.0/networks", "networks", "public").await
        }
        () if has("net") || has("vpc") => {
            world.find("/network/v2.0/networks", "networks", "private").await
        }
        () => {
            let length = parameter["MinLength"].as_u64().unwrap_or(8).max(8);
            "kiln0".chars().cycle().take(length as usize).collect()
        }
    };
    Json::String(text)
}
