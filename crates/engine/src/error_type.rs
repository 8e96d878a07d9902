//! The types of errors that requests end with: one table for the wire name, the HTTP status and the AWS code.

use kiln_template::Diagnostic;
use std::fmt;

/// What an error is called in the AWS interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwsCode {
    /// The caller may not do this.
    AccessDenied,
    /// There is a stack of this name.
    AlreadyExists,
    /// `InvalidAction`: the stack has an action in progress.
    ActionInProgress,
    /// The service failed.
    InternalFailure,
    /// Something in the request is wrong.
    InvalidParameterValue,
    /// A limit is exceeded.
    RequestLimitExceeded,
    /// The service, or one that it needs, cannot be reached now.
    ServiceUnavailable,
}

macro_rules! error_types {
    ($($status:literal { $($variant:ident $name:literal $aws:ident,)* })*) => {
        /// The type of an error, as clients of the native API know it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorType {
            $($(
                #[doc = concat!("`", $name, "`, HTTP status ", stringify!($status), ".")]
                $variant,
            )*)*
        }

        impl ErrorType {
            /// Every type.
            pub const ALL: &[ErrorType] = &[$($(ErrorType::$variant,)*)*];

            /// The name on the wire.
            pub const fn name(self) -> &'static str {
                match self { $($(ErrorType::$variant => $name,)*)* }
            }

            /// The HTTP status.
            pub const fn status(self) -> u16 {
                match self { $($(ErrorType::$variant => $status,)*)* }
            }

            /// The code in the AWS interfaces.
            pub const fn aws(self) -> AwsCode {
                match self { $($(ErrorType::$variant => AwsCode::$aws,)*)* }
            }
        }
    };
}

error_types! {
    400 {
        AttributeError "AttributeError" InvalidParameterValue,
        CircularDependencyException "CircularDependencyException" InvalidParameterValue,
        DownloadLimitExceeded "DownloadLimitExceeded" InvalidParameterValue,
        HttpBadRequest "HTTPBadRequest" InvalidParameterValue,
        ImmutableParameterModified "ImmutableParameterModified" InvalidParameterValue,
        Invalid "Invalid" InvalidParameterValue,
        InvalidBreakPointHook "InvalidBreakPointHook" InvalidParameterValue,
        InvalidExternalResourceDependency "InvalidExternalResourceDependency" InvalidParameterValue,
        InvalidParameterValue "InvalidParameterValue" InvalidParameterValue,
        InvalidRestrictedAction "InvalidRestrictedAction" InvalidParameterValue,
        InvalidSchemaError "InvalidSchemaError" InvalidParameterValue,
        InvalidTemplateReference "InvalidTemplateReference" InvalidParameterValue,
        InvalidTemplateVersion "InvalidTemplateVersion" InvalidParameterValue,
        NotSupported "NotSupported" InvalidParameterValue,
        PhysicalResourceIdAmbiguity "PhysicalResourceIDAmbiguity" InvalidParameterValue,
        PropertyUnspecifiedError "PropertyUnspecifiedError" InvalidParameterValue,
        RequestLimitExceeded "RequestLimitExceeded" RequestLimitExceeded,
        ResourceActionNotSupported "ResourceActionNotSupported" InvalidParameterValue,
        ResourcePropertyConflict "ResourcePropertyConflict" InvalidParameterValue,
        ResourceTypeUnavailable "ResourceTypeUnavailable" InvalidParameterValue,
        StackValidationFailed "StackValidationFailed" InvalidParameterValue,
        UnknownUserParameter "UnknownUserParameter" InvalidParameterValue,
        UserParameterMissing "UserParameterMissing" InvalidParameterValue,
        ValueError "ValueError" InvalidParameterValue,
    }
    403 {
        Forbidden "Forbidden" AccessDenied,
        HttpForbidden "HTTPForbidden" AccessDenied,
    }
    404 {
        EntityNotFound "EntityNotFound" InvalidParameterValue,
        HttpNotFound "HTTPNotFound" InvalidParameterValue,
        NotFound "NotFound" InvalidParameterValue,
        ResourceNotAvailable "ResourceNotAvailable" InvalidParameterValue,
        ResourceNotFound "ResourceNotFound" InvalidParameterValue,
        SnapshotNotFound "SnapshotNotFound" InvalidParameterValue,
    }
    405 { HttpMethodNotAllowed "HTTPMethodNotAllowed" InvalidParameterValue, }
    409 {
        ActionInProgress "ActionInProgress" ActionInProgress,
        PlanMoved "PlanMoved" InvalidParameterValue,
        StackExists "StackExists" AlreadyExists,
    }
    429 { HttpTooManyRequests "HTTPTooManyRequests" InvalidParameterValue, }
    500 {
        AuthorizationFailure "AuthorizationFailure" AccessDenied,
        ConflictingMergeStrategyForParam "ConflictingMergeStrategyForParam" InternalFailure,
        InternalError "InternalError" InternalFailure,
        InvalidMergeStrategyForParam "InvalidMergeStrategyForParam" InternalFailure,
        ResourcePropertyDependency "ResourcePropertyDependency" InternalFailure,
    }
    503 {
        HttpServiceUnavailable "HTTPServiceUnavailable" ServiceUnavailable,
        StoreUnavailable "StoreUnavailable" ServiceUnavailable,
    }
}

impl ErrorType {
    /// The type of a wire name.
    pub fn parse(name: &str) -> Option<ErrorType> {
        ErrorType::ALL.iter().copied().find(|it| it.name() == name)
    }
}

impl From<&Diagnostic> for ErrorType {
    fn from(found: &Diagnostic) -> ErrorType {
        ErrorType::parse(found.kind).unwrap_or(ErrorType::InternalError)
    }
}

impl fmt::Display for ErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_finding_of_a_template_has_an_error_type() {
        for code in kiln_template::codes::ALL {
            assert!(ErrorType::parse(code.kind).is_some(), "{}: {}", code.id, code.kind);
        }
    }

    #[test]
    fn a_wire_name_stands_for_one_type() {
        let names: BTreeSet<&str> = ErrorType::ALL.iter().map(|it| it.name()).collect();
        assert_eq!(names.len(), ErrorType::ALL.len());
        for it in ErrorType::ALL {
            assert_eq!(ErrorType::parse(it.name()), Some(*it));
        }
        assert_eq!(ErrorType::parse("KeyError"), None);
    }
}
