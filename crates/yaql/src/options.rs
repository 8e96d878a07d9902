//! Limits of an evaluation, and what it may ask its surroundings for.

use std::fmt;
use std::sync::Arc;

/// How an expression is evaluated.
///
/// ```
/// use kiln_yaql::{Expression, Options, Value};
///
/// let options = Options { limit_iterators: 10, ..Options::default() };
/// let error = Expression::parse("range(11).toList()").unwrap().evaluate(Value::Null, &options);
/// assert_eq!(error.unwrap_err().to_string(), "Collection length exceeds 10 elements");
/// ```
#[derive(Clone)]
pub struct Options {
    /// The most elements a collection may have when it is walked or returned.
    pub limit_iterators: usize,
    /// The most bytes one value may take, and the arguments of one call together.
    pub memory_quota: usize,
    /// The most steps an evaluation may take; about 10 million are made in a second.
    pub max_steps: u64,
    /// Where the time and random numbers come from.
    pub environment: Option<Arc<dyn Environment>>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            limit_iterators: 200,
            memory_quota: 10_000,
            max_steps: 1_000_000,
            environment: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("limit_iterators", &self.limit_iterators)
            .field("memory_quota", &self.memory_quota)
            .field("max_steps", &self.max_steps)
            .field("environment", &self.environment.is_some())
            .finish()
    }
}

/// What `now()`, `localtz()` and `random()` answer.
///
/// Nothing is taken from the system by itself, so that the same expression over the same data
/// always returns the same result unless the caller wants otherwise.
///
/// ```
/// use kiln_yaql::{Environment, Expression, Options, Value};
/// use std::sync::Arc;
///
/// struct Fixed;
///
/// impl Environment for Fixed {
///     fn now(&self) -> Option<i64> {
///         Some(1_577_934_245_000_000)
///     }
/// }
///
/// let options = Options { environment: Some(Arc::new(Fixed)), ..Options::default() };
/// let year = Expression::parse("now().year").unwrap();
/// assert_eq!(year.evaluate(Value::Null, &options).unwrap(), Value::from(2020));
/// assert!(year.evaluate(Value::Null, &Options::default()).is_err());
/// ```
pub trait Environment: Send + Sync {
    /// Microseconds since 1970-01-01 00:00:00 UTC.
    fn now(&self) -> Option<i64> {
        None
    }

    /// Seconds by which local time is ahead of UTC.
    fn local_offset(&self) -> Option<i32> {
        None
    }

    /// A random number, all values being equally likely.
    fn random(&self) -> Option<u64> {
        None
    }
}
