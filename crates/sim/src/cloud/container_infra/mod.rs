//! The container infrastructure service: Magnum, version 1 with its microversions.

use serde_json::{Value, json};

use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::request::{Answer, Reply, RequestContext, int, set, text};
use super::rest;
use super::schema::Collection;
use super::services::{Microversions, Service, Step};
use super::state::CloudState;
use super::versions;

static MAGNUM: ErrorStyle =
    ErrorStyle { form: ErrorForm::Errors, missing: "could not be found.", bad: 400 };

const TEMPLATES: &str = "container-infra/clustertemplates";
const CLUSTERS: &str = "container-infra/clusters";

static COLLECTIONS: &[&Collection] = &[&TEMPLATE, &CLUSTER];

pub(super) static SERVICE: Service = Service {
    prefix: "container-infra",
    types: &["container-infra"],
    name: "magnum",
    address: "/v1",
    microversions: Some(Microversions::new("container-infra", 1, 1, 11)),
    dialect: &MAGNUM,
    collections: &[COLLECTIONS],
    serve,
    versions: |base, path| {
        versions::microversioned(
            base,
            path,
            "1.11",
            |version| json!({ "name": "OpenStack Magnum API", "description": "Magnum.", "versions": [version] }),
        )
    },
    seed: |_| (),
};

pub(super) static STEPS: &[Step] = &[("container-infra/settled", settled)];

static TEMPLATE: Collection = Collection {
    name: TEMPLATES,
    path: "clustertemplates",
    plural: "clustertemplates",
    title: "ClusterTemplate",
    key: "uuid",
    by_name: true,
    update_method: "PATCH",
    is_shared: |_, row| super::request::flag(row, "public"),
    fields: "name                  text cu null
             image_id              text cu !
             coe                   enum:kubernetes|swarm|swarm-mode|mesos cu !
             external_network_id   text cu null
             fixed_network         text cu null
             fixed_subnet          text cu null
             keypair_id            text cu null
             flavor_id             text cu null
             master_flavor_id      text cu null
             dns_nameserver        text cu \"8.8.8.8\"
             docker_volume_size    int  cu null
             docker_storage_driver text cu \"overlay2\"
             network_driver        text cu null
             volume_driver         text cu null
             server_type           text cu \"vm\"
             http_proxy            text cu null
             https_proxy           text cu null
             no_proxy              text cu null
             labels                map  cu {}
             insecure_registry     text cu null
             tls_disabled          bool cu false
             public                bool cua false
             hidden                bool cua false
             registry_enabled      bool cu false
             master_lb_enabled     bool cu false
             floating_ip_enabled   bool cu true
             tags                  text cu null
             driver                text c  null
             cluster_distro        text r  \"fedora-coreos\"
             apiserver_port        int  c  null
             project_id            text r  @project
             user_id               text r  @user",
    make: |ctx, row| {
        set(row, "created_at", ctx.state.timestamp());
        set(row, "updated_at", Value::Null);
        Ok(())
    },
    remove: |ctx, row| {
        if ctx.state.table(CLUSTERS).count("cluster_template_id", text(row, "uuid")) > 0 {
            let message = format!(
                "ClusterTemplate {} is referenced by one or multiple clusters.",
                text(row, "uuid")
            );
            return Err(refuse(400, message));
        }
        Ok(())
    },
    ..Collection::new(&MAGNUM)
};

static CLUSTER: Collection = Collection {
    name: CLUSTERS,
    path: "clusters",
    plural: "clusters",
    title: "Cluster",
    key: "uuid",
    by_name: true,
    update_method: "PATCH",
    statuses: (202, 202, 204),
    lingers: true,
    quota: Some(("clusters", 20)),
    fields: "name                text c  null
             cluster_template_id text c  !
             keypair             text c  null
             node_count          int  cu 1
             master_count        int  c  1
             docker_volume_size  int  c  null
             labels              map  c  {}
             flavor_id           text c  null
             master_flavor_id    text c  null
             create_timeout      int  c  60
             discovery_url       text cu null
             fixed_network       text c  null
             fixed_subnet        text c  null
             floating_ip_enabled bool c  true
             master_lb_enabled   bool c  false
             merge_labels        bool c  false
             status              text r  \"CREATE_IN_PROGRESS\"
             status_reason       text r  null
             health_status       text r  null
             api_address         text r  null
             coe_version         text r  null
             container_version   text r  null
             stack_id            text r  null
             node_addresses      list r  []
             master_addresses    list r  []
             project_id          text r  @project
             user_id             text r  @user",
    make: |ctx, row| {
        let template = ctx.find(&TEMPLATE, text(row, "cluster_template_id"))?;
        set(row, "cluster_template_id", template["uuid"].clone());
        for field in
            ["flavor_id", "master_flavor_id", "fixed_network", "fixed_subnet", "docker_volume_size"]
        {
            if row[field].is_null() {
                set(row, field, template[field].clone());
            }
        }
        if row["keypair"].is_null() {
            set(row, "keypair", template["keypair_id"].clone());
        }
        let stack = ctx.state.uuid();
        set(row, "stack_id", stack);
        set(row, "created_at", ctx.state.timestamp());
        set(row, "updated_at", Value::Null);
        let word = if ctx.state.fail_builds { "CREATE_FAILED" } else { "CREATE_COMPLETE" };
        let key = format!("{word}|{}", text(row, "uuid"));
        ctx.state.step_when_built("container-infra/settled", &key);
        Ok(())
    },
    change: |ctx, old, new, _| {
        if text(old, "status").ends_with("IN_PROGRESS") {
            let message =
                format!("Cluster {} already has an operation in progress.", text(old, "uuid"));
            return Err(refuse(400, message));
        }
        set(new, "status", "UPDATE_IN_PROGRESS");
        set(new, "updated_at", ctx.state.timestamp());
        ctx.state.step_when_built(
            "container-infra/settled",
            &format!("UPDATE_COMPLETE|{}", text(old, "uuid")),
        );
        Ok(())
    },
    remove: |ctx, row| {
        let id = text(row, "uuid");
        ctx.state.set(CLUSTERS, id, json!({ "status": "DELETE_IN_PROGRESS" }));
        ctx.state.remove_when_built(CLUSTERS, id);
        Ok(())
    },
    ..Collection::new(&MAGNUM)
};

/// Finishes a change of a cluster.
fn settled(state: &mut CloudState, key: &str) {
    let Some((status, id)) = key.split_once('|') else { return };
    let row = state.copy(CLUSTERS, id);
    if row.is_empty() || text(&row, "status") == "DELETE_IN_PROGRESS" {
        return;
    }
    let addresses = |count: i64, from: i64| -> Vec<String> {
        (0..count.clamp(0, 200)).map(|at| format!("172.24.4.{}", from + at)).collect()
    };
    let (nodes, masters) = (int(&row, "node_count"), int(&row, "master_count"));
    state.set(
        CLUSTERS,
        id,
        json!({
            "status": status, "api_address": "https://172.24.4.200:6443", "coe_version": "v1.28.4",
            "node_addresses": addresses(nodes, 20), "master_addresses": addresses(masters, 10),
            "health_status": "HEALTHY",
        }),
    );
}

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v1", path @ ..] = parts.as_slice() else {
        return Err(refuse(404, "The resource could not be found."));
    };
    let method = ctx.request.method.clone();
    match (method.as_str(), path) {
        ("GET", ["certificates", id]) => ctx.find(&CLUSTER, id).map(|row| {
            Reply::ok(json!({ "cluster_uuid": row["uuid"], "pem": "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n" }))
        }),
        ("GET", ["mservices"]) => Ok(Reply::ok(json!({ "mservices": [] }))),
        ("POST", ["clusters"]) => {
            let sent = ctx.sent(&CLUSTER)?;
            let row = rest::create(ctx, &CLUSTER, &sent)?;
            Ok(Reply::json(202, json!({ "uuid": row["uuid"] })))
        }
        ("PATCH", ["clusters", _]) => {
            let answer = rest::serve(ctx, COLLECTIONS, path).unwrap_or_else(|| Err(refuse(404, "Not found")))?;
            let id = match &answer.body {
                super::request::Content::Json(body) => body["uuid"].clone(),
                _ => Value::Null,
            };
            Ok(Reply::json(202, json!({ "uuid": id })))
        }
        _ => rest::serve(ctx, COLLECTIONS, path)
            .unwrap_or_else(|| Err(refuse(404, "The resource could not be found."))),
    }
}
