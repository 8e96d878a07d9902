//! Random choices from random bytes, each choice as likely as any other.

use crate::op::{FailureClass, Op, OpError};

/// Random bytes in store, so that not every choice asks for its own.
#[derive(Default)]
pub(crate) struct RandomPool {
    bytes: Vec<u8>,
}

impl RandomPool {
    /// A number below a bound, which must not be zero.
    pub(crate) async fn below(&mut self, op: &mut Op, bound: u32) -> Result<usize, OpError> {
        let bound = bound.max(1);
        // Numbers above the last whole multiple of the bound would favour the small ones.
        let fair = u32::MAX - u32::MAX % bound;
        loop {
            if self.bytes.len() < 4 {
                self.bytes = op.random(1024).await?;
            }
            let Some((rest, four)) = self.bytes.split_last_chunk::<4>() else { continue };
            let number = u32::from_le_bytes(*four);
            let left = rest.len();
            self.bytes.truncate(left);
            if number < fair {
                return Ok((number % bound) as usize);
            }
        }
    }

    /// One of these.
    pub(crate) async fn one_of<T: Copy>(&mut self, op: &mut Op, all: &[T]) -> Result<T, OpError> {
        let bound = u32::try_from(all.len()).unwrap_or(u32::MAX);
        let at = self.below(op, bound).await?;
        // The words of the reference, for something that only an empty definition can cause.
        let nothing =
            || OpError::failed(FailureClass::IndexError, "Cannot choose from an empty sequence");
        all.get(at).copied().ok_or_else(nothing)
    }

    /// All of these in random order.
    pub(crate) async fn shuffle<T>(&mut self, op: &mut Op, all: &mut [T]) -> Result<(), OpError> {
        for end in (1..all.len()).rev() {
            let bound = u32::try_from(end + 1).unwrap_or(u32::MAX);
            let at = self.below(op, bound).await?;
            all.swap(at, end);
        }
        Ok(())
    }
}

/// A random number from zero up to one.
pub(crate) async fn fraction(op: &mut Op) -> Result<f64, OpError> {
    let number = RandomPool::default().below(op, u32::MAX).await?;
    Ok(number as f64 / f64::from(u32::MAX))
}

/// A random id in the form of other services: `6509a887-bfe5-48c2-90c1-aff0f78a804f`.
pub(crate) async fn uuid(op: &mut Op) -> Result<uuid::Uuid, OpError> {
    let mut bytes = [0; 16];
    let drawn = op.random(bytes.len()).await?;
    for (byte, drawn) in bytes.iter_mut().zip(drawn) {
        *byte = drawn;
    }
    Ok(uuid::Builder::from_random_bytes(bytes).into_uuid())
}
