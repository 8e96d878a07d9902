//! Base64 in lines of 76 characters, as mail and python-heatclient write it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The number of bytes in one line.
const LINE_BYTES: usize = 57;

/// Encodes bytes; every line ends in a line feed.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for line in bytes.chunks(LINE_BYTES) {
        STANDARD.encode_string(line, &mut text);
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
