//! Every route of the native API: one table, and the only way in.
//!
//! A route says who may use it; whoever is not let in never reaches a handler. The table is also what
//! the OpenAPI document and the tests of rights are made of.

use crate::fault::Fault;
use crate::native::{
    actions, changes, events, info, lookup, previews, resources, snapshots, software, stacks, types,
};
use crate::request::Request;
use crate::response::Response;
use std::pin::Pin;

/// What answers a request.
pub type Handler = fn(Request) -> Pin<Box<dyn Future<Output = Result<Response, Fault>> + Send>>;

/// A route.
pub struct Route {
    /// The method.
    pub method: &'static str,
    /// The path behind the version; parts in braces vary.
    pub path: &'static str,
    /// Who may use it.
    pub rule: Rule,
    /// What it carries.
    pub body: BodyNeed,
    /// The status if all goes well.
    pub success: u16,
    /// The parameters that it takes.
    pub query: &'static [&'static str],
    /// What it does, in a sentence.
    pub about: &'static str,
    /// What answers.
    pub handler: Handler,
}

/// Who may use a route.
#[derive(Clone, Copy)]
pub enum Rule {
    /// Whoever a policy rule allows.
    Named(&'static str),
    /// Whoever the policy rule allows that the body calls for, one of these.
    OfBody(fn(&Request) -> Result<&'static str, Fault>, &'static [&'static str]),
}

/// What a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyNeed {
    /// Nothing.
    None,
    /// An object.
    Object,
    /// An object or nothing.
    Any,
    /// Whatever it is, it is not looked at.
    Ignored,
}

/// The parts of a path that vary, by their names.
pub type Parts = Vec<(&'static str, String)>;

/// Where a path leads.
pub enum Match {
    /// To a route, with the parts of the path that vary.
    Route(&'static Route, Parts),
    /// To a path that has other methods.
    OtherMethods(Vec<&'static str>),
    /// Nowhere.
    Nothing,
}

/// The route that a method and a path behind the version lead to.
pub fn find(method: &str, path: &[String]) -> Match {
    let mut methods = Vec::new();
    let mut best: Option<(usize, &'static Route, Parts)> = None;
    for route in ROUTES {
        let Some((literal, parts)) = fits(route, path) else { continue };
        methods.push((literal, route.method));
        let is_better = best.as_ref().is_none_or(|(known, ..)| literal > *known);
        if route.method == method && is_better {
            best = Some((literal, route, parts));
        }
    }
    // A path that is written out wins over one that varies, whatever the method.
    let most = methods.iter().map(|(literal, _)| *literal).max().unwrap_or(0);
    match best {
        Some((literal, route, parts)) if literal == most => Match::Route(route, parts),
        _ if methods.is_empty() => Match::Nothing,
        _ => {
            let of_path = methods.into_iter().filter(|(literal, _)| *literal == most);
            Match::OtherMethods(of_path.map(|(_, method)| method).collect())
        }
    }
}

/// Whether a path is of a route's form: how much of it is written out, and what varies.
fn fits(route: &Route, path: &[String]) -> Option<(usize, Parts)> {
    let mut wanted = route.path.split('/').skip(1);
    let (mut literal, mut parts) = (0, Vec::new());
    let mut given = path.iter();
    while let Some(part) = given.next() {
        let form = wanted.next()?;
        let Some(name) = form.strip_prefix('{').and_then(|it| it.strip_suffix('}')) else {
            if form != part {
                return None;
            }
            literal += 1;
            continue;
        };
        if let Some((name, choices)) = name.split_once(':') {
            // One of several words.
            if !choices.split('|').any(|choice| choice == part) {
                return None;
            }
            literal += 1;
            parts.push((name, part.clone()));
        } else if name == "arn" {
            if !part.starts_with("arn:") {
                return None;
            }
            literal += 1;
            let rest: Vec<&str> =
                std::iter::once(part).chain(given.by_ref()).map(String::as_str).collect();
            parts.push((name, rest.join("/")));
        } else {
            parts.push((name, part.clone()));
        }
    }
    wanted.next().is_none().then_some((literal, parts))
}

const fn named(rule: &'static str) -> Rule {
    Rule::Named(rule)
}

macro_rules! route {
    ($method:literal $path:literal, $rule:expr, $body:ident, $success:literal, [$($query:literal),*], $about:literal, $handler:path) => {
        Route {
            method: $method,
            path: $path,
            rule: $rule,
            body: BodyNeed::$body,
            success: $success,
            query: &[$($query),*],
            about: $about,
            handler: |request| Box::pin($handler(request)),
        }
    };
}

const ACTION_RULES: &[&str] = &[
    "actions:cancel_update",
    "actions:cancel_without_rollback",
    "actions:check",
    "actions:resume",
    "actions:suspend",
];

/// All routes.
#[rustfmt::skip]
pub static ROUTES: &[Route] = &[
    // templates and types
    route!("POST" "/{tenant_id}/validate", named("stacks:validate_template"), Object, 200, ["show_nested", "ignore_errors"], "Checks a template.", info::validate),
    route!("GET" "/{tenant_id}/resource_types", named("stacks:list_resource_types"), None, 200, ["support_status", "name", "version", "with_description"], "Lists resource types.", types::index),
    route!("GET" "/{tenant_id}/resource_types/{type_name}", named("stacks:resource_schema"), None, 200, ["with_description"], "Shows the schema of a resource type.", types::schema),
    route!("GET" "/{tenant_id}/resource_types/{type_name}/template", named("stacks:generate_template"), None, 200, ["template_type"], "Makes a template with one resource of a type.", types::template),
    route!("GET" "/{tenant_id}/template_versions", named("stacks:list_template_versions"), None, 200, [], "Lists template versions.", types::versions),
    route!("GET" "/{tenant_id}/template_versions/{template_version}/functions", named("stacks:list_template_functions"), None, 200, ["with_condition_func"], "Lists the functions of a template version.", types::functions),
    // stacks
    route!("GET" "/{tenant_id}/stacks", named("stacks:index"), None, 200, ["limit", "marker", "sort_keys", "sort_dir", "show_deleted", "show_nested", "show_hidden", "global_tenant", "with_count", "tags", "tags_any", "not_tags", "not_tags_any", "id", "name", "status", "action", "tenant", "username", "owner_id"], "Lists stacks.", stacks::index),
    route!("POST" "/{tenant_id}/stacks", named("stacks:create"), Object, 201, [], "Creates a stack.", stacks::create),
    route!("POST" "/{tenant_id}/stacks/preview", named("stacks:preview"), Object, 200, [], "Tells what a stack would be.", previews::create),
    route!("GET" "/{tenant_id}/stacks/detail", named("stacks:detail"), None, 200, [], "Lists stacks in their long form.", stacks::detail),
    route!("GET" "/{tenant_id}/stacks/{arn}", named("stacks:lookup"), Ignored, 302, [], "Finds a stack by its ARN.", lookup::by_arn),
    route!("POST" "/{tenant_id}/stacks/{arn}", named("stacks:lookup"), Ignored, 302, [], "Finds a stack by its ARN.", lookup::by_arn),
    route!("PUT" "/{tenant_id}/stacks/{arn}", named("stacks:lookup"), Ignored, 302, [], "Finds a stack by its ARN.", lookup::by_arn),
    route!("PATCH" "/{tenant_id}/stacks/{arn}", named("stacks:lookup"), Ignored, 302, [], "Finds a stack by its ARN.", lookup::by_arn),
    route!("DELETE" "/{tenant_id}/stacks/{arn}", named("stacks:lookup"), Ignored, 302, [], "Finds a stack by its ARN.", lookup::by_arn),
    route!("GET" "/{tenant_id}/stacks/{stack_name}", named("stacks:lookup"), Ignored, 302, [], "Finds a stack by its name or id.", lookup::by_name),
    route!("POST" "/{tenant_id}/stacks/{stack_name}", named("stacks:lookup"), Ignored, 302, [], "Finds a stack by its name or id.", lookup::by_name),
    route!("PUT" "/{tenant_id}/stacks/{stack_name}", named("stacks:lookup"), Ignored, 302, [], "Finds a stack by its name or id.", lookup::by_name),
    route!("PATCH" "/{tenant_id}/stacks/{stack_name}", named("stacks:lookup"), Ignored, 302, [], "Finds a stack by its name or id.", lookup::by_name),
    route!("DELETE" "/{tenant_id}/stacks/{stack_name}", named("stacks:lookup"), Ignored, 302, [], "Finds a stack by its name or id.", lookup::by_name),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{path:resources|events|template|actions|environment|files}", named("stacks:lookup"), Ignored, 302, [], "Finds a part of a stack by the stack's name or id.", lookup::by_name),
    route!("POST" "/{tenant_id}/stacks/{stack_name}/{path:resources|events|template|actions}", named("stacks:lookup"), Ignored, 302, [], "Finds a part of a stack by the stack's name or id.", lookup::by_name),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}", named("stacks:show"), None, 200, ["resolve_outputs"], "Shows a stack.", stacks::show),
    route!("PUT" "/{tenant_id}/stacks/{stack_name}/{stack_id}", named("stacks:update"), Object, 202, [], "Changes a stack.", changes::update),
    route!("PATCH" "/{tenant_id}/stacks/{stack_name}/{stack_id}", Rule::OfBody(changes::patch_rule, &["stacks:update_patch", "stacks:update_no_change"]), Object, 202, [], "Changes a part of a stack.", changes::patch),
    route!("DELETE" "/{tenant_id}/stacks/{stack_name}/{stack_id}", named("stacks:delete"), None, 204, [], "Deletes a stack.", stacks::delete),
    route!("PUT" "/{tenant_id}/stacks/{stack_name}/{stack_id}/preview", named("stacks:preview_update"), Object, 200, ["show_nested"], "Tells what a change of a stack would do.", previews::update),
    route!("PATCH" "/{tenant_id}/stacks/{stack_name}/{stack_id}/preview", named("stacks:preview_update_patch"), Object, 200, ["show_nested"], "Tells what a change of a part of a stack would do.", previews::patch),
    route!("POST" "/{tenant_id}/stacks/{stack_name}/{stack_id}/snapshots", named("stacks:snapshot"), Object, 200, [], "Takes a snapshot of a stack.", snapshots::take),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/snapshots", named("stacks:list_snapshots"), None, 200, [], "Lists the snapshots of a stack.", snapshots::index),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/snapshots/{snapshot_id}", named("stacks:show_snapshot"), None, 200, [], "Shows a snapshot.", snapshots::show),
    route!("DELETE" "/{tenant_id}/stacks/{stack_name}/{stack_id}/snapshots/{snapshot_id}", named("stacks:delete_snapshot"), None, 204, [], "Lets go of a snapshot.", snapshots::delete),
    route!("POST" "/{tenant_id}/stacks/{stack_name}/{stack_id}/snapshots/{snapshot_id}/restore", named("stacks:restore_snapshot"), None, 202, [], "Makes a stack what it was.", snapshots::restore),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/template", named("stacks:template"), None, 200, [], "Shows the template of a stack.", stacks::template),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/environment", named("stacks:environment"), None, 200, [], "Shows the environment of a stack.", stacks::environment),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/files", named("stacks:files"), None, 200, [], "Shows the files of a stack.", stacks::files),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/outputs", named("stacks:list_outputs"), None, 200, [], "Lists the outputs of a stack.", stacks::outputs),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/outputs/{output_key}", named("stacks:show_output"), None, 200, [], "Shows an output of a stack.", stacks::show_output),
    route!("DELETE" "/{tenant_id}/stacks/{stack_name}/{stack_id}/abandon", named("stacks:abandon"), None, 200, [], "Gives a stack up and leaves its objects.", stacks::abandon),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/export", named("stacks:export"), None, 200, [], "Shows all that is known of a stack.", stacks::export),
    route!("POST" "/{tenant_id}/stacks/{stack_name}/{stack_id}/actions", Rule::OfBody(actions::rule, ACTION_RULES), Any, 200, [], "Suspends, resumes, checks or cancels.", actions::act),
    // resources and events
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources", named("resource:index"), None, 200, ["nested_depth", "with_detail", "type", "status", "name", "action", "id", "physical_resource_id"], "Lists the resources of a stack.", resources::index),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources/{resource_name}", named("resource:show"), None, 200, ["with_attr"], "Shows a resource.", resources::show),
    route!("PATCH" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources/{resource_name}", named("resource:mark_unhealthy"), Object, 200, [], "Says whether a resource is healthy.", resources::mark),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources/{resource_name}/metadata", named("resource:metadata"), None, 200, ["wait"], "Shows the metadata of a resource.", resources::metadata),
    route!("POST" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources/{resource_name}/signal", named("resource:signal"), Any, 200, [], "Tells a resource something.", resources::signal),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/events", named("events:index"), None, 200, ["limit", "marker", "sort_keys", "sort_dir", "nested_depth", "resource_status", "resource_action", "resource_name", "resource_type"], "Lists what happened to a stack, or follows it.", events::index),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources/{resource_name}/events", named("events:index"), None, 200, ["limit", "marker", "sort_keys", "sort_dir", "resource_status", "resource_action", "resource_type"], "Lists what happened to a resource.", events::of_resource),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources/{resource_name}/events/{event_id}", named("events:show"), None, 200, [], "Shows an event.", events::show),
    // software
    route!("GET" "/{tenant_id}/software_configs", named("software_configs:index"), None, 200, ["limit", "marker", "global_tenant"], "Lists software configurations.", software::list_configs),
    route!("POST" "/{tenant_id}/software_configs", named("software_configs:create"), Object, 200, [], "Keeps a software configuration.", software::create_config),
    route!("GET" "/{tenant_id}/software_configs/{config_id}", named("software_configs:show"), None, 200, [], "Shows a software configuration.", software::show_config),
    route!("DELETE" "/{tenant_id}/software_configs/{config_id}", named("software_configs:delete"), None, 204, [], "Forgets a software configuration.", software::delete_config),
    route!("GET" "/{tenant_id}/software_deployments", named("software_deployments:index"), None, 200, ["server_id"], "Lists software deployments.", software::list_deployments),
    route!("POST" "/{tenant_id}/software_deployments", named("software_deployments:create"), Object, 200, [], "Keeps a software deployment.", software::create_deployment),
    route!("GET" "/{tenant_id}/software_deployments/metadata/{server_id}", named("software_deployments:metadata"), None, 200, ["wait"], "Shows what a server has to apply.", software::metadata),
    route!("GET" "/{tenant_id}/software_deployments/{deployment_id}", named("software_deployments:show"), None, 200, [], "Shows a software deployment.", software::show_deployment),
    route!("PUT" "/{tenant_id}/software_deployments/{deployment_id}", named("software_deployments:update"), Object, 200, [], "Changes a software deployment.", software::update_deployment),
    route!("DELETE" "/{tenant_id}/software_deployments/{deployment_id}", named("software_deployments:delete"), None, 204, [], "Forgets a software deployment.", software::delete_deployment),
    // the service itself
    route!("GET" "/{tenant_id}/build_info", named("build_info:build_info"), None, 200, [], "Tells the revisions of the service.", info::build),
    route!("GET" "/{tenant_id}/services", named("service:index"), None, 200, [], "Lists the engines.", info::services),
];
