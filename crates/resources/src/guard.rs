//! The one door through which resource types are called: a type that panics fails, and nothing else does.

use crate::op::{Failure, FailureClass};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The longest text of a panic that is told.
const MAX_TEXT: usize = 300;

/// Calls something of a type; a panic in it is a failure. `what` says what was called.
///
/// Whatever the call was changing may be half changed afterwards and must not be used.
pub fn guarded<T>(what: &str, call: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| Failure {
        class: FailureClass::InternalError,
        message: format!(
            "the resource type's {what} panicked{}: please report this",
            text_of(&*panic).map_or_else(String::new, |text| format!(" ({text})"))
        ),
        is_retryable: false,
        status: None,
    })
}

fn text_of(panic: &(dyn Any + Send)) -> Option<String> {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned())?;
    Some(text.chars().take(MAX_TEXT).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_failure_with_a_bounded_text() {
        assert_eq!(guarded("sum", || 1 + 1), Ok(2));
        let long = "x".repeat(1 << 20);
        let failure = guarded("sum", || -> i32 { panic!("{long}") }).unwrap_err();
        assert!(failure.message.starts_with("the resource type's sum panicked (xxx"));
        assert!(failure.message.ends_with(": please report this"));
        assert!(failure.message.len() < 400);
    }
}
