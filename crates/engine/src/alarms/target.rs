//! The targets of alarms: the effects of a rule's actions.

use crate::ids::StackId;
use std::fmt;
use std::sync::Arc;

/// The effect of an alarm's action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlarmTarget {
    /// It signals a resource of a stack.
    Signal(SignalledResource),
    /// It sends a webhook.
    Webhook(WebhookUrl),
}

/// A resource that an alarm signals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalledResource {
    /// The root of the stack's tree.
    pub root: StackId,
    /// The stack.
    pub stack: StackId,
    /// The name of the resource.
    pub resource: Arc<str>,
}

/// The URL of a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookUrl(Arc<str>);

impl WebhookUrl {
    /// Reads a URL; `None` if a text is none that webhooks can be sent to.
    pub fn parse(text: &str) -> Option<WebhookUrl> {
        let is_url = text.starts_with("http://") || text.starts_with("https://");
        is_url.then(|| WebhookUrl(text.into()))
    }

    /// The URL as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_urls_of_webhooks() {
        for text in ["http://h/", "https://h/a?b"] {
            assert_eq!(WebhookUrl::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "arn:openstack:heat::p:stacks/s/1/resources/up", "zaqar://", "ftp://h/"] {
            assert_eq!(WebhookUrl::parse(text), None, "{text}");
        }
    }
}
