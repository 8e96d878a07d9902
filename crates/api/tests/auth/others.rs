//! The other ways in: none at all, an operator's own; and the choice of an identity service.

use super::{headers, seen};
use async_trait::async_trait;
use axum::http::StatusCode;
use kiln_api::auth::{AuthUrl, Authenticator, Backend, Custom, NoAuth, Reason};
use kiln_api::caller::{Caller, Scope};
use kiln_api::policy::Policy;
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn where_everybody_is_let_in_they_are_administrators() {
    let noauth = NoAuth::default();
    let caller = noauth.authenticate(&headers(&[("x-roles", "nothing")]), None).await.unwrap();
    assert_eq!((caller.user_id.as_str(), caller.user_name.as_str()), ("admin", "admin"));
    assert_eq!((caller.project_id.as_str(), caller.project_name.as_str()), ("admin", "admin"));
    assert_eq!(
        (caller.roles.as_slice(), caller.scope),
        (&["admin", "manager", "member", "reader"].map(str::to_owned)[..], Scope::Project)
    );
    assert_eq!(caller.auth_url, "url");
    assert!(Policy::new().is_admin(&caller));
    let request = headers(&[("x-auth-user", "bob"), ("x-auth-project", "lab")]);
    let described = json!({ "token": { "catalog": [{ "type": "compute" }] } });
    let caller = NoAuth::new(Some(&described)).authenticate(&request, None).await.unwrap();
    assert_eq!((caller.user_id.as_str(), caller.project_id.as_str()), ("bob", "lab"));
    assert_eq!(*caller.catalog, json!([{ "type": "compute" }]));
}

struct OnlyAnn;

#[async_trait]
impl Backend for OnlyAnn {
    async fn accepts(&self, caller: &Caller) -> bool {
        let password = caller.password.as_ref().and_then(|password| password.expose().as_text());
        caller.user_name == "ann"
            && caller.project_id == "p1"
            && password.is_some_and(|password| &**password == "ann-password")
    }
}

#[tokio::test]
async fn an_operators_own_backend_says_yes_or_no() {
    let custom = Custom::new(Arc::new(OnlyAnn), vec!["member".into(), "reader".into()]);
    let ann = [("x-auth-user", "ann"), ("x-auth-key", "ann-password"), ("x-roles", "admin")];
    let caller = custom.authenticate(&headers(&ann), Some("p1")).await.unwrap();
    assert_eq!(caller.roles, ["member", "reader"]);
    assert_eq!((caller.project_id.as_str(), caller.scope), ("p1", Scope::Project));
    let wrong =
        headers(&[("x-auth-user", "ann"), ("x-project-id", "p1"), ("accept", "application/json")]);
    let (status, challenge, _, body) =
        seen(custom.authenticate(&wrong, Some("p1")).await.unwrap_err()).await;
    assert_eq!((status, challenge), (StatusCode::UNAUTHORIZED, None));
    assert!(body.contains("<br /><br />\\nBackend authentication failed\\n\\n"), "{body}");
    assert!(custom.authenticate(&headers(&ann), Some("p2")).await.is_err());
}

#[tokio::test]
async fn clients_choose_an_identity_service_only_among_those_allowed() {
    let one = AuthUrl::fixed("http://one.example/v3");
    let lie = headers(&[("x-auth-url", "http://evil.example")]);
    assert_eq!(one.choose(&lie).unwrap(), "http://one.example/v3");
    let many = AuthUrl { multi_cloud: true, allowed: vec!["http://two.example/v3".into()], ..one };
    assert_eq!(
        many.choose(&headers(&[("x-auth-url", "http://two.example/v3")])).unwrap(),
        "http://two.example/v3"
    );
    for missing in [headers(&[]), headers(&[("x-auth-url", "")])] {
        let (status, challenge, kind, body) = seen(many.choose(&missing).unwrap_err()).await;
        assert_eq!((status, challenge), (StatusCode::BAD_REQUEST, None));
        assert_eq!(kind, "text/plain; charset=UTF-8");
        assert_eq!(
            body,
            "400 Bad Request\n\nThe server could not comply with the request since it is either malformed or \
             otherwise incorrect.\n\n Request missing required header X-Auth-Url  "
        );
    }
    let wrong = headers(&[("x-auth-url", "http://<b>/v3"), ("accept", "application/json")]);
    let rejection = many.choose(&wrong).unwrap_err();
    assert_eq!(rejection.reason, Reason::AuthUrlNotAllowed("http://<b>/v3".into()));
    let (status, challenge, _, body) = seen(rejection).await;
    assert_eq!((status, challenge), (StatusCode::UNAUTHORIZED, None));
    assert!(
        body.contains("\\nHeader X-Auth-Url \\\"http://<b>/v3\\\" not an allowed endpoint\\n\\n"),
        "{body}"
    );
    // A browser does not run a script that the client sent.
    let page = headers(&[("x-auth-url", "<script>"), ("accept", "text/html")]);
    let (_, _, _, body) = seen(many.choose(&page).unwrap_err()).await;
    assert!(body.contains("&lt;script&gt;") && !body.contains("<script>"), "{body}");
}
