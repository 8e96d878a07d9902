//! OS::Heat::WaitConditionHandle: an address with credentials through which a server reports to a
//! wait condition.

use super::addresses::{self, Signed};
use super::signal_transport::SignalTransport;
use super::signals::{TRANSPORT, endpoint, nameless, native_signal, with_user};
use super::stack_user::{self, User};
use super::{credentials, mailbox};
use crate::behaviour::{SignalStorage, View};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{open, text};
use kiln_template::Secret;
use kiln_template::functions::{Fault, step_into_attribute};
use serde_json::{Value as Json, json};

pub(super) fn wait_condition_handle() -> ResourceType {
    ResourceType::new("OS::Heat::WaitConditionHandle")
        .about("An address with credentials through which a server reports to a wait condition.")
        .suspendable()
        .since("2014.2")
        .props([prop(
            "signal_transport",
            Str,
            "How servers send their signals. With `NO_SIGNAL` they send none.",
        )
        .default(SignalTransport::Token.name())
        .one_of(SignalTransport::OF_HANDLES.map(SignalTransport::name))
        .since("6.0.0")])
        .attrs([
            attr(
                "curl_cli",
                Str,
                "Command that sends a signal; append `--data-binary` with the JSON of the signal.",
            )
            .uncached()
            .handed_out(),
            attr("endpoint", Str, "URL to which signals are sent with POST and a token.")
                .uncached(),
            attr(
                "signal",
                Str,
                "JSON text with what a server needs to signal, unless tokens are used.",
            )
            .uncached()
            .handed_out(),
            attr("token", Str, "Token with which a server may signal, until it expires.")
                .uncached()
                .handed_out(),
        ])
        .with(with_user)
        .creates(|op| Box::pin(create(op)))
        .attributes(attribute)
        .on_signal(native_signal)
        .signals_kept_in(SignalStorage::Metadata)
}

const TOKEN: &str = "token";
const SIGNAL: &str = "signal";
const IS_INSECURE: &str = "insecure";

async fn create(op: &mut Op) -> Result<(), OpError> {
    let transport = SignalTransport::of(op, SignalTransport::Token)?;
    op.set_data(TRANSPORT, transport.name());
    if !stack_user::are_there(op) {
        return nameless(op).await;
    }
    let user = stack_user::own(op).await?;
    if transport == SignalTransport::Token {
        return with_token(op, &user).await;
    }
    if op.data(SIGNAL).is_none() {
        let signal = signal(op, transport, &user).await?;
        op.set_data(SIGNAL, secret(signal.to_string()));
    }
    Ok(())
}

async fn with_token(op: &mut Op, user: &User) -> Result<(), OpError> {
    if op.data("endpoint").is_none() {
        let url = addresses::native(op, user).await?;
        op.set_data("endpoint", url);
    }
    if op.stack().guests.is_insecure {
        op.set_data(IS_INSECURE, true);
    }
    if op.data(TOKEN).is_none() {
        let token = stack_user::token(op, user).await?;
        op.set_data(TOKEN, secret(token));
    }
    Ok(())
}

/// The value of the attribute `signal`: URL or credentials for a signal.
async fn signal(op: &mut Op, transport: SignalTransport, user: &User) -> Result<Json, OpError> {
    Ok(match transport {
        SignalTransport::Cfn => {
            json!({ "alarm_url": addresses::signed(op, Signed::Signal, user).await? })
        }
        SignalTransport::TempUrl => {
            let object = op.context().physical_name.clone();
            let container = mailbox::make_object(op, &object).await?;
            json!({ "alarm_url": addresses::object(op, "PUT", &container, &object).await? })
        }
        SignalTransport::Heat => {
            let mut told = credentials::of(op, user).await?;
            told["alarm_url"] = addresses::native(op, user).await?.into();
            told
        }
        SignalTransport::Zaqar => {
            let mut told = credentials::of(op, user).await?;
            let queue = op.context().physical_name.clone();
            mailbox::make_queue(op, user, &queue).await?;
            told["queue_id"] = (*queue).into();
            told
        }
        SignalTransport::NoSignal | SignalTransport::Token => json!({}),
    })
}

fn secret(text: String) -> Value {
    Value::Secret(Secret::new(text.into()))
}

fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let answer = match name {
        "token" | "signal" => view.data.get(name).cloned().unwrap_or_default(),
        "endpoint" => endpoint(view),
        "curl_cli" => curl_cli(view),
        _ => Value::Null,
    };
    Ok(Some(step_into_attribute(&answer, path)))
}

/// The value of the attribute `curl_cli`: a command that signals the handle, without the body.
fn curl_cli(view: &View<'_>) -> Value {
    let (Some(token), Value::Text(url)) = (text(view.data, TOKEN), endpoint(view)) else {
        return Value::Null;
    };
    let is_insecure = view.data.get(IS_INSECURE).map(open).is_some_and(Value::is_truthy);
    let insecure = if is_insecure { "--insecure " } else { "" };
    secret(format!(
        "curl {insecure}-i -X POST -H 'X-Auth-Token: {token}' -H 'Content-Type: application/json' -H \
         'Accept: application/json' {url}"
    ))
}
