//! Configurations as one MIME message, in the form that Heat writes and cloud-init reads.

use std::fmt::Write;

/// A part of a message: a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The MIME subtype, such as `x-shellscript`.
    pub(crate) subtype: String,
    /// The file name in the header `Content-Disposition`.
    pub(crate) filename: Option<String>,
    /// The text.
    pub(crate) content: String,
}

/// Writes a message of several parts. The boundary must not occur in any of them.
pub(crate) fn message(parts: &[Part], boundary: &str) -> String {
    let mut out =
        format!("Content-Type: multipart/mixed; boundary=\"{boundary}\"\nMIME-Version: 1.0\n");
    for part in parts {
        _ = write!(out, "\n--{boundary}\n{}", text_of(part));
    }
    if parts.is_empty() {
        _ = write!(out, "\n--{boundary}\n");
    }
    _ = write!(out, "\n--{boundary}--\n");
    out
}

fn text_of(part: &Part) -> String {
    let is_ascii = part.content.is_ascii();
    let (charset, encoding) = if is_ascii { ("us-ascii", "7bit") } else { ("utf-8", "base64") };
    let mut out = format!(
        "Content-Type: text/{}; charset=\"{charset}\"\nMIME-Version: 1.0\nContent-Transfer-Encoding: {encoding}\n",
        one_line(&part.subtype)
    );
    if let Some(filename) = &part.filename {
        let quoted = one_line(filename).replace('\\', "\\\\").replace('"', "\\\"");
        _ = writeln!(out, "Content-Disposition: attachment; filename=\"{quoted}\"");
    }
    out.push('\n');
    if is_ascii {
        out.push_str(&part.content);
    } else {
        out.push_str(&base64(part.content.as_bytes()));
    }
    out
}

/// Replaces line breaks, so that a value stays in its header.
fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

/// Reads the parts of a message; other text is one part.
pub(crate) fn parts(message: &str) -> Vec<Part> {
    let (headers, body) = split(message);
    let kind = header(headers, "content-type").unwrap_or_default();
    let boundary = parameter(kind, "boundary").filter(|_| kind.starts_with("multipart/"));
    let Some(boundary) = boundary else {
        return vec![leaf(message)];
    };
    let line = format!("--{boundary}");
    let mut found: Vec<String> = Vec::new();
    for text in body.split_inclusive('\n') {
        let bare = text.trim_end();
        if bare == format!("{line}--") {
            break;
        } else if bare == line {
            found.push(String::new());
        } else if let Some(part) = found.last_mut() {
            part.push_str(text);
        }
    }
    // The line break before a boundary belongs to the boundary.
    let whole = |part: &String| part.strip_suffix('\n').unwrap_or(part).to_owned();
    found.iter().map(whole).filter(|part| !part.is_empty()).map(|part| leaf(&part)).collect()
}

/// Reads a part without looking for parts in it.
fn leaf(part: &str) -> Part {
    let (headers, body) = split(part);
    let kind = header(headers, "content-type").unwrap_or_default();
    let subtype = kind.split(';').next().and_then(|kind| kind.split_once('/'));
    let subtype = subtype.map_or("plain", |(_, subtype)| subtype.trim()).to_owned();
    let disposition = header(headers, "content-disposition").unwrap_or_default();
    let filename = parameter(disposition, "filename");
    Part { subtype, filename, content: decoded(headers, body) }
}

fn split(message: &str) -> (&str, &str) {
    message.split_once("\n\n").unwrap_or(("", message))
}

fn header<'m>(headers: &'m str, name: &str) -> Option<&'m str> {
    headers.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

fn parameter(header: &str, name: &str) -> Option<String> {
    header.split(';').skip(1).find_map(|parameter| {
        let (key, value) = parameter.trim().split_once('=')?;
        let value = value.trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\");
        key.eq_ignore_ascii_case(name).then_some(value)
    })
}

fn decoded(headers: &str, body: &str) -> String {
    let is_base64 = header(headers, "content-transfer-encoding") == Some("base64");
    let bytes = is_base64.then(|| from_base64(body)).flatten();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| body.to_owned())
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 in lines of 76 characters.
fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for line in bytes.chunks(57) {
        for three in line.chunks(3) {
            let at = |i: usize| u32::from(three.get(i).copied().unwrap_or_default());
            let bits = at(0) << 16 | at(1) << 8 | at(2);
            for i in 0..4 {
                let digit = ALPHABET[(bits >> (18 - 6 * i) & 63) as usize];
                out.push(if i <= three.len() { digit as char } else { '=' });
            }
        }
        out.push('\n');
    }
    out
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let digit = ALPHABET.iter().position(|known| *known == byte)?;
        bits = bits << 6 | u32::try_from(digit).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xFF) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(subtype: &str, filename: Option<&str>, content: &str) -> Part {
        let filename = filename.map(str::to_owned);
        Part { subtype: subtype.to_owned(), filename, content: content.to_owned() }
    }

    #[test]
    fn a_message_is_written_as_the_reference_writes_it() {
        let parts =
            [part("x-shellscript", Some("a.sh"), "#!/bin/sh\n"), part("b", Some("b.txt"), "é\n")];
        assert_eq!(
            message(&parts, "=1="),
            "Content-Type: multipart/mixed; boundary=\"=1=\"\nMIME-Version: 1.0\n\n--=1=\n\
             Content-Type: text/x-shellscript; charset=\"us-ascii\"\nMIME-Version: 1.0\n\
             Content-Transfer-Encoding: 7bit\nContent-Disposition: attachment; filename=\"a.sh\"\n\n\
             #!/bin/sh\n\n--=1=\nContent-Type: text/b; charset=\"utf-8\"\nMIME-Version: 1.0\n\
             Content-Transfer-Encoding: base64\nContent-Disposition: attachment; \
             filename=\"b.txt\"\n\nw6kK\n\n--=1=--\n"
        );
        assert_eq!(
            message(&[], "=2="),
            "Content-Type: multipart/mixed; boundary=\"=2=\"\nMIME-Version: 1.0\n\n--=2=\n\n--=2=--\n"
        );
    }

    #[test]
    fn the_parts_of_a_message_are_found_again() {
        let parts_ = [
            part("x-shellscript", Some("a \"b\".sh"), "#!/bin/sh\n"),
            part("plain", None, "no line break"),
            part("cloud-config", None, &"ü".repeat(100)),
        ];
        assert_eq!(parts(&message(&parts_, "=1=")), parts_);
        assert_eq!(parts("just a text"), [part("plain", None, "just a text")]);
    }
}
