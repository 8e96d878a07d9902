//! The table of routes.

use axum::http::Method;

use super::api::{
    app_credentials, assignments, credentials, discovery, domains, ec2, endpoints, grants, groups,
    login, projects, regions, revocations, roles, services, tokens, trusts, users,
};
use super::request::{Answer, Request};

/// A request handler.
pub(super) type Handler = fn(&Request<'_>) -> Answer;

/// Method, path, handler. A segment in braces is variable; `GET` also answers `HEAD`, unless that has its own row.
#[rustfmt::skip]
const ROUTES: &[(&str, &str, Handler)] = &[
    ("GET",    "/",                                                       discovery::versions),
    ("GET",    "/v3",                                                     discovery::version),
    ("GET",    "/v3/OS-REVOKE/events",                                    revocations::list),
    ("GET",    "/v3/OS-TRUST/trusts",                                     trusts::list),
    ("POST",   "/v3/OS-TRUST/trusts",                                     trusts::create),
    ("DELETE", "/v3/OS-TRUST/trusts/{trust}",                             trusts::delete),
    ("GET",    "/v3/OS-TRUST/trusts/{trust}",                             trusts::show),
    ("GET",    "/v3/OS-TRUST/trusts/{trust}/roles",                       trusts::roles_of),
    ("GET",    "/v3/OS-TRUST/trusts/{trust}/roles/{role}",                trusts::role),
    ("GET",    "/v3/auth/catalog",                                        tokens::catalog),
    ("GET",    "/v3/auth/domains",                                        tokens::domains),
    ("GET",    "/v3/auth/projects",                                       tokens::projects),
    ("GET",    "/v3/auth/system",                                         tokens::system),
    ("DELETE", "/v3/auth/tokens",                                         tokens::revoke),
    ("GET",    "/v3/auth/tokens",                                         tokens::validate),
    ("POST",   "/v3/auth/tokens",                                         login::login),
    ("GET",    "/v3/credentials",                                         credentials::list),
    ("POST",   "/v3/credentials",                                         credentials::create),
    ("DELETE", "/v3/credentials/{credential}",                            credentials::delete),
    ("GET",    "/v3/credentials/{credential}",                            credentials::show),
    ("PATCH",  "/v3/credentials/{credential}",                            credentials::update),
    ("GET",    "/v3/domains",                                             domains::list),
    ("POST",   "/v3/domains",                                             domains::create),
    ("DELETE", "/v3/domains/{domain}",                                    domains::delete),
    ("GET",    "/v3/domains/{domain}",                                    domains::show),
    ("PATCH",  "/v3/domains/{domain}",                                    domains::update),
    ("GET",    "/v3/domains/{domain}/groups/{group}/roles",               grants::list_of_group_on_domain),
    ("DELETE", "/v3/domains/{domain}/groups/{group}/roles/{role}",        grants::remove_of_group_on_domain),
    ("GET",    "/v3/domains/{domain}/groups/{group}/roles/{role}",        grants::check_of_group_on_domain),
    ("PUT",    "/v3/domains/{domain}/groups/{group}/roles/{role}",        grants::add_of_group_on_domain),
    ("GET",    "/v3/domains/{domain}/users/{user}/roles",                 grants::list_on_domain),
    ("DELETE", "/v3/domains/{domain}/users/{user}/roles/{role}",          grants::remove_on_domain),
    ("GET",    "/v3/domains/{domain}/users/{user}/roles/{role}",          grants::check_on_domain),
    ("PUT",    "/v3/domains/{domain}/users/{user}/roles/{role}",          grants::add_on_domain),
    ("POST",   "/v3/ec2tokens",                                           ec2::token),
    ("GET",    "/v3/endpoints",                                           endpoints::list),
    ("POST",   "/v3/endpoints",                                           endpoints::create),
    ("DELETE", "/v3/endpoints/{endpoint}",                                endpoints::delete),
    ("GET",    "/v3/endpoints/{endpoint}",                                endpoints::show),
    ("PATCH",  "/v3/endpoints/{endpoint}",                                endpoints::update),
    ("GET",    "/v3/groups",                                              groups::list),
    ("POST",   "/v3/groups",                                              groups::create),
    ("DELETE", "/v3/groups/{group}",                                      groups::delete),
    ("GET",    "/v3/groups/{group}",                                      groups::show),
    ("PATCH",  "/v3/groups/{group}",                                      groups::update),
    ("GET",    "/v3/groups/{group}/users",                                groups::members),
    ("DELETE", "/v3/groups/{group}/users/{user}",                         groups::remove_member),
    ("GET",    "/v3/groups/{group}/users/{user}",                         groups::check_member),
    ("PUT",    "/v3/groups/{group}/users/{user}",                         groups::add_member),
    ("GET",    "/v3/projects",                                            projects::list),
    ("POST",   "/v3/projects",                                            projects::create),
    ("DELETE", "/v3/projects/{project}",                                  projects::delete),
    ("GET",    "/v3/projects/{project}",                                  projects::show),
    ("PATCH",  "/v3/projects/{project}",                                  projects::update),
    ("GET",    "/v3/projects/{project}/groups/{group}/roles",             grants::list_of_group_on_project),
    ("DELETE", "/v3/projects/{project}/groups/{group}/roles/{role}",      grants::remove_of_group_on_project),
    ("GET",    "/v3/projects/{project}/groups/{group}/roles/{role}",      grants::check_of_group_on_project),
    ("PUT",    "/v3/projects/{project}/groups/{group}/roles/{role}",      grants::add_of_group_on_project),
    ("GET",    "/v3/projects/{project}/users/{user}/roles",               grants::list_on_project),
    ("DELETE", "/v3/projects/{project}/users/{user}/roles/{role}",        grants::remove_on_project),
    ("GET",    "/v3/projects/{project}/users/{user}/roles/{role}",        grants::check_on_project),
    ("PUT",    "/v3/projects/{project}/users/{user}/roles/{role}",        grants::add_on_project),
    ("GET",    "/v3/regions",                                             regions::list),
    ("POST",   "/v3/regions",                                             regions::create),
    ("DELETE", "/v3/regions/{region}",                                    regions::delete),
    ("GET",    "/v3/regions/{region}",                                    regions::show),
    ("PATCH",  "/v3/regions/{region}",                                    regions::update),
    ("PUT",    "/v3/regions/{region}",                                    regions::create),
    ("GET",    "/v3/role_assignments",                                    assignments::list),
    ("GET",    "/v3/role_inferences",                                     roles::inferences),
    ("GET",    "/v3/roles",                                               roles::list),
    ("POST",   "/v3/roles",                                               roles::create),
    ("DELETE", "/v3/roles/{role}",                                        roles::delete),
    ("GET",    "/v3/roles/{role}",                                        roles::show),
    ("PATCH",  "/v3/roles/{role}",                                        roles::update),
    ("GET",    "/v3/roles/{role}/implies",                                roles::implied),
    ("DELETE", "/v3/roles/{role}/implies/{implied}",                      roles::stop_implying),
    ("GET",    "/v3/roles/{role}/implies/{implied}",                      roles::show_implied),
    ("HEAD",   "/v3/roles/{role}/implies/{implied}",                      roles::check_implied),
    ("PUT",    "/v3/roles/{role}/implies/{implied}",                      roles::imply),
    ("GET",    "/v3/services",                                            services::list),
    ("POST",   "/v3/services",                                            services::create),
    ("DELETE", "/v3/services/{service}",                                  services::delete),
    ("GET",    "/v3/services/{service}",                                  services::show),
    ("PATCH",  "/v3/services/{service}",                                  services::update),
    ("GET",    "/v3/system/users/{user}/roles",                           grants::list_on_system),
    ("DELETE", "/v3/system/users/{user}/roles/{role}",                    grants::remove_on_system),
    ("GET",    "/v3/system/users/{user}/roles/{role}",                    grants::check_on_system),
    ("PUT",    "/v3/system/users/{user}/roles/{role}",                    grants::add_on_system),
    ("GET",    "/v3/users",                                               users::list),
    ("POST",   "/v3/users",                                               users::create),
    ("DELETE", "/v3/users/{user}",                                        users::delete),
    ("GET",    "/v3/users/{user}",                                        users::show),
    ("PATCH",  "/v3/users/{user}",                                        users::update),
    ("GET",    "/v3/users/{user}/application_credentials",                app_credentials::list),
    ("POST",   "/v3/users/{user}/application_credentials",                app_credentials::create),
    ("DELETE", "/v3/users/{user}/application_credentials/{credential}",   app_credentials::delete),
    ("GET",    "/v3/users/{user}/application_credentials/{credential}",   app_credentials::show),
    ("GET",    "/v3/users/{user}/credentials/OS-EC2",                     ec2::list),
    ("POST",   "/v3/users/{user}/credentials/OS-EC2",                     ec2::create),
    ("DELETE", "/v3/users/{user}/credentials/OS-EC2/{access}",            ec2::delete),
    ("GET",    "/v3/users/{user}/credentials/OS-EC2/{access}",            ec2::show),
    ("GET",    "/v3/users/{user}/groups",                                 users::groups),
    ("POST",   "/v3/users/{user}/password",                               users::change_password),
    ("GET",    "/v3/users/{user}/projects",                               users::projects),
];

/// The result of routing.
pub(super) enum RouteMatch {
    /// The handler and the variable segments of the path.
    Handler(Handler, Vec<String>),
    /// An `OPTIONS` request: the allowed methods.
    Options(String),
    /// The path has no such method: the allowed methods.
    OtherMethods(String),
    Nothing,
}

/// Finds the route. A literal segment takes precedence over a variable one; there is no other overlap between rows.
pub(super) fn find(method: &Method, segments: &[String]) -> RouteMatch {
    let here: Vec<_> = ROUTES
        .iter()
        .filter_map(|(word, path, handler)| Some((*word, *handler, fit(path, segments)?)))
        .collect();
    if here.is_empty() {
        return RouteMatch::Nothing;
    }
    let mut allow: Vec<&str> = here.iter().map(|(word, ..)| *word).collect();
    if allow.contains(&"GET") && !allow.contains(&"HEAD") {
        allow.push("HEAD");
    }
    allow.push("OPTIONS");
    allow.sort_unstable();
    let row = |word: &str| here.iter().find(|(of, ..)| *of == word);
    let fallback = if *method == Method::HEAD { row("GET") } else { None };
    match row(method.as_str()).or(fallback) {
        Some((_, handler, params)) => RouteMatch::Handler(*handler, params.clone()),
        None if *method == Method::OPTIONS => RouteMatch::Options(allow.join(", ")),
        None => RouteMatch::OtherMethods(allow.join(", ")),
    }
}

fn fit(path: &str, segments: &[String]) -> Option<Vec<String>> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if parts.len() != segments.len() {
        return None;
    }
    let mut params = Vec::new();
    for (part, segment) in parts.iter().zip(segments) {
        if part.starts_with('{') {
            params.push(segment.clone());
        } else if part != segment {
            return None;
        }
    }
    Some(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_has_no_row_twice() {
        let keys: Vec<_> = ROUTES.iter().map(|(method, path, _)| (path, method)).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
