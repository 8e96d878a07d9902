//! OS::Barbican::GenericContainer: a set of secrets under names of one's own choice.

use super::common::{container, no_secret_twice};
use crate::declare::*;
use crate::property_access::{items, open, text};
use serde_json::Value as Json;

pub(super) fn generic_container() -> ResourceType {
    ResourceType::new("OS::Barbican::GenericContainer")
        .about("A set of secrets under names of one's own choice.")
        .with(container)
        .props([prop("secrets", List, "Secrets that are put in the container, each only once.")
            .each(record([
                prop("name", Str, "Name under which the container lists the secret.").required(),
                prop("ref", Str, "Reference URL of the secret.").required().is(SECRET),
            ]))])
        .check(|members| {
            let secrets = items(members, "secrets").iter().filter_map(|it| open(it).as_map());
            no_secret_twice(secrets.filter_map(|secret| text(secret, "ref")))
        })
        .adjust_fields(|_, _, fields| {
            let mut secrets = fields.remove("secrets").unwrap_or_else(|| Json::Array(Vec::new()));
            for secret in secrets.as_array_mut().into_iter().flatten() {
                secret["secret_ref"] = secret["ref"].take();
                secret.as_object_mut().map(|secret| secret.remove("ref"));
            }
            fields.insert("type".into(), "generic".into());
            fields.insert("secret_refs".into(), secrets);
        })
}
