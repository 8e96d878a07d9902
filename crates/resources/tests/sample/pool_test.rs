//! OS::Example::Pool against a service with pools.

use super::pool::pool;
use crate::driving::{Drive, Seam, World};
use crate::stack::{json, members};
use kiln_cloud::{Call, CallError, Method, Reply};
use kiln_resources::behaviour::OperationKind;
use serde_json::json as body;

/// A service with pools that are ready at the second look.
#[derive(Default)]
struct Pools {
    descriptions: Vec<String>,
    looks: usize,
}

impl World for Pools {
    fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
        let body = match (call.request.method, call.request.path.checked().expect("a path")) {
            (Method::Post, _) => {
                let sent = call.request.body.clone().unwrap_or_default();
                self.descriptions.push(sent["pool"]["description"].as_str().unwrap_or("").into());
                body!({ "pool": { "id": "0", "status": "BUILD" } })
            }
            (Method::Get, "/pools") => {
                let all = self.descriptions.iter().enumerate();
                let all = all.map(|(id, d)| body!({ "id": id.to_string(), "description": d }));
                body!({ "pools": all.collect::<Vec<_>>() })
            }
            (Method::Get, _) => {
                self.looks += 1;
                let status = if self.looks > 1 { "ACTIVE" } else { "BUILD" };
                body!({ "pool": { "id": "0", "status": status, "free": 254 } })
            }
            _ => body!(null),
        };
        Ok(Reply::new(200, body))
    }
}

const PROPERTIES: &str = r#"{"prefixes": ["10.0.0.0/24"], "ip_version": 4}"#;

#[test]
fn a_pool_is_made_and_waited_for() {
    let mut drive = Drive::new(members(PROPERTIES));
    drive.run(&pool(), OperationKind::Create, &mut Pools::default());
    assert_eq!(drive.result(), &Ok(()));
    assert_eq!(drive.context.physical_id.as_deref(), Some("0"));
    assert_eq!(drive.shown, json(r#"{"free": 254, "id": "0", "status": "ACTIVE"}"#));
}

#[test]
fn a_pool_is_made_once_wherever_the_operation_was_interrupted() {
    for at in 0..4 {
        for seam in [Seam::Before(at), Seam::After(at)] {
            let (mut drive, mut pools) = (Drive::new(members(PROPERTIES)), Pools::default());
            drive.run_through(&pool(), OperationKind::Create, &mut pools, seam);
            assert_eq!(drive.result(), &Ok(()), "{seam:?}");
            assert_eq!(pools.descriptions.len(), 1, "{seam:?}");
        }
    }
}
