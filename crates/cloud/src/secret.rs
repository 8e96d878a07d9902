//! Texts that must not be shown.

use std::fmt;
use std::sync::Arc;

/// A password, a token or a key: `Debug` shows stars, and [`Secret::expose`] is the only way to the text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(Arc<str>);

impl Secret {
    /// The text itself, for the request that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Default for Secret {
    fn default() -> Secret {
        Secret("".into())
    }
}

impl<T: Into<Arc<str>>> From<T> for Secret {
    fn from(text: T) -> Secret {
        Secret(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
