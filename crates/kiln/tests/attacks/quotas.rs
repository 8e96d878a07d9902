//! The quota of stacks, when many requests come at once.

use super::target::MAX_STACKS;
use crate::cloud::kiln_process::KilnProcess;
use crate::cloud::users::User;
use futures_util::future::join_all;
use serde_json::json;

/// How many requests come at once.
const AT_ONCE: usize = 60;

/// The cloud is asked while this template is validated, so that requests overlap.
const ASKING: &str = "
heat_template_version: 2021-04-16
parameters: {flavor: {type: string, default: m1.tiny, constraints: [{custom_constraint: nova.flavor}]}}
";

/// Sixty creations come at once when the quota has room for twelve.
pub(super) async fn they_hold_at_once(kiln: &KilnProcess) {
    let user = User::member(kiln, "quinn").await;
    let create = async |name: String| {
        let body = json!({ "stack_name": name, "template": ASKING });
        user.ask(kiln, "POST", "/stacks", Some(body)).await
    };
    let half = MAX_STACKS / 2;
    for number in 0..half {
        let made = create(format!("first-{number}")).await;
        assert_eq!(made.status, 201, "{}", made.body);
    }
    let replies = join_all((0..AT_ONCE).map(|number| create(format!("then-{number}")))).await;
    let (made, refused): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.status == 201);
    assert_eq!(made.len(), MAX_STACKS - half);
    for reply in refused {
        let message = reply.body["error"]["message"].as_str().unwrap_or_default();
        let wanted = "You have reached the maximum stacks per tenant, 24.";
        assert!(message.contains(wanted), "{}: {}", reply.status, reply.body);
    }
    let listed = user.ask(kiln, "GET", "/stacks", None).await.body;
    assert_eq!(listed["stacks"].as_array().expect("a list").len(), MAX_STACKS);
}
