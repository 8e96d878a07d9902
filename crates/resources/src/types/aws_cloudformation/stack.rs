//! AWS::CloudFormation::Stack: a nested stack made from a template at a URL.

use crate::declare::*;

pub(super) fn stack() -> ResourceType {
    ResourceType::new("AWS::CloudFormation::Stack")
        .about("A nested stack made from a template at a URL.")
        .nested()
        .any_attribute()
        .props([
            prop("Parameters", Map).updatable(),
            prop("TemplateURL", Str).required().updatable(),
            prop("TimeoutInMinutes", Int).updatable(),
        ])
}
