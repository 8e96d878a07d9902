//! Every route of the native API: one table, and the only way in.
//!
//! A route names its policy rule, and its handler runs only for callers that the rule allows. The OpenAPI document and
//! the tests of rights are made of the same table.

use crate::fault::Fault;
use crate::native::{
    actions, changes, events, info, lookup, plans, previews, resources, snapshots, software,
    stacks, types,
};
use crate::request::Request;
use crate::response::Response;
use std::pin::Pin;

/// The handler of a route.
pub type Handler = fn(Request) -> Pin<Box<dyn Future<Output = Result<Response, Fault>> + Send>>;

/// A route.
pub struct Route {
    /// The method.
    pub method: &'static str,
    /// The path behind the version; parts in braces vary.
    pub path: &'static str,
    /// The policy rule.
    pub rule: Rule,
    /// The body that it needs.
    pub body: BodyNeed,
    /// The status of a successful response.
    pub success: u16,
    /// The body of a successful response.
    pub response: ResponseBody,
    /// The query parameters.
    pub query: &'static [&'static str],
    /// Its summary, a sentence.
    pub about: &'static str,
    /// The handler.
    pub handler: Handler,
}

/// The policy rule of a route.
#[derive(Clone, Copy)]
pub enum Rule {
    /// A fixed rule.
    Named(&'static str),
    /// The rule that the body determines, one of these.
    OfBody(fn(&Request) -> Result<&'static str, Fault>, &'static [&'static str]),
}

/// The body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyNeed {
    /// No body.
    None,
    /// An object.
    Object,
    /// An object or nothing.
    Any,
    /// Any body, which is ignored.
    Ignored,
}

/// The body of a successful response. A type is a schema of the OpenAPI document or one of `any`, `list`, `text`, `time`,
/// `flag`, `count` and `map`; a `*` behind it makes it a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseBody {
    /// No body.
    Empty,
    /// A sentence for people.
    Text,
    /// The JSON value null.
    Null,
    /// A value of a type.
    Value(&'static str),
    /// An object with one member, by its name and its type.
    Member(&'static str, &'static str),
}

/// The parts of a path that vary, by their names.
pub type Parts = Vec<(&'static str, String)>;

/// The result of matching a path with the routes.
pub enum Match {
    /// A route, with the parts of the path that vary.
    Route(&'static Route, Parts),
    /// No route with this method, but some with others.
    OtherMethods(Vec<&'static str>),
    /// No route.
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
    let mut segments = path.iter();
    while let Some(part) = segments.next() {
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
                std::iter::once(part).chain(segments.by_ref()).map(String::as_str).collect();
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
    ($method:literal $path:literal, $rule:expr, $body:ident, $success:literal, $response:expr, [$($query:literal),*], $about:literal, $handler:path) => {
        Route {
            method: $method,
            path: $path,
            rule: $rule,
            body: BodyNeed::$body,
            success: $success,
            response: {
                use ResponseBody::*;
                $response
            },
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
    route!("POST" "/{tenant_id}/validate", named("stacks:validate_template"), Object, 200, Value("Validation"), ["show_nested", "ignore_errors"], "Validates a template.", info::validate),
    route!("GET" "/{tenant_id}/resource_types", named("stacks:list_resource_types"), None, 200, Member("resource_types", "any*"), ["support_status", "name", "version", "with_description"], "Lists resource types.", types::index),
    route!("GET" "/{tenant_id}/resource_types/{type_name}", named("stacks:resource_schema"), None, 200, Value("map"), ["with_description"], "Shows the schema of a resource type.", types::schema),
    route!("GET" "/{tenant_id}/resource_types/{type_name}/template", named("stacks:generate_template"), None, 200, Value("map"), ["template_type"], "Generates a template with one resource of a type.", types::template),
    route!("GET" "/{tenant_id}/template_versions", named("stacks:list_template_versions"), None, 200, Member("template_versions", "map*"), [], "Lists template versions.", types::versions),
    route!("GET" "/{tenant_id}/template_versions/{template_version}/functions", named("stacks:list_template_functions"), None, 200, Member("template_functions", "map*"), ["with_condition_func"], "Lists the functions of a template version.", types::functions),
    // stacks
    route!("GET" "/{tenant_id}/stacks", named("stacks:index"), None, 200, Member("stacks", "ListedStack*"), ["limit", "marker", "sort_keys", "sort_dir", "show_deleted", "show_nested", "show_hidden", "global_tenant", "with_count", "tags", "tags_any", "not_tags", "not_tags_any", "id", "name", "status", "action", "tenant", "username", "owner_id"], "Lists stacks.", stacks::index),
    route!("POST" "/{tenant_id}/stacks", named("stacks:create"), Object, 201, Member("stack", "NewStack"), [], "Creates a stack.", stacks::create),
    route!("POST" "/{tenant_id}/stacks/preview", named("stacks:preview"), Object, 200, Member("stack", "Stack"), [], "Previews a stack.", previews::create),
    route!("GET" "/{tenant_id}/stacks/detail", named("stacks:detail"), None, 200, Member("stacks", "ListedStack*"), [], "Lists stacks in their long form.", stacks::detail),
    route!("GET" "/{tenant_id}/stacks/{arn}", named("stacks:lookup"), Ignored, 302, Text, [], "Finds a stack by its ARN.", lookup::by_arn),
    route!("POST" "/{tenant_id}/stacks/{arn}", named("stacks:lookup"), Ignored, 302, Text, [], "Finds a stack by its ARN.", lookup::by_arn),
    route!("PUT" "/{tenant_id}/stacks/{arn}", named("stacks:lookup"), Ignored, 302, Text, [], "Finds a stack by its ARN.", lookup::by_arn),
    route!("PATCH" "/{tenant_id}/stacks/{arn}", named("stacks:lookup"), Ignored, 302, Text, [], "Finds a stack by its ARN.", lookup::by_arn),
    route!("DELETE" "/{tenant_id}/stacks/{arn}", named("stacks:lookup"), Ignored, 302, Text, [], "Finds a stack by its ARN.", lookup::by_arn),
    route!("GET" "/{tenant_id}/stacks/{stack_name}", named("stacks:lookup"), Ignored, 302, Text, [], "Finds a stack by its name or id.", lookup::by_name),
    route!("POST" "/{tenant_id}/stacks/{stack_name}", named("stacks:lookup"), Ignored, 302, Text, [], "Finds a stack by its name or id.", lookup::by_name),
    route!("PUT" "/{tenant_id}/stacks/{stack_name}", named("stacks:lookup"), Ignored, 302, Text, [], "Finds a stack by its name or id.", lookup::by_name),
    route!("PATCH" "/{tenant_id}/stacks/{stack_name}", named("stacks:lookup"), Ignored, 302, Text, [], "Finds a stack by its name or id.", lookup::by_name),
    route!("DELETE" "/{tenant_id}/stacks/{stack_name}", named("stacks:lookup"), Ignored, 302, Text, [], "Finds a stack by its name or id.", lookup::by_name),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{path:resources|events|template|actions|environment|files}", named("stacks:lookup"), Ignored, 302, Text, [], "Finds a part of a stack by the stack's name or id.", lookup::by_name),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{path:templates}", named("stacks:lookup"), Ignored, 302, Text, [], "Finds the template of a stack by the stack's name or id.", lookup::by_name),
    route!("POST" "/{tenant_id}/stacks/{stack_name}/{path:resources|events|template|actions}", named("stacks:lookup"), Ignored, 302, Text, [], "Finds a part of a stack by the stack's name or id.", lookup::by_name),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}", named("stacks:show"), None, 200, Member("stack", "Stack"), ["resolve_outputs"], "Shows a stack.", stacks::show),
    route!("PUT" "/{tenant_id}/stacks/{stack_name}/{stack_id}", named("stacks:update"), Object, 202, Text, [], "Updates a stack.", changes::update),
    route!("PATCH" "/{tenant_id}/stacks/{stack_name}/{stack_id}", Rule::OfBody(changes::patch_rule, &["stacks:update_patch", "stacks:update_no_change"]), Object, 202, Text, [], "Updates parts of a stack.", changes::patch),
    route!("DELETE" "/{tenant_id}/stacks/{stack_name}/{stack_id}", named("stacks:delete"), None, 204, Empty, [], "Deletes a stack.", stacks::delete),
    route!("PUT" "/{tenant_id}/stacks/{stack_name}/{stack_id}/preview", named("stacks:preview_update"), Object, 200, Member("resource_changes", "Changes"), ["show_nested"], "Previews an update of a stack.", previews::update),
    route!("PATCH" "/{tenant_id}/stacks/{stack_name}/{stack_id}/preview", named("stacks:preview_update_patch"), Object, 200, Member("resource_changes", "Changes"), ["show_nested"], "Previews an update of parts of a stack.", previews::patch),
    route!("POST" "/{tenant_id}/stacks/{stack_name}/plans", named("plans:create"), Object, 201, Member("plan", "Plan"), [], "Plans the creation of a stack, or a change of the stack of this name.", plans::create),
    route!("POST" "/{tenant_id}/stacks/{stack_name}/{stack_id}/plans", named("plans:create"), Object, 201, Member("plan", "Plan"), [], "Plans a change of a stack.", plans::change),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/plans", named("plans:index"), None, 200, Member("plans", "ListedPlan*"), [], "Lists the plans of a stack.", plans::index),
    route!("GET" "/{tenant_id}/plans/{plan_id}", named("plans:show"), None, 200, Member("plan", "Plan"), [], "Shows a plan.", plans::show),
    route!("DELETE" "/{tenant_id}/plans/{plan_id}", named("plans:delete"), None, 204, Empty, [], "Deletes a plan.", plans::delete),
    route!("POST" "/{tenant_id}/plans/{plan_id}/apply", named("plans:apply"), Any, 200, Member("stack", "PlannedStack"), [], "Applies a plan: does what it shows, or nothing.", plans::apply),
    route!("POST" "/{tenant_id}/stacks/{stack_name}/{stack_id}/snapshots", named("stacks:snapshot"), Object, 200, Value("Snapshot"), [], "Takes a snapshot of a stack.", snapshots::take),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/snapshots", named("stacks:list_snapshots"), None, 200, Member("snapshots", "Snapshot*"), [], "Lists the snapshots of a stack.", snapshots::index),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/snapshots/{snapshot_id}", named("stacks:show_snapshot"), None, 200, Member("snapshot", "Snapshot"), [], "Shows a snapshot.", snapshots::show),
    route!("DELETE" "/{tenant_id}/stacks/{stack_name}/{stack_id}/snapshots/{snapshot_id}", named("stacks:delete_snapshot"), None, 204, Empty, [], "Deletes a snapshot.", snapshots::delete),
    route!("POST" "/{tenant_id}/stacks/{stack_name}/{stack_id}/snapshots/{snapshot_id}/restore", named("stacks:restore_snapshot"), None, 202, Text, [], "Restores a stack from a snapshot.", snapshots::restore),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/template", named("stacks:template"), None, 200, Value("map"), [], "Shows the template of a stack.", stacks::template),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/environment", named("stacks:environment"), None, 200, Value("map"), [], "Shows the environment of a stack.", stacks::environment),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/files", named("stacks:files"), None, 200, Value("map"), [], "Shows the files of a stack.", stacks::files),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/outputs", named("stacks:list_outputs"), None, 200, Member("outputs", "ListedOutput*"), [], "Lists the outputs of a stack.", stacks::outputs),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/outputs/{output_key}", named("stacks:show_output"), None, 200, Member("output", "Output"), [], "Shows an output of a stack.", stacks::show_output),
    route!("DELETE" "/{tenant_id}/stacks/{stack_name}/{stack_id}/abandon", named("stacks:abandon"), None, 200, Value("Document"), [], "Abandons a stack: deletes its record and keeps its objects.", stacks::abandon),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/export", named("stacks:export"), None, 200, Value("Document"), [], "Exports a stack.", stacks::export),
    route!("POST" "/{tenant_id}/stacks/{stack_name}/{stack_id}/actions", Rule::OfBody(actions::rule, ACTION_RULES), Any, 200, Null, [], "Suspends, resumes, checks or cancels a stack.", actions::act),
    // resources and events
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources", named("resource:index"), None, 200, Member("resources", "Resource*"), ["nested_depth", "with_detail", "type", "status", "name", "action", "id", "physical_resource_id"], "Lists the resources of a stack.", resources::index),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources/{resource_name}", named("resource:show"), None, 200, Member("resource", "Resource"), ["with_attr"], "Shows a resource.", resources::show),
    route!("PATCH" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources/{resource_name}", named("resource:mark_unhealthy"), Object, 200, Null, [], "Marks a resource as unhealthy or healthy.", resources::mark),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources/{resource_name}/metadata", named("resource:metadata"), None, 200, Member("metadata", "any"), ["wait"], "Shows the metadata of a resource.", resources::metadata),
    route!("POST" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources/{resource_name}/signal", named("resource:signal"), Any, 200, Null, [], "Signals a resource.", resources::signal),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/events", named("events:index"), None, 200, Member("events", "Event*"), ["limit", "marker", "sort_keys", "sort_dir", "nested_depth", "resource_status", "resource_action", "resource_name", "resource_type"], "Lists or streams the events of a stack.", events::index),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources/{resource_name}/events", named("events:index"), None, 200, Member("events", "Event*"), ["limit", "marker", "sort_keys", "sort_dir", "resource_status", "resource_action", "resource_type"], "Lists the events of a resource.", events::of_resource),
    route!("GET" "/{tenant_id}/stacks/{stack_name}/{stack_id}/resources/{resource_name}/events/{event_id}", named("events:show"), None, 200, Member("event", "Event"), [], "Shows an event.", events::show),
    // software
    route!("GET" "/{tenant_id}/software_configs", named("software_configs:index"), None, 200, Member("software_configs", "ListedConfig*"), ["limit", "marker", "global_tenant"], "Lists software configurations.", software::list_configs),
    route!("POST" "/{tenant_id}/software_configs", named("software_configs:create"), Object, 200, Member("software_config", "Config"), [], "Creates a software configuration.", software::create_config),
    route!("GET" "/{tenant_id}/software_configs/{config_id}", named("software_configs:show"), None, 200, Member("software_config", "Config"), [], "Shows a software configuration.", software::show_config),
    route!("DELETE" "/{tenant_id}/software_configs/{config_id}", named("software_configs:delete"), None, 204, Empty, [], "Deletes a software configuration.", software::delete_config),
    route!("GET" "/{tenant_id}/software_deployments", named("software_deployments:index"), None, 200, Member("software_deployments", "Deployment*"), ["server_id"], "Lists software deployments.", software::list_deployments),
    route!("POST" "/{tenant_id}/software_deployments", named("software_deployments:create"), Object, 200, Member("software_deployment", "Deployment"), [], "Creates a software deployment.", software::create_deployment),
    route!("GET" "/{tenant_id}/software_deployments/metadata/{server_id}", named("software_deployments:metadata"), None, 200, Member("metadata", "Config*"), ["wait"], "Lists the configurations that a server has to apply.", software::metadata),
    route!("GET" "/{tenant_id}/software_deployments/{deployment_id}", named("software_deployments:show"), None, 200, Member("software_deployment", "Deployment"), [], "Shows a software deployment.", software::show_deployment),
    route!("PUT" "/{tenant_id}/software_deployments/{deployment_id}", named("software_deployments:update"), Object, 200, Member("software_deployment", "Deployment"), [], "Updates a software deployment.", software::update_deployment),
    route!("DELETE" "/{tenant_id}/software_deployments/{deployment_id}", named("software_deployments:delete"), None, 204, Empty, [], "Deletes a software deployment.", software::delete_deployment),
    // the service itself
    route!("GET" "/{tenant_id}/build_info", named("build_info:build_info"), None, 200, Value("map"), [], "Shows the revisions of the service.", info::build),
    route!("GET" "/{tenant_id}/services", named("service:index"), None, 200, Member("services", "map*"), [], "Lists the engines.", info::services),
];
