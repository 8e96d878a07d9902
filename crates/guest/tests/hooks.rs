//! Container hooks, with scripts that stand in for the real programs.

use crate::server::Server;
use crate::service::Service;
use serde_json::{Value, json};

const LIST: &str = "/var/run/heat-config/heat-config";
const MANIFESTS: &str = "/var/lib/heat-config/heat-config-kubelet/kubelet-manifests";

/// Returns a server with a stand-in for `docker`: containers are files in `/containers` with their names and labels,
/// and `/asked` logs all calls.
fn with_docker() -> Server {
    let server = Server::new();
    let root = server.root.display().to_string();
    let program = r#"#!/bin/sh
all=ROOT/containers; mkdir -p $all; echo "$@" >> ROOT/asked
what=$1; shift
label() { sed -n "s/^$2=//p" "$all/$1"; }
case $what in
  inspect) for last; do :; done; test -f "$all/$last" && echo exists ;;
  run)
    while [ $# -gt 0 ]; do
      case $1 in
        --name) name=$2; shift ;;
        --label) labels="$labels$2
"; shift ;;
        bad-image) echo "no such image" >&2; exit 125 ;;
      esac
      shift
    done
    printf %s "$labels" > "$all/$name"; echo "made $name" ;;
  exec) echo "in $1"; exit 3 ;;
  rm) rm "$all/$2" ;;
  rename) mv "$all/$1" "$all/$2" ;;
  images) cat ROOT/images ;;
  ps)
    ids=; named=; form=names
    while [ $# -gt 0 ]; do
      case $1 in
        -q) form=ids ;;
        label=config_id=*) ids=${1#label=config_id=} ;;
        label=container_name=*) named=${1#label=container_name=} ;;
        *config_id*) form=labels ;;
        *container_name*) form=both ;;
      esac
      shift
    done
    test -f ROOT/running && { cat ROOT/running; exit; }
    for file in "$all"/*; do
      name=${file##*/}; test -f "$file" || continue
      test -n "$ids" && [ "$(label $name config_id)" != "$ids" ] && continue
      test -n "$named" && [ "$(label $name container_name)" != "$named" ] && continue
      case $form in
        labels) label $name config_id ;;
        both) echo "$name $(label $name container_name)" ;;
        *) echo "$name" ;;
      esac
    done ;;
  compose) echo "compose $@ in ${PWD##*/}" ;;
esac
"#;
    server.put("/usr/bin/docker", &program.replace("ROOT", &root), 0o755);
    server
}

fn deployment(id: &str, group: &str, config: Value) -> Value {
    json!({"id": id, "name": format!("name-{id}"), "group": group, "config": config, "options": {},
        "outputs": [], "inputs": [{"name": "deploy_action", "value": "CREATE"}]})
}

fn deploy(server: &Server, all: &[&Value]) {
    server.put(LIST, &json!(all).to_string(), 0o600);
    server.good("heat-config", &[]);
}

fn reported(server: &Server, id: &str) -> Value {
    server.json(&format!("/var/lib/heat-config/deployed/{id}.notify.json"))
}

#[test]
fn containers_are_made_entered_renamed_and_removed() {
    let server = with_docker();
    let config = json!({"db": {"image": "mariadb", "start_order": 1},
        "setup": {"action": "exec", "start_order": 2, "command": ["db", "setup"], "exit_codes": [0, 3]}});
    let first = deployment("id-1", "docker-cmd", config.clone());
    deploy(&server, &[&first]);
    let report = reported(&server, "id-1");
    assert_eq!(report["deploy_stdout"], "made db\nin db\n");
    assert_eq!(report["deploy_status_code"], 0, "3 is among the good ones: {report}");
    assert_eq!(server.names("/containers"), ["db"]);

    // While the previous containers exist, the next ones have other names; exec finds the right one.
    let second = deployment("id-2", "docker-cmd", config);
    deploy(&server, &[&first, &second]);
    let names = server.names("/containers");
    let [_, other] = &names[..] else { panic!("{names:?}") };
    assert!(other.starts_with("db-") && other.len() == 11, "{other}");
    let out = reported(&server, "id-2")["deploy_stdout"].clone();
    assert_eq!(out, format!("made {other}\nin {other}\n"));

    deploy(&server, &[&second]);
    assert_eq!(server.names("/containers"), ["db"], "the former is gone, and the name is free");
    assert!(server.read("/containers/db").contains("config_id=id-2"));
    assert!(server.read("/asked").contains(&format!("rename {other} db")));

    deploy(&server, &[]);
    assert_eq!(server.names("/containers"), [""; 0]);
}

#[test]
fn containers_stay_while_it_is_not_certain_that_they_are_not_wanted() {
    let server = with_docker();
    let one = deployment("id-1", "docker-cmd", json!({"db": {"image": "mariadb"}}));
    deploy(&server, &[&one]);
    server.put(LIST, "[half a list", 0o600);
    server.good("heat-config", &[]);
    assert_eq!(server.names("/containers"), ["db"]);
    // Containers of other owners always stay.
    server.put("/containers/theirs", "", 0o600);
    deploy(&server, &[]);
    assert_eq!(server.names("/containers"), ["theirs"]);
}

#[test]
fn the_agent_removes_containers_when_it_is_told_and_not_when_nobody_answers() {
    let server = with_docker();
    let one = deployment("id-1", "docker-cmd", json!({"db": {"image": "mariadb"}}));
    let agent = |deployments: Option<Value>| {
        let body = json!({ "deployments": deployments }).to_string();
        let answers = [(200, &*body), (200, &*body)];
        let reported = Service::answering(if deployments.is_some() { &answers } else { &[] });
        let init = json!({"os-collect-config": {"collectors": ["request"],
            "request": {"metadata_url": reported.url}}, "deployments": []});
        server.put("/var/lib/heat-cfntools/cfn-init-data", &init.to_string(), 0o600);
        server.run("kiln-guest", &["agent", "--one-time"]);
        server.names("/containers")
    };
    assert_eq!(agent(Some(json!([one]))), ["db"]);
    assert_eq!(agent(None), ["db"]);
    assert_eq!(agent(Some(json!([]))), [""; 0]);
}

#[test]
fn nobody_asks_for_containers_where_there_never_were_any() {
    let server = with_docker();
    deploy(&server, &[&deployment("id-1", "script", json!("echo hi"))]);
    assert!(!server.path("/asked").exists());
}

#[test]
fn the_last_bad_status_is_told() {
    let server = with_docker();
    let config = json!({"a": {"image": "bad-image", "start_order": 1}, "b": {"image": "good", "start_order": 2}});
    deploy(&server, &[&deployment("id-1", "docker-cmd", config)]);
    let report = reported(&server, "id-1");
    assert_eq!(
        (&report["deploy_status_code"], &report["deploy_stdout"]),
        (&json!(125), &json!("made b\n"))
    );
    assert_eq!(report["deploy_stderr"], "no such image\n");
    deploy(&server, &[&deployment("id-2", "docker-cmd", json!(""))]);
    assert_eq!(reported(&server, "id-2")["deploy_status_code"], 0, "there is nothing to do");
}

#[test]
fn pods_are_left_for_a_kubelet_and_waited_for() {
    let server = with_docker();
    let id = "12345678-9abc-def0-1111-222222222222";
    let config = json!({"containers": [{"name": "web", "image": "nginx"}, {"name": "db", "image": "maria:10"}]});
    let mut pod = deployment(id, "kubelet", config.clone());
    pod["options"] = json!({"poll_period": 0, "images_timeout": 60, "containers_timeout": 60});
    server.put("/images", "nginx:latest\nmaria:10.5\nnginx-other:1\n", 0o644);
    let running = "k8s_web.abcd1234_123456789abcdef\nk8s_db.abcd1234_123456789abcdef\n";
    server.put("/running", running, 0o644);
    deploy(&server, &[&pod]);
    let report = reported(&server, id);
    assert_eq!(report["deploy_status_code"], 0, "{report}");
    let said = report["deploy_stdout"].as_str().expect("a text");
    assert!(
        said.starts_with("Waiting for images: maria:10, nginx\nFound nginx:latest\n"),
        "{said}"
    );
    assert!(said.contains("Waiting for containers: db, web\nFound k8s_web.abcd1234_"), "{said}");
    let path = format!("{MANIFESTS}/{id}.json");
    assert_eq!((server.json(&path), server.mode(&path)), (config.clone(), 0o600));

    let mut other = deployment("id-2", "kubelet", config);
    other["options"] = json!({"poll_period": 0, "containers_timeout": 1});
    deploy(&server, &[&other]);
    let report = reported(&server, "id-2");
    assert_eq!(report["deploy_status_code"], 1);
    let why = "Timed out after 1 seconds waiting for containers: db, web\n";
    assert_eq!(report["deploy_stderr"], why);
    assert_eq!(server.names(MANIFESTS), ["id-2.json"], "the former is deployed no more");
}

#[test]
fn compositions_that_are_gone_are_ended() {
    let server = with_docker().with("HEAT_DOCKER_COMPOSE_CMD", "docker compose");
    let working = "/var/lib/heat-config/heat-config-docker-compose";
    let one = deployment("id-1", "docker-compose", json!({"web": {"image": "nginx"}}));
    deploy(&server, &[&one]);
    assert_eq!(
        reported(&server, "id-1")["deploy_stdout"],
        "compose up -d --no-build in name-id-1\n"
    );
    assert!(server.path(&format!("{working}/name-id-1/docker-compose.yml")).is_file());
    deploy(&server, &[&deployment("id-2", "docker-compose", json!(""))]);
    assert!(server.read("/asked").ends_with("compose kill\n"));
    assert!(!server.path(&format!("{working}/name-id-1/docker-compose.yml")).exists());
    // The older program is preferred if it exists.
    let server = with_docker();
    let older = "#!/bin/sh\necho older \"$@\"\n";
    server.put("/usr/bin/docker-compose", older, 0o755);
    deploy(&server, &[&deployment("id-3", "docker-compose", json!({"web": {"image": "nginx"}}))]);
    assert_eq!(reported(&server, "id-3")["deploy_stdout"], "older up -d --no-build\n");
}
