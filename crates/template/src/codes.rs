//! The table of findings: one row for each kind, with the error type that clients see.

/// A kind of finding.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// Stable id, such as `K0301`: two digits for the subject, two within it.
    pub id: &'static str,
    /// The error type that the APIs answer with, such as `StackValidationFailed`.
    pub kind: &'static str,
    /// A short description.
    pub title: &'static str,
}

macro_rules! codes {
    ($($name:ident = $id:literal $kind:literal $title:literal;)*) => {
        $(
            #[doc = concat!($id, ": ", $title, ".")]
            pub static $name: Code = Code { id: $id, kind: $kind, title: $title };
        )*
        /// Every kind of finding, by id.
        pub static ALL: &[&Code] = &[$(&$name),*];
    };
}

codes! {
    // 01: reading text
    SYNTAX = "K0101" "HTTPBadRequest" "text that is neither YAML nor JSON";
    NOT_A_MAP = "K0102" "HTTPBadRequest" "a document that is not a mapping";
    TOO_LARGE = "K0103" "RequestLimitExceeded" "a document above the size limit";
    TOO_DEEP = "K0104" "HTTPBadRequest" "a document nested too deeply";
    TOO_MANY_ALIASES = "K0105" "HTTPBadRequest" "aliases that expand to too much";
    DUPLICATE_KEY = "K0106" "HTTPBadRequest" "a duplicate key in a mapping";
    NOT_PLAIN_DATA = "K0107" "HTTPBadRequest" "a YAML value that templates cannot hold";
    // 02: versions and sections
    NO_VERSION = "K0201" "HTTPBadRequest" "no template version";
    BAD_VERSION = "K0202" "InvalidTemplateVersion" "an unknown or ambiguous template version";
    UNKNOWN_SECTION = "K0203" "StackValidationFailed" "an unknown section";
    BAD_SECTION = "K0204" "StackValidationFailed" "a section of the wrong type";
    // 03: parameters
    PARAMETER_SCHEMA = "K0301" "InvalidSchemaError" "an invalid parameter definition";
    PARAMETER_MISSING = "K0302" "UserParameterMissing" "a parameter without a value";
    PARAMETER_UNKNOWN = "K0303" "UnknownUserParameter" "a value for an undeclared parameter";
    PARAMETER_VALUE = "K0304" "StackValidationFailed" "an invalid parameter value";
    PARAMETER_IMMUTABLE = "K0305" "ImmutableParameterModified" "a changed immutable parameter";
    PARAMETER_GROUPS = "K0306" "StackValidationFailed" "invalid parameter groups";
    DUPLICATE_NAMES = "K0307" "StackValidationFailed" "a name of both a parameter and a resource";
    PARAMETER_UNJUDGED = "K0308" "HTTPBadRequest" "a parameter value of a type that its constraints do not apply to";
    // 04: resources
    RESOURCE_DEFINITION = "K0401" "StackValidationFailed" "an invalid resource definition";
    UNKNOWN_TYPE = "K0402" "StackValidationFailed" "an unknown resource type";
    UNKNOWN_PROPERTY = "K0403" "StackValidationFailed" "an unknown property";
    MISSING_PROPERTY = "K0404" "StackValidationFailed" "a required property without a value";
    PROPERTY_VALUE = "K0405" "StackValidationFailed" "an invalid property value";
    DELETION_POLICY = "K0406" "StackValidationFailed" "an invalid deletion policy";
    TOO_MANY_RESOURCES = "K0407" "RequestLimitExceeded" "more resources than allowed";
    EXTERNAL_DEPENDENCY = "K0408" "InvalidExternalResourceDependency" "an external resource with dependencies";
    DEPRECATED = "K0409" "StackValidationFailed" "something that is deprecated";
    PROPERTY_CONFLICT = "K0410" "ResourcePropertyConflict" "properties that exclude each other";
    PROPERTY_DEPENDENCY = "K0411" "ResourcePropertyDependency" "a property that requires another";
    PROPERTY_UNSPECIFIED = "K0412" "PropertyUnspecifiedError" "none of several properties, one of which is required";
    TYPE_UNAVAILABLE = "K0413" "ResourceTypeUnavailable" "a resource type whose service is missing";
    NOT_SUPPORTED = "K0414" "NotSupported" "a property value that is not supported";
    // 05: references and dependencies
    BAD_REFERENCE = "K0501" "InvalidTemplateReference" "a reference to a resource that does not exist";
    BAD_REFERENCE_IN_FUNCTION = "K0502" "StackValidationFailed" "a function that names a resource that does not exist";
    BAD_ATTRIBUTE = "K0503" "StackValidationFailed" "a reference to an attribute that does not exist";
    CYCLE = "K0504" "CircularDependencyException" "resources that depend on each other in a cycle";
    // 06: conditions
    CONDITIONS_SECTION = "K0601" "StackValidationFailed" "a conditions section that is not a mapping";
    CONDITION_DEFINITION = "K0602" "StackValidationFailed" "an invalid condition";
    CONDITION_CYCLE = "K0603" "StackValidationFailed" "conditions defined by each other";
    UNKNOWN_CONDITION = "K0604" "StackValidationFailed" "an unknown condition";
    // 07: functions
    FUNCTION_ARGUMENTS = "K0701" "StackValidationFailed" "a function with wrong arguments";
    FUNCTION_REMOVED = "K0702" "StackValidationFailed" "a function that this version no longer has";
    FUNCTION_NOT_ALLOWED = "K0703" "StackValidationFailed" "a function in a position where it is not allowed";
    FUNCTION_FAILED = "K0704" "StackValidationFailed" "a function that fails on its values";
    FUNCTION_MISPLACED = "K0705" "StackValidationFailed" "a map that looks like a function but is none";
    // 08: outputs
    OUTPUT_DEFINITION = "K0801" "StackValidationFailed" "an invalid output definition";
    // 09: environments
    ENVIRONMENT_FORMAT = "K0901" "HTTPBadRequest" "an environment that cannot be read";
    ENVIRONMENT_FILE_MISSING = "K0902" "HTTPBadRequest" "an environment file that does not exist";
    MERGE_STRATEGY_CONFLICT = "K0903" "ConflictingMergeStrategyForParam" "merge strategies that differ";
    MERGE_STRATEGY_INVALID = "K0904" "InvalidMergeStrategyForParam" "a merge strategy that does not fit";
    BAD_HOOK = "K0905" "InvalidBreakPointHook" "an unknown hook";
    BAD_RESTRICTED_ACTION = "K0906" "InvalidRestrictedAction" "an unknown restricted action";
    BAD_EVENT_SINK = "K0907" "HTTPBadRequest" "an unknown event sink";
    // 10: nested templates and files
    NESTED_TEMPLATE = "K1001" "StackValidationFailed" "a nested template that is not available";
    NESTED_TOO_DEEP = "K1002" "RequestLimitExceeded" "templates nested too deeply";
    FACADE_MISMATCH = "K1003" "StackValidationFailed" "a template that cannot stand in for a type";
    FILE_UNREADABLE = "K1004" "HTTPBadRequest" "a file that cannot be read";
    // 11: an operator's own types
    TYPE_FILE = "K1101" "HTTPBadRequest" "an invalid file of resource types";
    TYPE_CLASH = "K1102" "HTTPBadRequest" "a resource type that exists already";
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn ids_are_unique_and_sorted() {
        assert!(ALL.windows(2).all(|pair| pair[0].id < pair[1].id));
    }
}
