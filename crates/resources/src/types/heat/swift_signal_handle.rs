//! OS::Heat::SwiftSignalHandle: a temporary object store URL to which servers write their signals.

use super::signals::hidden;
use super::{addresses, mailbox};
use crate::behaviour::View;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::text;
use kiln_template::functions::{Fault, step_into_attribute};

pub(super) fn swift_signal_handle() -> ResourceType {
    ResourceType::new("OS::Heat::SwiftSignalHandle")
        .about("A temporary object store URL to which servers write their signals.")
        .service(Service::ObjectStore)
        .since("2014.2")
        .attrs([
            attr(
                "curl_cli",
                Str,
                "Command that sends a signal; append `--data-binary` with the JSON of the signal.",
            )
            .uncached()
            .handed_out(),
            attr("endpoint", Str, "Temporary URL to which signals are sent with PUT.")
                .uncached()
                .handed_out(),
            attr("token", Str, "Always empty, as the URL needs no token.").uncached(),
        ])
        .created_on_adopt()
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
        .reference(|view| url(view).map_or(view.name.into(), hidden))
        .attributes(attribute)
}

const URL: &str = "url";

fn url<'v>(view: &View<'v>) -> Option<&'v str> {
    text(view.data, URL)
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let object = op.context().physical_name.clone();
    let container = mailbox::make_object(op, &object).await?;
    if op.data(URL).is_none() {
        let url = addresses::object(op, "PUT", &container, &object).await?;
        op.set_data(URL, url);
    }
    op.set_id(object);
    Ok(())
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    mailbox::remove_own(op).await?;
    op.clear_id();
    Ok(())
}

fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let answer = match (name, url(view)) {
        ("token", _) => "".into(),
        ("endpoint", Some(url)) => hidden(url),
        ("curl_cli", Some(url)) => hidden(format!("curl -i -X PUT '{url}'")),
        ("endpoint" | "curl_cli", None) => Value::Null,
        _ => return Ok(None),
    };
    Ok(Some(step_into_attribute(&answer, path)))
}
