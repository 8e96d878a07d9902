//! Bytes as text: base64 in lines of 76 characters, as mail and the stock client write it.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Bytes that make one line.
const LINE: usize = 57;

/// The bytes encoded; every line ends in a line feed.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 3 * 4 + bytes.len() / LINE + 6);
    for line in bytes.chunks(LINE) {
        for group in line.chunks(3) {
            let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or_default());
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for at in 0..4 {
                let six = (bits >> (18 - 6 * at)) & 63;
                text.push(if at > group.len() { '=' } else { char::from(ALPHABET[six as usize]) });
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn bytes_are_encoded_in_lines() {
        for (bytes, expected) in [
            (&b""[..], ""),
            (b"\xff\xfe\x00abc", "//4AYWJj\n"),
            (b"\xff\x00", "/wA=\n"),
            (b"\xff", "/w==\n"),
            (&[0xff; 57], &format!("{}\n", "/".repeat(76))),
            (&[0xff; 58], &format!("{}\n/w==\n", "/".repeat(76))),
        ] {
            assert_eq!(encode(bytes), expected);
        }
    }
}
