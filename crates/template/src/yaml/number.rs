//! Numbers and booleans of YAML 1.1, read as PyYAML's constructors read them: a little more
//! than the patterns of plain text let through, because a tag can send any text here.

use kiln_yaql::Integer;

/// More parts of base 60 than this make a number of more than 4300 digits.
const MAX_SIXTIES: usize = 2420;

/// Reads `yes`, `off` and the like.
pub(super) fn boolean(text: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(["true", "yes", "on"]) {
        Some(true)
    } else if is_one_of(["false", "no", "off"]) {
        Some(false)
    } else {
        None
    }
}

/// Reads a decimal integer that is written the way it would be printed, if it is not too long.
pub(super) fn canonical(text: &str) -> Option<i64> {
    /// So many digits always fit.
    const MAX_DIGITS: usize = 18;
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    if digits.len() > MAX_DIGITS {
        return None;
    }
    match digits {
        [b'1'..=b'9', ..] => {}
        [b'0'] if text.len() == 1 => {}
        _ => return None,
    }
    let mut number = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(digit - b'0');
    }
    Some(if digits.len() < text.len() { -number } else { number })
}

/// Reads decimal, octal (`017`), hexadecimal, binary and base 60 (`1:30`) integers.
pub(super) fn integer(text: &str) -> Option<Integer> {
    if let Some(small) = canonical(text) {
        return Some(small.into());
    }
    let text = text.replace('_', "");
    let (negative, digits) = sign(&text);
    let number = if digits == "0" {
        Integer::from(0)
    } else if let Some(digits) = digits.strip_prefix("0b") {
        host_integer(digits, 2)?
    } else if let Some(digits) = digits.strip_prefix("0x") {
        host_integer(digits, 16)?
    } else if digits.starts_with('0') {
        host_integer(digits, 8)?
    } else if digits.contains(':') {
        sixties(digits)?
    } else {
        host_integer(digits, 10)?
    };
    Some(if negative { Integer::from(-number.to_big()) } else { number })
}

/// Reads decimal and base 60 (`1:30.5`) numbers, infinities and not-a-number.
pub(super) fn float(text: &str) -> Option<f64> {
    let is_simple = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    if text.bytes().all(is_simple) {
        return host_float(text);
    }
    let text = text.replace('_', "").to_lowercase();
    let (negative, digits) = sign(&text);
    let number = match digits {
        ".inf" => f64::INFINITY,
        ".nan" => return Some(f64::NAN),
        digits if digits.contains(':') => {
            let mut sum = 0.0;
            let mut base: u128 = 1;
            for part in digits.rsplit(':') {
                sum += host_float(part)? * base as f64;
                base = base.checked_mul(60)?;
            }
            sum
        }
        digits => host_float(digits)?,
    };
    Some(if negative { -number } else { number })
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn sixties(text: &str) -> Option<Integer> {
    if text.split(':').count() > MAX_SIXTIES {
        return None;
    }
    let mut sum = Integer::from(0).to_big();
    for part in text.split(':') {
        sum = sum * 60 + host_integer(part, 10)?.to_big();
    }
    // A number that is too long to be written down is none that a template can hold.
    (sum.bits() <= 14_284 || sum.to_string().len() <= 4300).then(|| Integer::from(sum))
}

/// What Python's `int` takes: white space around, a sign, and the base's own prefix.
fn host_integer(text: &str, radix: u32) -> Option<Integer> {
    let (negative, digits) = sign(text.trim());
    let prefix = match radix {
        2 => ["0b", "0B"],
        8 => ["0o", "0O"],
        16 => ["0x", "0X"],
        _ => ["", ""],
    };
    let digits = prefix.iter().find_map(|prefix| digits.strip_prefix(prefix)).unwrap_or(digits);
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let number = Integer::parse_radix(digits, radix)?;
    Some(if negative { Integer::from(-number.to_big()) } else { number })
}

/// What Python's `float` takes: white space around the number.
fn host_float(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}
