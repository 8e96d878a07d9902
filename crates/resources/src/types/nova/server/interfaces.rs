//! Changing the interfaces of a running server.
//!
//! The wanted interfaces are compared with those of the server and not with former properties, so the update
//! can be repeated after an interruption.

use super::look::{self, path};
use super::networks::{self, Entry, entries};
use crate::declare::{Members, Value, list};
use crate::op::{Compared, Op, OpError, Progress};
use kiln_cloud::{CallPath, Marker, Service, delete, get, post, put};
use serde_json::{Map, Value as Json, json};

/// An interface of a server.
#[derive(Clone, Debug, PartialEq)]
struct Interface {
    port: String,
    network: String,
    /// The fixed addresses, with the ids of their subnets.
    fixed: Vec<(String, String)>,
}

/// The changes of a server's interfaces.
#[derive(Debug, Default, PartialEq)]
struct Plan {
    /// Entries with an existing interface: the position of the entry, and the interface's port.
    kept: Vec<(usize, String)>,
    /// The ports to detach.
    dropped: Vec<String>,
    /// The positions of entries without an interface.
    added: Vec<usize>,
}

/// Updates the interfaces to the property `networks`.
pub(super) async fn update(op: &mut Op) -> Result<(), OpError> {
    let (before, after) =
        (entries(&op.context().previous_properties), entries(&op.context().properties));
    connect(op, &before, &after).await
}

/// Attaches the wanted interfaces, and detaches former ones.
pub(crate) async fn connect(op: &mut Op, before: &[Entry], after: &[Entry]) -> Result<(), OpError> {
    networks::begin_ports(op);
    networks::take_ports(op, after).await?;
    let live = interfaces(op).await?;
    let plan = plan(before, after, &live);
    // After the service has chosen a network, no further change is necessary.
    let is_allotted = op.context().journal.step(ALLOT).is_some();
    for port in plan.dropped.iter().filter(|_| !is_allotted) {
        let formerly = before.iter().find(|entry| entry.port.as_ref() == Some(port));
        if let Some(entry) = formerly {
            let step = format!("free floating ip of {port}");
            networks::lead_floating_ip(op, &step, entry, None).await?;
        }
        detach(op, port).await?;
    }
    for (at, port) in &plan.kept {
        keep(op, *at, port, before, &after[*at]).await?;
    }
    for at in plan.added {
        attach(op, at, &after[at]).await?;
    }
    let is_automatic = match after.first() {
        None => !before.is_empty(),
        Some(entry) => entry.allocate.as_deref() == Some("auto"),
    };
    if is_automatic {
        allot(op).await?;
    }
    remove_leftovers(op).await
}

/// Compares the interfaces of the server with the property `networks`. Interfaces that a user attached outside of the stack
/// are no drift.
pub(super) async fn compare(op: &mut Op, compared: &mut Compared) -> Result<(), OpError> {
    let wanted = entries(&op.context().properties);
    if wanted.is_empty() || wanted.iter().any(|entry| entry.allocate.is_some()) {
        return Ok(());
    }
    let live = interfaces(op).await?;
    if !plan(&wanted, &wanted, &live).added.is_empty() {
        let found = live.iter().map(|it| Value::map([("port", Value::from(it.port.as_str()))]));
        compared.drifted.insert("networks".into(), list(found.collect::<Vec<_>>()));
    } else if live.len() <= wanted.len() || !op.context().is_half_done {
        compared.same.push("networks".into());
    }
    Ok(())
}

async fn interfaces(op: &mut Op) -> Result<Vec<Interface>, OpError> {
    let list = op.read(get(Service::Compute, path(op).then("/os-interface"))).await?;
    let all = list.body["interfaceAttachments"].as_array().into_iter().flatten();
    let word = |json: &Json| json.as_str().unwrap_or_default().to_owned();
    Ok(all
        .map(|interface| Interface {
            port: word(&interface["port_id"]),
            network: word(&interface["net_id"]),
            fixed: interface["fixed_ips"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|fixed| (word(&fixed["ip_address"]), word(&fixed["subnet_id"])))
                .collect(),
        })
        .collect())
}

fn plan(before: &[Entry], after: &[Entry], live: &[Interface]) -> Plan {
    let mut plan = Plan::default();
    let mut free: Vec<&Interface> = live.iter().collect();
    let wanted: Vec<(usize, &Entry)> =
        after.iter().enumerate().filter(|(_, entry)| entry.allocate.is_none()).collect();
    let assigned = assign(&wanted, &mut free);
    for (at, _) in &wanted {
        match assigned.iter().find(|(entry, _)| entry == at) {
            Some((_, interface)) => plan.kept.push((*at, interface.port.clone())),
            None => plan.added.push(*at),
        }
    }
    let named: Vec<(usize, &Entry)> =
        before.iter().enumerate().filter(|(_, entry)| entry.allocate.is_none()).collect();
    let is_automatic_still = wanted.is_empty()
        && named.is_empty()
        && after.first().and_then(|it| it.allocate.as_deref()) != Some("none");
    plan.dropped = match () {
        () if is_automatic_still => Vec::new(),
        // Without networks in the former template, all interfaces were chosen by the service and are detached.
        () if named.is_empty() => free.iter().map(|it| it.port.clone()).collect(),
        // Interfaces that a user attached outside of the stack stay.
        () => assign(&named, &mut free).into_iter().map(|(_, it)| it.port.clone()).collect(),
    };
    plan
}

/// Finds an interface for each entry, the best matches first, and removes them from `free`.
fn assign<'i>(
    entries: &[(usize, &Entry)],
    free: &mut Vec<&'i Interface>,
) -> Vec<(usize, &'i Interface)> {
    let mut found: Vec<(usize, &Interface)> = Vec::new();
    for certainty in (1..=4).rev() {
        for (at, entry) in entries {
            if found.iter().any(|(taken, _)| taken == at) {
                continue;
            }
            if let Some(place) = free.iter().position(|it| agreement(entry, it) == certainty) {
                found.push((*at, free.remove(place)));
            }
        }
    }
    found
}

/// How well an interface matches an entry; 0 if it does not.
fn agreement(entry: &Entry, interface: &Interface) -> u32 {
    if let Some(port) = &entry.port {
        return if *port == interface.port { 4 } else { 0 };
    }
    let has = |wanted: &Option<String>, found: &dyn Fn(&str) -> bool| match wanted {
        Some(wanted) => found(wanted),
        None => true,
    };
    let agrees = has(&entry.network, &|network| network == interface.network)
        && has(&entry.fixed_ip, &|ip| interface.fixed.iter().any(|it| it.0 == ip))
        && has(&entry.subnet, &|subnet| interface.fixed.iter().any(|it| it.1 == subnet));
    match agrees {
        true if entry.fixed_ip.is_some() => 3,
        true if entry.subnet.is_some() => 2,
        true => 1,
        false => 0,
    }
}

/// Detaches an interface, and deletes its port if it is internal.
async fn detach(op: &mut Op, port: &str) -> Result<(), OpError> {
    let path = path(op).then("/os-interface");
    op.remove(&format!("detach {port}"), delete(Service::Compute, path.clone().id(port))).await?;
    let list = get(Service::Compute, path);
    look::until(op, list, |reply| {
        let all = reply.body["interfaceAttachments"].as_array().into_iter().flatten();
        if all.into_iter().any(|it| it["port_id"] == port) {
            Progress::NotYet
        } else {
            Progress::Ready
        }
    })
    .await?;
    networks::remove_port(op, port).await
}

/// Updates an interface that stays: the settings of its port, and its floating IP.
async fn keep(
    op: &mut Op,
    at: usize,
    port: &str,
    before: &[Entry],
    entry: &Entry,
) -> Result<(), OpError> {
    let former = before.iter().find(|it| it.port.as_deref() == Some(port)).or_else(|| {
        let is_like = |it: &&Entry| {
            (&it.network, &it.subnet, &it.fixed_ip)
                == (&entry.network, &entry.subnet, &entry.fixed_ip)
        };
        before.get(at).filter(is_like).or_else(|| before.iter().find(is_like))
    });
    let former = former.cloned().unwrap_or_default();
    if former.floating_ip != entry.floating_ip {
        networks::lead_floating_ip(op, &format!("free floating ip {at}"), &former, None).await?;
        networks::lead_floating_ip(op, &format!("floating ip {at}"), entry, Some(port)).await?;
    }
    if former.extra != entry.extra && networks::internal(op).iter().any(|it| it == port) {
        let settings =
            changed_settings(op, former.extra.as_deref(), entry.extra.as_deref()).await?;
        if !settings.is_empty() {
            let call = put(
                Service::Network,
                CallPath::from("/ports").id(port),
                json!({ "port": settings }),
            );
            op.call(&format!("change port {at}"), call).await?;
        }
    }
    Ok(())
}

/// The changed settings of a port. Settings that the template has no more stay.
async fn changed_settings(
    op: &mut Op,
    before: Option<&Members>,
    after: Option<&Members>,
) -> Result<Map<String, Json>, OpError> {
    let empty = Members::new();
    let old = networks::settings(op, before.unwrap_or(&empty)).await?;
    let new = networks::settings(op, after.unwrap_or(&empty)).await?;
    Ok(new.into_iter().filter(|(name, value)| old.get(name) != Some(value)).collect())
}

/// Attaches an interface with an internal port, which can be found after a lost reply.
async fn attach(op: &mut Op, at: usize, entry: &Entry) -> Result<(), OpError> {
    let port = match &entry.port {
        Some(port) => port.as_str().into(),
        None => networks::make_port(op, at, entry).await?,
    };
    networks::lead_floating_ip(op, &format!("floating ip {at}"), entry, Some(&port)).await?;
    let mut body = json!({ "port_id": &*port });
    if let Some(tag) = &entry.tag {
        body["tag"] = tag.as_str().into();
    }
    let path = path(op).then("/os-interface");
    let list = get(Service::Compute, path.clone());
    let marker = Marker {
        list: list.clone(),
        objects: "/interfaceAttachments".into(),
        field: "/port_id".into(),
        value: (*port).into(),
        envelope: Some("interfaceAttachment".into()),
        path: path.clone(),
        id: "/port_id".into(),
    };
    let call = post(Service::Compute, path, json!({ "interfaceAttachment": body }));
    op.call(&format!("attach {at}"), call.marker(marker)).await?;
    until_connected(op, &port).await
}

/// Waits until the server shows the addresses of a port.
async fn until_connected(op: &mut Op, port: &str) -> Result<(), OpError> {
    let list = get(Service::Compute, path(op).then("/os-interface"));
    let has_port = |reply: &kiln_cloud::Reply| {
        let all = reply.body["interfaceAttachments"].as_array().into_iter().flatten();
        all.into_iter().any(|it| it["port_id"] == port)
    };
    look::until(op, list, |reply| if has_port(reply) { Progress::Ready } else { Progress::NotYet })
        .await?;
    let shown = op.read(get(Service::Network, CallPath::from("/ports").id(port))).await?;
    let Some(address) = shown.text("/port/fixed_ips/0/ip_address").map(str::to_owned) else {
        return Ok(());
    };
    let server = look::look(op);
    look::until(op, server, |reply| {
        let networks = reply.body["server"]["addresses"].as_object().into_iter().flatten();
        let mut all = networks.flat_map(|(_, all)| all.as_array().into_iter().flatten());
        if all.any(|it| it["addr"] == address.as_str()) {
            Progress::Ready
        } else {
            Progress::NotYet
        }
    })
    .await
    .map(drop)
}

/// The step in which the compute service chooses a network.
const ALLOT: &str = "attach to any network";

/// Lets the compute service choose a network if the server has no interface.
async fn allot(op: &mut Op) -> Result<(), OpError> {
    let path = path(op).then("/os-interface");
    if !interfaces(op).await?.is_empty() {
        return Ok(());
    }
    let call = post(Service::Compute, path, json!({ "interfaceAttachment": {} }));
    op.call(ALLOT, call.may_be_repeated()).await.map(drop)
}

/// Deletes internal ports of an interrupted attempt that are not attached to the server.
async fn remove_leftovers(op: &mut Op) -> Result<(), OpError> {
    let made = networks::internal(op);
    if made.is_empty() {
        return Ok(());
    }
    let live = interfaces(op).await?;
    for port in made.iter().filter(|port| live.iter().all(|it| it.port != **port)) {
        networks::remove_port(op, port).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(network: &str) -> Entry {
        Entry { network: Some(network.into()), ..Entry::default() }
    }

    fn interface(port: &str, network: &str, address: &str) -> Interface {
        let fixed = vec![(address.into(), format!("subnet-of-{network}"))];
        Interface { port: port.into(), network: network.into(), fixed }
    }

    #[test]
    fn what_fits_stays_and_the_surest_match_counts() {
        let live = [interface("p1", "a", "10.0.0.1"), interface("p2", "a", "10.0.0.2")];
        let before = [on("a"), on("a")];
        let exact = Entry { fixed_ip: Some("10.0.0.1".into()), ..on("a") };
        let after = [on("a"), exact];
        let done = plan(&before, &after, &live);
        assert_eq!(done.kept, [(0, "p2".to_owned()), (1, "p1".to_owned())]);
        assert!(done.dropped.is_empty() && done.added.is_empty());
        let after = [Entry { port: Some("p9".into()), ..Entry::default() }, on("a")];
        let done = plan(&before, &after, &live);
        assert_eq!(done.added, [0]);
        assert_eq!(done.kept, [(1, "p1".to_owned())]);
        assert_eq!(done.dropped, ["p2"]);
    }

    #[test]
    fn what_somebody_else_attached_stays() {
        let live = [interface("p1", "a", "10.0.0.1"), interface("px", "other", "10.1.0.1")];
        let done = plan(&[on("a")], &[on("b")], &live);
        assert_eq!((done.dropped, done.added), (vec!["p1".to_owned()], vec![0]));
        let done = plan(&[], &[on("b")], &live);
        assert_eq!(done.dropped, ["p1", "px"]);
        let done = plan(&[on("a")], &[], &live);
        assert_eq!(done.dropped, ["p1"]);
        let none = Entry { allocate: Some("none".into()), ..Entry::default() };
        assert_eq!(plan(&[], &[none], &live).dropped, ["p1", "px"]);
        assert_eq!(plan(&[], &[], &live), Plan::default());
    }
}
