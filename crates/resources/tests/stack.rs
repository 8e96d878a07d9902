//! A made-up stack around a resource: its siblings, its nested stack.

use kiln_resources::behaviour::{NestedStack, Siblings, View};
use kiln_resources::declare::{Members, Value};
use kiln_template::functions::{Fault, step_into_attribute};
use std::sync::Arc;

/// Another resource of the stack.
pub(crate) struct Sibling {
    pub(crate) name: &'static str,
    pub(crate) reference: &'static str,
    pub(crate) properties: Members,
    pub(crate) metadata: Value,
    pub(crate) size: usize,
    pub(crate) is_complete: bool,
}

impl Sibling {
    pub(crate) fn new(name: &'static str, reference: &'static str) -> Sibling {
        let (properties, metadata) = (Members::new(), Value::Null);
        Sibling { name, reference, properties, metadata, size: 0, is_complete: true }
    }
}

/// The other resources of a stack; whatever else it has, it has a balancer `lb`.
#[derive(Default)]
pub(crate) struct Stack(pub(crate) Vec<Sibling>);

impl Stack {
    fn get(&self, name: &str) -> Option<&Sibling> {
        self.0.iter().find(|sibling| sibling.name == name)
    }
}

impl Siblings for Stack {
    fn by_reference(&self, reference: &str) -> Option<Arc<str>> {
        let found = self.0.iter().find(|sibling| sibling.reference == reference)?;
        Some(found.name.into())
    }

    fn properties(&self, name: &str) -> Option<Arc<Members>> {
        Some(self.get(name)?.properties.clone().into())
    }

    fn metadata(&self, name: &str) -> Option<Value> {
        Some(self.get(name)?.metadata.clone())
    }

    fn size(&self, name: &str) -> Option<usize> {
        Some(self.get(name)?.size)
    }

    fn is_complete(&self, name: &str) -> bool {
        self.get(name).is_some_and(|sibling| sibling.is_complete)
    }

    fn type_name(&self, name: &str) -> Option<Arc<str>> {
        match name {
            "lb" => Some("AWS::ElasticLoadBalancing::LoadBalancer".into()),
            name => self.get(name).map(|_| "OS::Heat::None".into()),
        }
    }
}

/// A nested stack: members with one attribute, `output`.
pub(crate) struct Nested(pub(crate) Vec<(&'static str, Value)>);

impl Nested {
    fn get(&self, member: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| *name == member).map(|(_, output)| output)
    }
}

impl NestedStack for Nested {
    fn members(&self) -> Vec<Arc<str>> {
        self.0.iter().map(|(name, _)| Arc::from(*name)).collect()
    }

    fn reference(&self, member: &str) -> Option<Value> {
        self.get(member).map(|_| format!("ref-{member}").into())
    }

    fn attribute(&self, member: &str, attribute: &str, path: &[Value]) -> Result<Value, Fault> {
        match self
            .get(member)
            .filter(|_| matches!(attribute, "output" | "PublicIp" | "deploy_stdout"))
        {
            Some(output) => Ok(step_into_attribute(output, path)),
            None => {
                let message =
                    format!("The Referenced Attribute ({member} {attribute}) is incorrect.");
                Err(Fault::new(message))
            }
        }
    }

    fn output(&self, _: &str) -> Option<Result<Value, Fault>> {
        None
    }

    fn arn(&self) -> String {
        "arn:openstack:heat::p:stacks/s/1".into()
    }
}

/// A resource that is alone and has nothing.
pub(crate) fn view<'a>(name: &'a str, properties: &'a Members, stack: &'a Stack) -> View<'a> {
    static NOTHING: std::sync::LazyLock<Members> = std::sync::LazyLock::new(Members::new);
    View {
        name,
        physical_name: "stack-x-abcdefghijkl",
        physical_id: None,
        properties,
        data: &NOTHING,
        metadata: &Value::Null,
        remote: &Value::Null,
        arn: "arn:openstack:heat::p:stacks/s/1/resources/x",
        nested: None,
        siblings: stack,
    }
}

/// A value written as JSON.
pub(crate) fn json(text: &str) -> Value {
    let limits = kiln_template::Limits::default();
    let (node, findings) =
        kiln_template::json::read(kiln_template::FileId::default(), text, &limits);
    (&node.unwrap_or_else(|| panic!("{text}: {findings:?}"))).into()
}

/// A map written as JSON.
pub(crate) fn members(text: &str) -> Members {
    json(text).as_map().cloned().unwrap_or_else(|| panic!("{text} is no map"))
}
