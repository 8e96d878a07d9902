//! Rules about several properties, or about more than one object, that only the cloud can check.
//!
//! The check of a type asks whether a rule holds for a subject, which is a text. A rule is one call, and what follows from
//! the reply to it.

use kiln_cloud::{Call, CallPath, Reply, Service, get};
use kiln_template::Verdict;
use serde_json::Value as Json;

/// A rule that the cloud checks.
#[derive(Clone, Copy, Debug)]
pub struct CloudRule {
    /// The call for a subject; `None` if the rule cannot be checked for it.
    pub call: fn(&str) -> Option<Call>,
    /// The verdict on a subject, from the reply.
    pub judge: fn(&str, &Reply) -> Verdict,
}

/// A server may have this many entries of metadata.
pub(crate) const SERVER_METADATA: &str = "nova.server_metadata";
/// There is a host that leases can reserve.
pub(crate) const LEASABLE_HOST: &str = "blazar.host";
/// A datastore, as `type/version`, exists.
pub(crate) const DATASTORE: &str = "trove.datastore";

/// The rule of a name; `None` if there is none.
pub fn rule_of(name: &str) -> Option<CloudRule> {
    match name {
        SERVER_METADATA => Some(CloudRule {
            call: |_| Some(get(Service::Compute, "/limits").may_be_old()),
            judge: server_metadata,
        }),
        LEASABLE_HOST => Some(CloudRule {
            call: |_| Some(get(Service::Reservation, "/os-hosts").may_be_old()),
            judge: leasable_host,
        }),
        DATASTORE => Some(CloudRule { call: datastore_versions, judge: datastore }),
        _ => None,
    }
}

fn server_metadata(count: &str, reply: &Reply) -> Verdict {
    let limit = reply.body.pointer("/limits/absolute/maxServerMeta").and_then(Json::as_i64);
    match (limit, count.parse::<i64>()) {
        // A negative limit is none.
        (Some(limit @ 0..), Ok(count)) if count > limit => Verdict::Refused(Some(format!(
            "Instance metadata must not contain greater than {limit} entries.  This is the maximum number \
             allowed by your service provider"
        ))),
        _ => Verdict::Accepted,
    }
}

fn leasable_host(_: &str, reply: &Reply) -> Verdict {
    match reply.body["hosts"].as_array() {
        Some(hosts) if hosts.is_empty() => Verdict::Refused(Some(
            "Couldn't find any host in Blazar. You must create a host before creating a lease."
                .to_owned(),
        )),
        _ => Verdict::Accepted,
    }
}

fn datastore_versions(subject: &str) -> Option<Call> {
    let (kind, _) = subject.split_once('/')?;
    let path = CallPath::from("/datastores").id(kind).then("/versions");
    path.checked().is_ok().then(|| get(Service::Database, path).may_be_old())
}

fn datastore(subject: &str, reply: &Reply) -> Verdict {
    let Some((kind, version)) = subject.split_once('/') else { return Verdict::Accepted };
    let known = reply.body["versions"].as_array().into_iter().flatten();
    let known: Vec<&Json> = known.collect();
    if known.iter().any(|it| it["name"] == version || it["id"] == version) {
        return Verdict::Accepted;
    }
    let names: Vec<&str> = known.iter().filter_map(|it| it["name"].as_str()).collect();
    Verdict::Refused(Some(format!(
        "Datastore version {version} for datastore type {kind} is not valid. Allowed versions are {}.",
        names.join(", ")
    )))
}
