//! Numbers.

use super::operators::{by_zero, float, product};
use crate::arguments::Arguments;
use crate::error::{Error, ErrorKind};
use crate::integer::Integer;
use crate::machine::Machine;
use crate::python;
use crate::signature::{Default, Function, any, f, int, number};
use crate::syntax::Binary;
use crate::value::Value;
use std::cmp::Ordering;

pub(crate) static TABLE: &[Function] = &[
    f("abs", &[number("op")], abs),
    f("bitwiseAnd", &[int("left"), int("right")], |args| bits(args, |a, b| a & b)),
    f("bitwiseNot", &[int("arg")], bitwise_not),
    f("bitwiseOr", &[int("left"), int("right")], |args| bits(args, |a, b| a | b)),
    f("bitwiseXor", &[int("left"), int("right")], |args| bits(args, |a, b| a ^ b)),
    f("float", &[any("value")], float_),
    f("hex", &[number("num").nullable()], hex),
    f("int", &[any("value")], int_),
    f("max", &[any("a"), any("b")], max),
    f("min", &[any("a"), any("b")], min),
    f("pow", &[number("a"), number("b"), number("c").or(Default::Null)], pow),
    f("random", &[], random),
    f("random", &[any("from"), any("to")], random_between),
    f("round", &[number("number"), int("ndigits").or(Default::Int(0))], round),
    f("shiftBitsLeft", &[int("value"), int("bitsNumber")], shift_left),
    f("shiftBitsRight", &[int("value"), int("bitsNumber")], shift_right),
    f("sign", &[number("num")], sign),
];

fn abs(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Ok(match args.value(0) {
        Value::Int(number) => number.abs().into(),
        other => float(&other)?.abs().into(),
    })
}

fn sign(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Ok(match args.value(0) {
        Value::Int(number) => number.cmp(&0.into()) as i64,
        other => float(&other)?.partial_cmp(&0.0).unwrap_or(Ordering::Equal) as i64,
    }
    .into())
}

fn bits(
    args: &mut Arguments<'_>,
    operate: fn(&Integer, &Integer) -> Integer,
) -> Result<Value, Error> {
    let (left, right) = (args.value(0), args.value(1));
    let truths = matches!((&left, &right), (Value::Bool(_), Value::Bool(_)));
    let result = operate(&whole(&left), &whole(&right));
    Ok(if truths { Value::Bool(!result.is_zero()) } else { result.into() })
}

/// An integer, or a boolean as one.
fn whole(value: &Value) -> Integer {
    match value {
        Value::Int(number) => number.clone(),
        other => i64::from(other.truth()).into(),
    }
}

fn bitwise_not(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Ok((!&args.int(0)?).into())
}

fn shift_left(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (value, shift) = (args.int(0)?, shift(args)?);
    if value.is_zero() {
        return Ok(value.into());
    }
    let bytes = shift.saturating_add(value.bits()) / 8;
    args.machine.fits(usize::try_from(bytes).unwrap_or(usize::MAX))?;
    Ok(value.shift_left(u32::try_from(shift).unwrap_or(u32::MAX)).into())
}

fn shift_right(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (value, shift) = (args.int(0)?, shift(args)?);
    Ok(value.shift_right(shift).into())
}

fn shift(args: &mut Arguments<'_>) -> Result<u64, Error> {
    let shift = args.int(1)?;
    if shift.is_negative() {
        return Err(Error::value("negative shift count"));
    }
    Ok(shift.as_i64().map_or(u64::MAX, i64::unsigned_abs))
}

fn hex(args: &mut Arguments<'_>) -> Result<Value, Error> {
    match args.value(0) {
        Value::Int(number) => {
            let sign = if number.is_negative() { "-" } else { "" };
            Ok(format!("{sign}0x{}", number.abs().to_big().to_str_radix(16)).into())
        }
        other => Err(Error::type_(format!(
            "'{}' object cannot be interpreted as an integer",
            other.type_name()
        ))),
    }
}

fn int_(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Ok(match args.value(0) {
        Value::Null => 0.into(),
        Value::Bool(truth) => i64::from(truth).into(),
        Value::Int(number) => number.into(),
        Value::Float(number) if number.is_nan() => {
            return Err(Error::value("cannot convert float NaN to integer"));
        }
        Value::Float(number) => match Integer::from_f64(number) {
            Some(whole) => whole.into(),
            None => return Err(Error::overflow("cannot convert float infinity to integer")),
        },
        Value::Text(text) => match python::plain_number(&text).and_then(|t| Integer::parse(&t)) {
            Some(number) => number.into(),
            None => {
                return Err(Error::value(format!(
                    "invalid literal for int() with base 10: {}",
                    python::quoted(&text)
                )));
            }
        },
        other => {
            return Err(Error::type_(format!(
                "int() argument must be a string, a bytes-like object or a real number, not '{}'",
                other.type_name()
            )));
        }
    })
}

fn float_(args: &mut Arguments<'_>) -> Result<Value, Error> {
    Ok(match args.value(0) {
        Value::Null => 0.0.into(),
        Value::Bool(truth) => Value::Float(f64::from(u8::from(truth))),
        number @ (Value::Int(_) | Value::Float(_)) => float(&number)?.into(),
        Value::Text(text) => match python::plain_number(&text).and_then(|t| parse_float(&t)) {
            Some(number) => number.into(),
            None => {
                return Err(Error::value(format!(
                    "could not convert string to float: {}",
                    python::quoted(&text)
                )));
            }
        },
        other => {
            return Err(Error::type_(format!(
                "float() argument must be a string or a real number, not '{}'",
                other.type_name()
            )));
        }
    })
}

/// A float in decimal digits, or one of the words for the others.
fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let word = ["inf", "infinity", "nan"].iter().any(|word| unsigned.eq_ignore_ascii_case(word));
    let digits = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if word || digits { text.parse().ok() } else { None }
}

fn round(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let number = args.value(0);
    let digits = args.index(1)?;
    Ok(match number {
        Value::Int(number) if digits >= 0 => number.into(),
        Value::Int(number) => round_integer(&number, digits.unsigned_abs()).into(),
        other => round_float(float(&other)?, digits).into(),
    })
}

/// Rounds to a power of ten, halves to even.
fn round_integer(number: &Integer, power: u64) -> Integer {
    // A power of ten beyond twice the number rounds it to nothing.
    if power > number.bits() {
        return 0.into();
    }
    let unit = Integer::from(10).pow(u32::try_from(power).unwrap_or(u32::MAX));
    let (Some(quotient), Some(rest)) = (number.floor_div(&unit), number.floor_mod(&unit)) else {
        return number.clone();
    };
    let up = match (&rest + &rest).cmp(&unit) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => !(&quotient & &Integer::from(1)).is_zero(),
    };
    &(if up { &quotient + &1.into() } else { quotient }) * &unit
}

/// Rounds to decimal places by the exact value, as printing does.
fn round_float(number: f64, digits: i64) -> f64 {
    if !number.is_finite() || digits > 323 {
        return number;
    }
    if digits < -308 {
        return 0.0_f64.copysign(number);
    }
    if digits >= 0 {
        let digits = usize::try_from(digits).unwrap_or(0);
        return format!("{number:.digits$}").parse().unwrap_or(number);
    }
    let Some(whole) = Integer::from_f64(number) else {
        return number;
    };
    let exact = number.fract() == 0.0;
    let mut rounded = round_integer(&whole, digits.unsigned_abs());
    if !exact {
        // The fraction breaks what looks like a tie.
        let doubled = round_integer(&(&whole + &whole), digits.unsigned_abs());
        let nudged = &whole + &Integer::from(if number < 0.0 { -1 } else { 1 });
        if doubled != &rounded + &rounded {
            rounded = round_integer(&nudged, digits.unsigned_abs());
        }
    }
    rounded.to_f64().copysign(number)
}

fn pow(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (base, exponent, modulus) = (args.value(0), args.value(1), args.value(2));
    match (&base, &exponent, &modulus) {
        (Value::Int(base), Value::Int(exponent), Value::Int(modulus)) => {
            pow_modulo(args.machine, base, exponent, modulus)
        }
        (_, _, Value::Int(_) | Value::Float(_)) => {
            Err(Error::type_("pow() 3rd argument not allowed unless all arguments are integers"))
        }
        (Value::Int(base), Value::Int(exponent), _) if !exponent.is_negative() => {
            pow_integer(args.machine, base, exponent)
        }
        _ => pow_float(float(&base)?, float(&exponent)?),
    }
}

fn pow_integer(machine: &Machine<'_>, base: &Integer, exponent: &Integer) -> Result<Value, Error> {
    let small = |number: i64| -> Result<Value, Error> { Ok(number.into()) };
    match base.as_i64() {
        _ if exponent.is_zero() => return small(1),
        Some(number @ (0 | 1)) => return small(number),
        Some(-1) => {
            return small(if exponent.floor_mod(&2.into()) == Some(0.into()) { 1 } else { -1 });
        }
        _ => {}
    }
    let too_much = || Error::from(ErrorKind::MemoryQuota);
    let times = exponent.as_i64().and_then(|n| u32::try_from(n).ok()).ok_or_else(too_much)?;
    let bytes = (base.bits() - 1).saturating_mul(times.into()) / 8;
    machine.fits(usize::try_from(bytes).unwrap_or(usize::MAX))?;
    machine.charge(bytes / 8 * (bytes / 8) / 64)?;
    Ok(base.pow(times).into())
}

fn pow_modulo(
    machine: &Machine<'_>,
    base: &Integer,
    exponent: &Integer,
    modulus: &Integer,
) -> Result<Value, Error> {
    if modulus.is_zero() {
        return Err(Error::value("pow() 3rd argument cannot be 0"));
    }
    let words = modulus.bits() / 64 + 1;
    machine.charge(exponent.bits().saturating_mul(words * words) / 16)?;
    let (mut base, mut exponent, modulus) = (base.to_big(), exponent.to_big(), modulus.to_big());
    if exponent < 0.into() {
        base = base
            .modinv(&modulus)
            .ok_or_else(|| Error::value("base is not invertible for the given modulus"))?;
        exponent = -exponent;
    }
    Ok(Integer::from(base.modpow(&exponent, &modulus)).into())
}

fn pow_float(base: f64, exponent: f64) -> Result<Value, Error> {
    if base == 0.0 && exponent < 0.0 {
        return Err(by_zero("0.0 cannot be raised to a negative power"));
    }
    if base < 0.0 && base.is_finite() && exponent.is_finite() && exponent.fract() != 0.0 {
        return Err(Error::value("a negative number cannot be raised to a fractional power"));
    }
    let power = base.powf(exponent);
    if power.is_infinite() && base.is_finite() && exponent.is_finite() {
        return Err(Error::overflow("(34, 'Numerical result out of range')"));
    }
    Ok(power.into())
}

/// The larger one; the second where neither is.
fn max(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (a, b) = (args.value(0), args.value(1));
    larger(args, a, b)
}

/// The smaller one; the second where neither is.
fn min(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (a, b) = (args.value(0), args.value(1));
    smaller(args, a, b)
}

pub(crate) fn larger(args: &Arguments<'_>, a: Value, b: Value) -> Result<Value, Error> {
    let greater = args.machine.operate(Binary::Greater, b.clone(), a.clone(), args.context)?;
    Ok(if greater.truth() { b } else { a })
}

pub(crate) fn smaller(args: &Arguments<'_>, a: Value, b: Value) -> Result<Value, Error> {
    let greater = args.machine.operate(Binary::Greater, b.clone(), a.clone(), args.context)?;
    Ok(if greater.truth() { a } else { b })
}

fn draw(args: &Arguments<'_>) -> Result<u64, Error> {
    let environment = args.machine.options.environment.as_ref();
    let number = environment.and_then(|environment| environment.random());
    number.ok_or_else(|| ErrorKind::NoEnvironment("a random number").into())
}

fn random(args: &mut Arguments<'_>) -> Result<Value, Error> {
    // The upper 53 bits are what a double can hold.
    Ok(((draw(args)? >> 11) as f64 / (1_u64 << 53) as f64).into())
}

fn random_between(args: &mut Arguments<'_>) -> Result<Value, Error> {
    let (from, to) = match (args.value(0), args.value(1)) {
        (Value::Int(from), Value::Int(to)) => (from, to),
        (Value::Int(_), other) | (other, _) => {
            return Err(Error::type_(format!(
                "'{}' object cannot be interpreted as an integer",
                other.type_name()
            )));
        }
    };
    let count = &(&to - &from) + &1.into();
    if count.is_negative() || count.is_zero() {
        return Err(Error::value(format!(
            "empty range for randrange() ({from}, {}, {count})",
            &to + &1.into()
        )));
    }
    // Enough bits beyond the range make the bias of the rest too small to matter.
    let mut number = Integer::from(0);
    for _ in 0..=count.bits() / 64 + 1 {
        args.machine.charge(1)?;
        let drawn = Integer::from(num_bigint::BigInt::from(draw(args)?));
        number = &product(args.machine, &number, &Integer::from(1).shift_left(64))? + &drawn;
    }
    Ok((&from + &number.floor_mod(&count).unwrap_or(0.into())).into())
}
