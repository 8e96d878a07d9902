//! The classes of failures: one table of those that Kiln raises itself, and room for those that others name.

use std::fmt;
use std::sync::Arc;

macro_rules! failure_classes {
    ($($variant:ident $name:literal,)*) => {
        /// The class of a failure, as users see it in front of the message.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum FailureClass {
            $(
                #[doc = concat!("`", $name, "`.")]
                $variant,
            )*
            /// A class that is not in the table, such as the kind of a template's fault. Only
            /// [`FailureClass::from_name`] creates it, so that a class has one representation.
            Other(Arc<str>),
        }

        impl FailureClass {
            /// Every class of the table.
            pub const ALL: &[FailureClass] = &[$(FailureClass::$variant,)*];

            /// Returns the name that users see and that records store.
            pub fn name(&self) -> &str {
                match self {
                    $(FailureClass::$variant => $name,)*
                    FailureClass::Other(name) => name,
                }
            }

            /// Finds the class of a name; a name that is not in the table is a class of its own.
            pub fn from_name(name: &str) -> FailureClass {
                match name {
                    $($name => FailureClass::$variant,)*
                    _ => FailureClass::Other(name.into()),
                }
            }
        }
    };
}

failure_classes! {
    AuthorizationFailure "AuthorizationFailure",
    BadRequest "BadRequest",
    Conflict "Conflict",
    ConnectFailure "ConnectFailure",
    EndpointNotFound "EndpointNotFound",
    EntityNotFound "EntityNotFound",
    Error "Error",
    Exception "Exception",
    ExternalIpAddressExhaustedClient "ExternalIpAddressExhaustedClient",
    Forbidden "Forbidden",
    HostNotCompatibleWithFixedIpsClient "HostNotCompatibleWithFixedIpsClient",
    HttpError "HTTPError",
    IndexError "IndexError",
    InternalError "InternalError",
    InvalidIpForNetworkClient "InvalidIpForNetworkClient",
    InvalidIpForSubnetClient "InvalidIpForSubnetClient",
    InvalidTemplateAttribute "InvalidTemplateAttribute",
    IpAddressAlreadyAllocatedClient "IpAddressAlreadyAllocatedClient",
    IpAddressGenerationFailureClient "IpAddressGenerationFailureClient",
    IpAddressInUseClient "IpAddressInUseClient",
    MacAddressInUseClient "MacAddressInUseClient",
    NetworkInUseClient "NetworkInUseClient",
    NetworkNotFoundClient "NetworkNotFoundClient",
    NotFound "NotFound",
    NotSupported "NotSupported",
    OverLimit "OverLimit",
    OverQuotaClient "OverQuotaClient",
    PhysicalResourceExists "PhysicalResourceExists",
    PhysicalResourceNameAmbiguity "PhysicalResourceNameAmbiguity",
    PortInUseClient "PortInUseClient",
    PortNotFoundClient "PortNotFoundClient",
    RequestLimitExceeded "RequestLimitExceeded",
    ResourceActionNotSupported "ResourceActionNotSupported",
    ResourceActionRestricted "ResourceActionRestricted",
    ResourceInError "ResourceInError",
    ResourceTypeUnavailable "ResourceTypeUnavailable",
    ResourceUnknownStatus "ResourceUnknownStatus",
    StackValidationFailed "StackValidationFailed",
    StateInvalidClient "StateInvalidClient",
    SwiftSignalFailure "SwiftSignalFailure",
    SwiftSignalTimeout "SwiftSignalTimeout",
    TooManyRequests "TooManyRequests",
    Unauthorized "Unauthorized",
    UserParameterMissing "UserParameterMissing",
    ValueError "ValueError",
    WaitConditionFailure "WaitConditionFailure",
    WaitConditionTimeout "WaitConditionTimeout",
}

impl FailureClass {
    /// The class of an error of the network service whose client has a class of its own for this type of error.
    pub(super) fn of_network(error_type: &str) -> Option<FailureClass> {
        let class = FailureClass::from_name(&format!("{error_type}Client"));
        (!matches!(class, FailureClass::Other(_))).then_some(class)
    }

    /// The class of which it is a special case, by the HTTP status of the reply; most classes are special cases of none.
    pub fn general(&self) -> FailureClass {
        match self {
            FailureClass::ExternalIpAddressExhaustedClient
            | FailureClass::InvalidIpForNetworkClient
            | FailureClass::InvalidIpForSubnetClient
            | FailureClass::StateInvalidClient => FailureClass::BadRequest,
            FailureClass::HostNotCompatibleWithFixedIpsClient
            | FailureClass::IpAddressAlreadyAllocatedClient
            | FailureClass::IpAddressGenerationFailureClient
            | FailureClass::IpAddressInUseClient
            | FailureClass::MacAddressInUseClient
            | FailureClass::NetworkInUseClient
            | FailureClass::OverQuotaClient
            | FailureClass::PortInUseClient => FailureClass::Conflict,
            FailureClass::NetworkNotFoundClient | FailureClass::PortNotFoundClient => {
                FailureClass::NotFound
            }
            class => class.clone(),
        }
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_found_by_its_name() {
        let other = FailureClass::Other("ImageNotFound".into());
        for class in FailureClass::ALL.iter().chain([&other]) {
            assert_eq!(FailureClass::from_name(class.name()), *class);
            assert_eq!(class.to_string(), class.name());
        }
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(FailureClass::ALL.is_sorted_by(|a, b| a.name() < b.name()));
    }
}
