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
    ConflictError "ConflictError",
    ConnectFailure "ConnectFailure",
    EndpointNotFound "EndpointNotFound",
    EntityNotFound "EntityNotFound",
    Error "Error",
    Exception "Exception",
    ExternalIpAddressExhaustedClient "ExternalIpAddressExhaustedClient",
    Forbidden "Forbidden",
    ForbiddenError "ForbiddenError",
    HttpAuthError "HTTPAuthError",
    HttpClientError "HTTPClientError",
    HttpError "HTTPError",
    HttpServerError "HTTPServerError",
    HostNotCompatibleWithFixedIpsClient "HostNotCompatibleWithFixedIpsClient",
    IndexError "IndexError",
    InternalError "InternalError",
    InternalServerError "InternalServerError",
    InvalidIpForNetworkClient "InvalidIpForNetworkClient",
    InvalidIpForSubnetClient "InvalidIpForSubnetClient",
    InvalidTemplateAttribute "InvalidTemplateAttribute",
    IpAddressAlreadyAllocatedClient "IpAddressAlreadyAllocatedClient",
    IpAddressGenerationFailureClient "IpAddressGenerationFailureClient",
    IpAddressInUseClient "IpAddressInUseClient",
    MacAddressInUseClient "MacAddressInUseClient",
    MalformedRequest "MalformedRequest",
    NetworkInUseClient "NetworkInUseClient",
    NetworkNotFoundClient "NetworkNotFoundClient",
    NotFound "NotFound",
    NotSupported "NotSupported",
    OctaviaClientException "OctaviaClientException",
    OverLimit "OverLimit",
    OverQuota "OverQuota",
    OverQuotaClient "OverQuotaClient",
    PhysicalResourceExists "PhysicalResourceExists",
    PhysicalResourceNameAmbiguity "PhysicalResourceNameAmbiguity",
    PortInUseClient "PortInUseClient",
    PortNotFoundClient "PortNotFoundClient",
    RequestLimitExceeded "RequestLimitExceeded",
    ResourceActionNotSupported "ResourceActionNotSupported",
    ResourceActionRestricted "ResourceActionRestricted",
    ResourceInError "ResourceInError",
    ResourceNotFound "ResourceNotFound",
    ResourceTypeUnavailable "ResourceTypeUnavailable",
    ResourceUnknownStatus "ResourceUnknownStatus",
    ServiceUnavailableError "ServiceUnavailableError",
    StackValidationFailed "StackValidationFailed",
    StateInvalidClient "StateInvalidClient",
    SwiftSignalFailure "SwiftSignalFailure",
    SwiftSignalTimeout "SwiftSignalTimeout",
    TooManyRequests "TooManyRequests",
    Unauthorized "Unauthorized",
    UnauthorizedError "UnauthorizedError",
    Unknown "Unknown",
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
