//! Integers of any size, small ones without allocation.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The longest decimal text that is read as an integer; longer ones are rejected, as in Python.
const MAX_DIGITS: usize = 4300;

/// An integer without bounds.
///
/// Values that fit in 64 bits are always held in the small form, so equality of forms is equality
/// of numbers.
#[derive(Clone)]
pub struct Integer(Repr);

#[derive(Clone, PartialEq, Eq)]
enum Repr {
    Small(i64),
    Big(Arc<BigInt>),
}

impl Integer {
    /// Reads an optional sign followed by decimal digits and nothing else.
    pub fn parse(text: &str) -> Option<Integer> {
        Integer::parse_radix(text, 10)
    }

    /// Reads an optional sign followed by digits of the given radix (2 to 36) and nothing else.
    pub fn parse_radix(text: &str, radix: u32) -> Option<Integer> {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if digits.is_empty() || digits.len() > MAX_DIGITS {
            return None;
        }
        if !digits.bytes().all(|b| (b as char).is_digit(radix)) {
            return None;
        }
        if let Ok(small) = i64::from_str_radix(text, radix) {
            return Some(small.into());
        }
        let unsigned = BigInt::parse_bytes(digits.as_bytes(), radix)?;
        // What is short in another radix may be too long to be written down again.
        if radix > 10 && unsigned.bits() > 14_284 && unsigned.to_string().len() > MAX_DIGITS {
            return None;
        }
        Some(if text.starts_with('-') { (-unsigned).into() } else { unsigned.into() })
    }

    /// The number as a 64-bit integer, if it fits.
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small(small) => Some(*small),
            Repr::Big(_) => None,
        }
    }

    /// The nearest double; infinite when out of range.
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            Repr::Small(small) => *small as f64,
            Repr::Big(big) => big.to_f64().unwrap_or(f64::INFINITY),
        }
    }

    /// The whole part of a double, or nothing for infinities and not-a-number.
    pub fn from_f64(number: f64) -> Option<Integer> {
        use num_traits::FromPrimitive;
        BigInt::from_f64(number.trunc()).map(Integer::from)
    }

    /// The number in its general form.
    pub fn to_big(&self) -> BigInt {
        match &self.0 {
            Repr::Small(small) => BigInt::from(*small),
            Repr::Big(big) => (**big).clone(),
        }
    }

    /// Whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.0 == Repr::Small(0)
    }

    /// Whether the number is below zero.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Small(small) => *small < 0,
            Repr::Big(big) => big.is_negative(),
        }
    }

    /// The number of bits of the magnitude; zero for zero.
    pub fn bits(&self) -> u64 {
        match &self.0 {
            Repr::Small(small) => u64::from(64 - small.unsigned_abs().leading_zeros()),
            Repr::Big(big) => big.bits(),
        }
    }

    /// The magnitude.
    pub fn abs(&self) -> Integer {
        if self.is_negative() { -self } else { self.clone() }
    }

    /// The quotient rounded down, or nothing when the divisor is zero.
    pub fn floor_div(&self, divisor: &Integer) -> Option<Integer> {
        if divisor.is_zero() {
            return None;
        }
        if let (Some(a), Some(b)) = (self.as_i64(), divisor.as_i64())
            && let (Some(quotient), Some(rest)) = (a.checked_div(b), a.checked_rem(b))
        {
            let below = rest != 0 && (rest < 0) != (b < 0);
            return Some((quotient - i64::from(below)).into());
        }
        Some(num_integer::Integer::div_floor(&self.to_big(), &divisor.to_big()).into())
    }

    /// The rest that goes with [`Integer::floor_div`]: its sign follows the divisor.
    pub fn floor_mod(&self, divisor: &Integer) -> Option<Integer> {
        if divisor.is_zero() {
            return None;
        }
        if let (Some(a), Some(b)) = (self.as_i64(), divisor.as_i64())
            && let Some(rest) = a.checked_rem(b)
        {
            let below = rest != 0 && (rest < 0) != (b < 0);
            return Some((if below { rest + b } else { rest }).into());
        }
        Some(num_integer::Integer::mod_floor(&self.to_big(), &divisor.to_big()).into())
    }

    /// The power; the caller bounds the size of the result first.
    pub fn pow(&self, exponent: u32) -> Integer {
        if let Some(small) = self.as_i64().and_then(|small| small.checked_pow(exponent)) {
            return small.into();
        }
        num_traits::Pow::pow(self.to_big(), exponent).into()
    }

    /// The number times two to the given power; the caller bounds the size of the result first.
    pub fn shift_left(&self, bits: u32) -> Integer {
        (self.to_big() << bits).into()
    }

    /// The number divided by two to the given power, rounded down.
    pub fn shift_right(&self, bits: u64) -> Integer {
        if bits >= self.bits() {
            return if self.is_negative() { (-1).into() } else { 0.into() };
        }
        (self.to_big() >> bits).into()
    }

    /// Compares with a double without rounding either.
    pub fn partial_cmp_f64(&self, other: f64) -> Option<Ordering> {
        if other.is_nan() {
            return None;
        }
        if other.is_infinite() {
            return Some(if other > 0.0 { Ordering::Less } else { Ordering::Greater });
        }
        let whole = Integer::from_f64(other)?;
        Some(self.cmp(&whole).then_with(|| {
            let rest = other - other.trunc();
            if rest > 0.0 {
                Ordering::Less
            } else if rest < 0.0 {
                Ordering::Greater
            } else {
                Ordering::Equal
            }
        }))
    }
}

/// Gives an operator a fast path over 64 bits and the general one beyond.
macro_rules! operator {
    ($trait:ident, $method:ident, $checked:ident) => {
        impl std::ops::$trait for &Integer {
            type Output = Integer;

            fn $method(self, other: &Integer) -> Integer {
                if let (Some(a), Some(b)) = (self.as_i64(), other.as_i64())
                    && let Some(result) = a.$checked(b)
                {
                    return result.into();
                }
                std::ops::$trait::$method(self.to_big(), other.to_big()).into()
            }
        }
    };
}

operator!(Add, add, checked_add);
operator!(Sub, sub, checked_sub);
operator!(Mul, mul, checked_mul);

/// The same for operators over bits, which cannot overflow.
macro_rules! bitwise {
    ($trait:ident, $method:ident) => {
        impl std::ops::$trait for &Integer {
            type Output = Integer;

            fn $method(self, other: &Integer) -> Integer {
                match (self.as_i64(), other.as_i64()) {
                    (Some(a), Some(b)) => std::ops::$trait::$method(a, b).into(),
                    _ => std::ops::$trait::$method(self.to_big(), other.to_big()).into(),
                }
            }
        }
    };
}

bitwise!(BitAnd, bitand);
bitwise!(BitOr, bitor);
bitwise!(BitXor, bitxor);

impl std::ops::Neg for &Integer {
    type Output = Integer;

    fn neg(self) -> Integer {
        match self.as_i64().and_then(i64::checked_neg) {
            Some(small) => small.into(),
            None => (-self.to_big()).into(),
        }
    }
}

impl std::ops::Not for &Integer {
    type Output = Integer;

    fn not(self) -> Integer {
        match self.as_i64() {
            Some(small) => (!small).into(),
            None => (!self.to_big()).into(),
        }
    }
}

impl From<i64> for Integer {
    fn from(small: i64) -> Self {
        Integer(Repr::Small(small))
    }
}

impl From<BigInt> for Integer {
    fn from(big: BigInt) -> Self {
        match big.to_i64() {
            Some(small) => small.into(),
            None => Integer(Repr::Big(Arc::new(big))),
        }
    }
}

impl PartialEq for Integer {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Integer {}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            (Repr::Big(a), Repr::Big(b)) => a.cmp(b),
            (Repr::Small(_), Repr::Big(b)) => BigInt::zero().cmp(b),
            (Repr::Big(a), Repr::Small(_)) => (**a).cmp(&BigInt::zero()),
        }
    }
}

impl Hash for Integer {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Repr::Small(small) => small.hash(state),
            Repr::Big(big) => big.hash(state),
        }
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(small) => fmt::Display::fmt(small, f),
            Repr::Big(big) => fmt::Display::fmt(big, f),
        }
    }
}

impl fmt::Debug for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_form_is_always_chosen() {
        let big = Integer::parse("9223372036854775808").unwrap();
        assert_eq!(big.as_i64(), None);
        assert_eq!(big.to_string(), "9223372036854775808");
        assert_eq!(Integer::from(big.to_big() - 1), Integer::from(i64::MAX));
        assert!(Integer::from(i64::MAX) < big);
        assert!(Integer::parse("-9223372036854775809").unwrap() < Integer::from(i64::MIN));
    }

    #[test]
    fn only_signs_and_digits_are_read() {
        for text in ["", "+", "1_0", " 1", "0x1", "--1", "+-1", "1.0"] {
            assert_eq!(Integer::parse(text), None, "{text:?}");
        }
        assert_eq!(Integer::parse("+7"), Some(7.into()));
        assert_eq!(Integer::parse_radix("-ff", 16), Some((-255).into()));
        assert_eq!(Integer::parse(&"9".repeat(MAX_DIGITS + 1)), None);
        assert!(Integer::parse(&"9".repeat(MAX_DIGITS)).is_some());
        assert_eq!(Integer::parse_radix(&"f".repeat(MAX_DIGITS), 16), None);
        assert!(Integer::parse_radix(&"f".repeat(3_500), 16).is_some());
    }

    #[test]
    fn arithmetic_grows_and_shrinks_between_the_forms() {
        let max = Integer::from(i64::MAX);
        let one = Integer::from(1);
        let beyond = &max + &one;
        assert_eq!(beyond.to_string(), "9223372036854775808");
        assert_eq!(&beyond - &one, max);
        assert_eq!((&max * &max).to_string(), "85070591730234615847396907784232501249");
        assert_eq!(-&Integer::from(i64::MIN), beyond);
        assert_eq!(Integer::from(i64::MIN).floor_div(&(-1).into()), Some(beyond.clone()));
        assert_eq!(Integer::from(i64::MIN).floor_mod(&(-1).into()), Some(0.into()));
        assert_eq!(beyond.shift_right(63), one);
        assert_eq!(one.shift_left(63), beyond);
    }

    #[test]
    fn division_rounds_down_and_the_rest_follows_the_divisor() {
        for (a, b, quotient, rest) in
            [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, -1), (-7, -2, 3, -1), (6, 3, 2, 0)]
        {
            let (a, b) = (Integer::from(a), Integer::from(b));
            assert_eq!(a.floor_div(&b), Some(quotient.into()));
            assert_eq!(a.floor_mod(&b), Some(rest.into()));
        }
        assert_eq!(Integer::from(1).floor_div(&0.into()), None);
        assert_eq!(Integer::from(1).floor_mod(&0.into()), None);
    }

    #[test]
    fn comparison_with_doubles_is_exact() {
        let n = Integer::from((1_i64 << 53) + 1);
        assert_eq!(n.partial_cmp_f64((1_i64 << 53) as f64), Some(Ordering::Greater));
        assert_eq!(Integer::from(-1).partial_cmp_f64(-1.5), Some(Ordering::Greater));
        assert_eq!(Integer::from(1).partial_cmp_f64(f64::NAN), None);
    }
}
