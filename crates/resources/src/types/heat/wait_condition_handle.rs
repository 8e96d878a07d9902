//! OS::Heat::WaitConditionHandle: an address with credentials through which a server reports to a
//! wait condition.

use super::signals::{native_signal, stack_user};
use crate::declare::*;

pub(super) fn wait_condition_handle() -> ResourceType {
    ResourceType::new("OS::Heat::WaitConditionHandle")
        .about("An address with credentials through which a server reports to a wait condition.")
        .suspendable()
        .since("2014.2")
        .props([prop("signal_transport", Str)
            .default("TOKEN_SIGNAL")
            .one_of([
                "CFN_SIGNAL",
                "TEMP_URL_SIGNAL",
                "HEAT_SIGNAL",
                "NO_SIGNAL",
                "ZAQAR_SIGNAL",
                "TOKEN_SIGNAL",
            ])
            .since("6.0.0")])
        .attrs([
            attr("curl_cli", Str).uncached(),
            attr("endpoint", Str).uncached(),
            attr("signal", Str).uncached(),
            attr("token", Str).uncached(),
        ])
        .creates(|op| Box::pin(stack_user(op)))
        .answers(|_, _, _| Ok(Some(Value::Null)))
        .on_signal(native_signal)
}
