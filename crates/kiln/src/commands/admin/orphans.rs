//! `kiln admin orphans` and `reconcile`: objects in the cloud that carry the mark of this site, and that no stack has.
//!
//! The cloud is read before the record: a resource is recorded before its object is made, so whatever the cloud shows is in the
//! record by then, if it belongs to a stack.

use super::super::db::{failed, open};
use crate::cli::{AdminOrphans, AdminReconcile, OrphanFilter};
use crate::client::{self, Listing};
use crate::config::{ConfigFile, Settings};
use crate::doctor::identity_client::{IdentityService, ServiceToken};
use crate::serving;
use crate::stdio::{CommandError, Streams, Verdict};
use jiff::Timestamp;
use kiln_cloud::{
    Call, CallError, CallPath, Credential, OpenStack, Reply, Service, Transport, delete, get, put,
};
use kiln_engine::SiteMark;
use kiln_engine::store::Store;
use kiln_resources::registry::Registry;
use kiln_store::SqlStore;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How many trees are read at once.
const TREES_PER_PAGE: u64 = 500;

/// How often what cannot be deleted yet is tried again, and the pause before that.
const ROUNDS: u32 = 60;
const PAUSE: Duration = Duration::from_millis(500);

/// The most pages of a list.
const MAX_PAGES: usize = 10_000;

/// The collections of volumes that have a list with all fields of the objects.
const DETAILED: [&str; 3] = ["/backups", "/snapshots", "/volumes"];

const COLUMNS: &[(&str, &str)] = &[
    ("Type", "type"),
    ("ID", "id"),
    ("Name", "name"),
    ("Project", "project"),
    ("Created", "created"),
];

/// A collection in which a service lists objects of a type.
struct ObjectList {
    type_name: String,
    service: Service,
    path: CallPath,
    list: Call,
    envelope: String,
    id: String,
    /// The fields that may carry the mark.
    marks: Vec<String>,
    microversion: Option<String>,
}

/// An object that no stack has.
struct Orphan {
    type_name: String,
    service: Service,
    path: CallPath,
    microversion: Option<String>,
    id: String,
    name: String,
    project: String,
    created: Option<Timestamp>,
}

/// The cloud, as the service user sees it.
struct CloudReader {
    transport: OpenStack,
    credential: Credential,
}

pub(super) async fn list(
    arguments: &AdminOrphans,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let (_, orphans) = find(&arguments.filter, streams).await?;
    let objects: Vec<Value> = orphans.iter().map(Orphan::json).collect();
    client::print_list(Listing::of(COLUMNS, &objects), &arguments.output_format, streams)
}

pub(super) async fn reconcile(
    arguments: &AdminReconcile,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    if arguments.remove && arguments.filter.since.is_none() && arguments.filter.ids.is_empty() {
        return Err(CommandError::usage(
            "--remove needs --since TIME, the time of the backup, or --id ID",
        ));
    }
    let (cloud, mut orphans) = find(&arguments.filter, streams).await?;
    let count = orphans.len();
    if !arguments.remove {
        for orphan in &orphans {
            writeln!(streams.out, "would remove {orphan}")?;
        }
        writeln!(streams.out, "{count} objects. Nothing was changed; --remove deletes them.")?;
        return Ok(Verdict::Good);
    }
    let mut why = BTreeMap::new();
    for round in 0..ROUNDS {
        if round > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        let mut left = Vec::new();
        for orphan in orphans {
            match cloud.remove(&orphan).await {
                Ok(()) => writeln!(streams.out, "removed {orphan}")?,
                Err(error) => {
                    why.insert(orphan.id.clone(), error);
                    left.push(orphan);
                }
            }
        }
        orphans = left;
        if orphans.is_empty() {
            break;
        }
    }
    for orphan in &orphans {
        let error = why.get(&orphan.id).map(describe).unwrap_or_default();
        writeln!(streams.out, "could not remove {orphan}: {error}")?;
    }
    writeln!(streams.out, "{} of {count} objects removed.", count - orphans.len())?;
    Ok(Verdict::of(orphans.is_empty()))
}

/// Finds the objects that carry the mark of the site and that no stack has.
async fn find(
    filter: &OrphanFilter,
    streams: &mut Streams<'_>,
) -> Result<(CloudReader, Vec<Orphan>), CommandError> {
    let file = ConfigFile::load(filter.database.config.as_deref())?;
    let settings = Settings::from_file(&file)?;
    let store = open(&filter.database).await?;
    let cloud = CloudReader::open(&settings).await?;
    let mark = store.site_mark();
    let mut found = Vec::new();
    for list in lists() {
        let objects = match cloud.read(&list).await {
            Ok(objects) => objects,
            // The cloud has no such service, or the service no such objects.
            Err(CallError::Impossible(_)) => continue,
            Err(CallError::Refused(reply)) if reply.status == 404 => continue,
            Err(error) => {
                let (name, why) = (&list.type_name, describe(&error));
                writeln!(streams.err, "kiln: objects of {name} are left out: {why}")?;
                continue;
            }
        };
        found.extend(objects.iter().filter_map(|object| marked(&list, object, &mark)));
    }
    let known = known(&store).await?;
    let is_named = |orphan: &Orphan| filter.ids.is_empty() || filter.ids.contains(&orphan.id);
    let orphans = found.into_iter().filter(|(letters, _)| !known.contains(letters));
    let mut orphans: Vec<Orphan> = orphans.map(|(_, orphan)| orphan).filter(is_named).collect();
    if let Some(since) = filter.since {
        let without = orphans.iter().filter(|orphan| orphan.created.is_none()).count();
        if without > 0 {
            writeln!(
                streams.err,
                "kiln: objects left out because their service does not tell when they were created: {without}; \
                 without --since, they are listed"
            )?;
        }
        orphans.retain(|orphan| orphan.created.is_some_and(|created| created >= since));
    }
    Ok((cloud, orphans))
}

/// The characters that stand for the resources of all stacks in names.
async fn known(store: &SqlStore) -> Result<BTreeSet<String>, CommandError> {
    let (mut known, mut last) = (BTreeSet::new(), None);
    loop {
        let page = store.trees_after(last, TREES_PER_PAGE).await.map_err(failed)?;
        let Some(tree) = page.last() else { return Ok(known) };
        last = Some(tree.root);
        for tree in page {
            let rows = store.load_tree(tree.root).await.map_err(failed)?.unwrap_or_default();
            known.extend(rows.resources.iter().map(|row| row.id.short()));
        }
    }
}

/// The object with its mark, if it carries one.
fn marked(list: &ObjectList, object: &Value, mark: &SiteMark) -> Option<(String, Orphan)> {
    let texts = list.marks.iter().filter_map(|field| object.get(field));
    let mut texts = texts.flat_map(|value| match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        value => Vec::from_iter(value.as_str()),
    });
    let letters = texts.find_map(|text| mark.find(text))?;
    let text = |names: &[&str]| names.iter().find_map(|name| object.get(*name)?.as_str());
    let orphan = Orphan {
        type_name: list.type_name.clone(),
        service: list.service,
        path: list.path.clone(),
        microversion: list.microversion.clone(),
        id: text(&[&list.id])?.to_owned(),
        name: text(&["name"]).unwrap_or_default().to_owned(),
        project: text(&["project_id", "tenant_id", "os-vol-tenant-attr:tenant_id", "owner"])
            .unwrap_or_default()
            .to_owned(),
        created: text(&["created_at", "created"]).and_then(moment),
    };
    Some((letters, orphan))
}

/// A moment, which some services give without a zone: in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    text.parse().or_else(|_| format!("{text}Z").parse()).ok()
}

/// The collections of all built-in types whose objects are in one collection.
fn lists() -> Vec<ObjectList> {
    let mut seen = BTreeSet::new();
    let mut all = vec![ObjectList::of_servers()];
    // Types of AWS have the same objects as others.
    let types = || Registry::builtin().iter();
    let first = types().filter(|kind| kind.name().starts_with("OS::"));
    let others = types().filter(|kind| !kind.name().starts_with("OS::"));
    for kind in first.chain(others) {
        let Some(spec) = &kind.behaviour.rest else { continue };
        if spec.path.names().next().is_some()
            || !seen.insert((spec.service, spec.path.as_str().to_owned()))
        {
            continue;
        }
        let path = CallPath::from("").filled(&spec.path, |_| None);
        let listed = match &spec.list_suffix {
            Some(suffix) => suffix.below(path.clone()),
            // The short lists of this service do not tell when an object was created.
            None if spec.service == Service::Volume && DETAILED.contains(&spec.path.as_str()) => {
                path.clone().then("/detail")
            }
            None => path.clone(),
        };
        let mut list = get(spec.service, listed);
        for (name, value) in spec.list_suffix.iter().flat_map(|it| &it.query) {
            list = list.query(name, value);
        }
        let fields = [spec.mark_field.as_ref(), spec.mark_tag.as_ref()].into_iter().flatten();
        let marks = ["name".to_owned()].into_iter().chain(fields.map(ToString::to_string));
        all.push(ObjectList {
            type_name: kind.name().to_owned(),
            service: spec.service,
            path,
            list,
            envelope: spec.list_envelope.to_string(),
            id: spec.id.to_string(),
            marks: marks.collect(),
            microversion: spec.microversion.as_ref().map(ToString::to_string),
        });
    }
    all
}

impl ObjectList {
    /// Servers, whose type has calls of its own.
    fn of_servers() -> ObjectList {
        ObjectList {
            type_name: "OS::Nova::Server".into(),
            service: Service::Compute,
            path: CallPath::from("/servers"),
            list: get(Service::Compute, "/servers/detail"),
            envelope: "servers".into(),
            id: "id".into(),
            marks: vec!["name".into()],
            microversion: None,
        }
    }
}

impl CloudReader {
    /// Logs the service user in, who has to see the objects of all projects.
    async fn open(settings: &Settings) -> Result<CloudReader, CommandError> {
        let none =
            || CommandError::usage("the configuration names no cloud: set [keystone_authtoken]");
        let cloud = settings.cloud.clone().ok_or_else(none)?;
        let login = &settings.login;
        let identity = IdentityService::new(serving::client(&login.tls)?, &login.auth_url);
        let scope = json!({ "project": login.project.json() });
        let token = identity.log_in(&login.user, &login.password, Some(scope)).await;
        let token: ServiceToken = token.map_err(|failure| {
            CommandError::usage(format!(
                "the service user cannot log in: the identity service {failure}"
            ))
        })?;
        if !token.roles().contains(&"admin") {
            return Err(CommandError::usage(
                "the user in [keystone_authtoken] has not the role admin, and would not see the objects of all projects",
            ));
        }
        let credential = Credential::with_password(token.user(), &login.password, token.project());
        let cannot =
            |error: CallError| CommandError::usage(format!("cannot connect to the cloud: {error}"));
        Ok(CloudReader { transport: OpenStack::new(cloud).map_err(cannot)?, credential })
    }

    async fn send(&self, call: Call, version: Option<&String>) -> Result<Reply, CallError> {
        let call = match version {
            Some(version) => call.microversion(version.as_str()),
            None => call,
        };
        self.transport.send(&self.credential, call).await
    }

    /// All objects of a collection, page by page.
    async fn read(&self, list: &ObjectList) -> Result<Vec<Value>, CallError> {
        let takes_all = matches!(list.service, Service::Compute | Service::Share | Service::Volume);
        let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
        for _ in 0..MAX_PAGES {
            let mut call = list.list.clone();
            if takes_all {
                call = call.query("all_tenants", "1");
            }
            if list.service == Service::Dns {
                call = call.header("X-Auth-All-Projects", "true");
            }
            let last: Option<&Value> = all.last();
            if let Some(marker) = last.and_then(|object| object[list.id.as_str()].as_str()) {
                call = call.query("marker", marker);
            }
            let reply = self.send(call, list.microversion.as_ref()).await?;
            let objects = reply.body.get(&list.envelope).unwrap_or(&reply.body);
            let mut is_more = false;
            for object in objects.as_array().into_iter().flatten() {
                // A service without pages answers with the same objects again.
                let id = object[list.id.as_str()].to_string();
                if seen.insert(id) {
                    is_more = true;
                    all.push(object.clone());
                }
            }
            if !is_more {
                break;
            }
        }
        Ok(all)
    }

    /// Deletes an object; that it is gone already is a success.
    async fn remove(&self, orphan: &Orphan) -> Result<(), CallError> {
        if orphan.type_name == "OS::Neutron::Router" {
            self.remove_interfaces(&orphan.id).await?;
        }
        let call = delete(orphan.service, orphan.path.clone().id_or_url(&orphan.id));
        match self.send(call, orphan.microversion.as_ref()).await {
            Err(CallError::Refused(reply)) if reply.status == 404 => Ok(()),
            removed => removed.map(drop),
        }
    }

    /// Removes the interfaces of a router, which keep it from being deleted.
    async fn remove_interfaces(&self, router: &str) -> Result<(), CallError> {
        let ports = get(Service::Network, "/ports").query("device_id", router);
        let ports = self.send(ports, None).await?;
        for port in ports.body["ports"].as_array().into_iter().flatten() {
            if port["device_owner"].as_str() != Some("network:router_interface") {
                continue;
            }
            let path = CallPath::from("/routers").id(router).then("/remove_router_interface");
            self.send(put(Service::Network, path, json!({ "port_id": port["id"] })), None).await?;
        }
        Ok(())
    }
}

/// An error with the service's own words.
fn describe(error: &CallError) -> String {
    match error {
        CallError::Refused(reply) => {
            format!("{} (HTTP {})", reply.error_text().unwrap_or_default(), reply.status)
        }
        error => error.to_string(),
    }
}

impl Orphan {
    fn json(&self) -> Value {
        json!({
            "type": self.type_name,
            "id": self.id,
            "name": self.name,
            "project": self.project,
            "created": self.created.map(|created| created.to_string()),
        })
    }
}

impl std::fmt::Display for Orphan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({})", self.type_name, self.id, self.name)
    }
}
