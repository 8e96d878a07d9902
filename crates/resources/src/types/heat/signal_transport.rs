//! The ways in which a guest can send a signal.

use crate::op::{FailureClass, Op, OpError};

/// The value of a property `signal_transport`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignalTransport {
    /// A signed URL of the CloudFormation API.
    Cfn,
    /// A temporary URL of the object store.
    TempUrl,
    /// The signal of the native API, with the credentials of a stack user.
    Heat,
    /// No signal at all.
    NoSignal,
    /// A queue of the messaging service.
    Zaqar,
    /// The signal of the native API, with a token.
    Token,
}

impl SignalTransport {
    /// The transports of a deployment.
    pub(super) const OF_DEPLOYMENTS: [SignalTransport; 5] = [
        SignalTransport::Cfn,
        SignalTransport::TempUrl,
        SignalTransport::Heat,
        SignalTransport::NoSignal,
        SignalTransport::Zaqar,
    ];

    /// The transports of a wait condition handle.
    pub(super) const OF_HANDLES: [SignalTransport; 6] = [
        SignalTransport::Cfn,
        SignalTransport::TempUrl,
        SignalTransport::Heat,
        SignalTransport::NoSignal,
        SignalTransport::Zaqar,
        SignalTransport::Token,
    ];

    /// The name that templates use.
    pub(super) const fn name(self) -> &'static str {
        match self {
            SignalTransport::Cfn => "CFN_SIGNAL",
            SignalTransport::TempUrl => "TEMP_URL_SIGNAL",
            SignalTransport::Heat => "HEAT_SIGNAL",
            SignalTransport::NoSignal => "NO_SIGNAL",
            SignalTransport::Zaqar => "ZAQAR_SIGNAL",
            SignalTransport::Token => "TOKEN_SIGNAL",
        }
    }

    /// The transport that a resource asks for.
    pub(super) fn of(op: &Op, default: SignalTransport) -> Result<SignalTransport, OpError> {
        let Some(name) = op.text("signal_transport") else { return Ok(default) };
        let known = Self::OF_HANDLES.into_iter().find(|transport| transport.name() == name);
        known.ok_or_else(|| {
            OpError::failed(
                FailureClass::ValueError,
                format!("signal_transport {name} is not known"),
            )
        })
    }
}
