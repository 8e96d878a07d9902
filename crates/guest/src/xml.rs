//! The text of an element of an XML document: all that an answer of the CloudFormation API is read for.

/// The text of the first element at the end of a path. The path may begin anywhere.
pub(crate) fn text_at(document: &str, path: &[&str]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut text: Option<String> = None;
    let mut rest = document;
    while let Some(at) = rest.find('<') {
        if let Some(text) = &mut text {
            text.push_str(&unescaped(&rest[..at]));
        }
        rest = &rest[at..];
        if let Some(behind) = rest.strip_prefix("<![CDATA[") {
            let end = behind.find("]]>")?;
            if let Some(text) = &mut text {
                text.push_str(&behind[..end]);
            }
            rest = &behind[end + 3..];
            continue;
        }
        let closing = if rest.starts_with("<!--") { "-->" } else { ">" };
        let end = rest.find(closing)?;
        let tag = &rest[1..end];
        rest = &rest[end + closing.len()..];
        if tag.starts_with(['!', '?']) {
            continue;
        }
        if tag.starts_with('/') {
            if text.is_some() && open.ends_with(path) {
                return text;
            }
            open.pop();
            continue;
        }
        let name = tag.split([' ', '\t', '\n', '/']).next().unwrap_or_default();
        open.push(name.rsplit(':').next().unwrap_or(name));
        if open.ends_with(path) {
            text = Some(String::new());
        }
        if tag.ends_with('/') {
            if text.is_some() && open.ends_with(path) {
                return text;
            }
            open.pop();
        }
    }
    None
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(end) = rest.find(';') else { break };
        let name = &rest[1..end];
        let char = match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => {
                let number = match name.strip_prefix("#x") {
                    Some(digits) => u32::from_str_radix(digits, 16).ok(),
                    None => name.strip_prefix('#').and_then(|digits| digits.parse().ok()),
                };
                number.and_then(char::from_u32)
            }
        };
        match char {
            Some(char) => plain.push(char),
            None => plain.push_str(&rest[..=end]),
        }
        rest = &rest[end + 1..];
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_element() {
        let document = "<?xml version='1.0'?><R xmlns=\"x\"><Empty/><!-- <a> --><D><Metadata>{&quot;a&quot;: \
                        &#34;&#x3c;b&gt;&#34;}<![CDATA[<&>]]></Metadata></D></R>";
        assert_eq!(text_at(document, &["D", "Metadata"]).as_deref(), Some("{\"a\": \"<b>\"}<&>"));
        assert_eq!(text_at(document, &["R", "Empty"]).as_deref(), Some(""));
        assert_eq!(text_at(document, &["D", "Other"]), None);
        assert_eq!(text_at("<a", &["a"]), None);
    }
}
