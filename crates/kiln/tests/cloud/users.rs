//! Users whom a test creates, with their projects and tokens.

use super::kiln_process::{KilnProcess, Reply, Who};
use super::signals::login;
use serde_json::{Value as Json, json};

/// A user with one role in one project.
pub(crate) struct User {
    pub(crate) token: String,
    pub(crate) id: String,
    pub(crate) project: String,
}

impl User {
    /// A user with a role in a project that exists.
    pub(crate) async fn with(kiln: &KilnProcess, name: &str, role: &str, project: &str) -> User {
        let roles = format!("/roles?name={role}");
        let roles = kiln.identity(Who::Admin, "GET", &roles, None).await.body;
        let role = roles["roles"][0]["id"].as_str().expect("a role").to_owned();
        let body = json!({ "user": { "name": name, "password": name, "domain_id": "default" } });
        let made = kiln.identity(Who::Admin, "POST", "/users", Some(body)).await.body;
        let id = made["user"]["id"].as_str().expect("a user").to_owned();
        let grant = format!("/projects/{project}/users/{id}/roles/{role}");
        assert_eq!(kiln.identity(Who::Admin, "PUT", &grant, None).await.status, 204);
        let known = json!({
            "user_id": id, "password": name, "project_id": project, "auth_url": kiln.identity,
        });
        User { token: login(kiln, &known).await, id, project: project.to_owned() }
    }

    /// A member of a new project.
    pub(crate) async fn member(kiln: &KilnProcess, name: &str) -> User {
        let body = json!({ "project": { "name": name, "domain_id": "default" } });
        let made = kiln.identity(Who::Admin, "POST", "/projects", Some(body)).await.body;
        let project = made["project"]["id"].as_str().expect("a project").to_owned();
        User::with(kiln, name, "member", &project).await
    }

    /// Asks the orchestration API; the path stands behind the project.
    pub(crate) async fn ask(
        &self,
        kiln: &KilnProcess,
        method: &str,
        path: &str,
        body: Option<Json>,
    ) -> Reply {
        let url = format!("{}/{}{path}", kiln.orchestration(), self.project);
        let request = kiln.client().request(method.parse().expect("a method"), url);
        let mut request = request.header("X-Auth-Token", &self.token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.expect("an answer");
        let status = response.status().as_u16();
        Reply { status, body: response.json().await.unwrap_or_default() }
    }
}
