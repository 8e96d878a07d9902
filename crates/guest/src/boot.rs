//! The part of cloud-init that stacks need, for images without it: parts of the user data become files and scripts.

use crate::cfn::symlinks;
use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use crate::http::{Http, Request};
use crate::ignition;
use crate::options::{Args, Flag, value};
use crate::process;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

pub(crate) const FLAGS: &[Flag] = &[
    value("user-data", None, "A file with the user data; the default is the metadata service."),
    value("root", None, "The root directory for all paths."),
];

const NOVA: &str = "http://169.254.169.254/openstack/latest/user_data";
const TOOLS: &str = "/var/lib/heat-cfntools";
const IGNITION: &str = "application/vnd.coreos.ignition+json";

/// The maximal depth of messages within messages.
const MAX_DEPTH: usize = 8;

/// A part of the user data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct MimePart {
    content_type: String,
    name: String,
    content: Vec<u8>,
}

pub(crate) fn main(host: &Host, args: &Args) -> i32 {
    let text = match args.get("user-data") {
        Some(path) => {
            std::fs::read(path).map_err(|error| GuestError::new(format!("{path}: {error}")))
        }
        None => fetch(host),
    };
    match text.and_then(|text| boot(host, &text)) {
        Ok(status) => status,
        Err(error) => {
            host.error(error.to_string());
            1
        }
    }
}

fn fetch(host: &Host) -> Result<Vec<u8>> {
    let url = host.variable("KILN_GUEST_USER_DATA").unwrap_or(NOVA);
    let reply = Http::new(host).send_with_retries(host, &Request::new("GET", url));
    let reply = reply.map_err(|failed| GuestError::new(failed.to_string()))?;
    match reply.status {
        200 => Ok(reply.body),
        404 => Ok(Vec::new()),
        status => Err(GuestError::new(format!("{url} returned status {status}"))),
    }
}

/// Applies the user data. Returns the status of the last script that failed.
fn boot(host: &Host, text: &[u8]) -> Result<i32> {
    let parts = parse_parts(text);
    for part in parts.iter().filter(|part| part.content_type == "text/x-cfninitdata") {
        for folder in [TOOLS, "/var/lib/cloud/data"] {
            let folder = host.path(folder);
            files::private_folder(&folder)?;
            let path = files::inside(&folder, &part.name)?;
            files::write(&path, &part.content, 0o600)?;
        }
        host.info(format!("wrote {TOOLS}/{}", part.name));
    }
    let mut status = 0;
    for (number, part) in parts.iter().enumerate() {
        let ended = match part.content_type.as_str() {
            "text/cloud-boothook" => boothook(host, part)?,
            "text/x-shellscript" if part.name == "loguserdata.py" => provision(host)?,
            "text/x-shellscript" => script(host, number, part)?,
            "text/x-cfninitdata" => 0,
            IGNITION => {
                ignition::parse_config(&part.content).map_or(0, |it| ignition::apply(host, &it))
            }
            "text/cloud-config" => {
                let names = sections(&String::from_utf8_lossy(&part.content)).join(", ");
                host.info(format!("ignoring cloud-config, which is for cloud-init: {names}"));
                0
            }
            other => {
                host.debug(format!("ignoring part {:?} of type {other}", part.name));
                0
            }
        };
        if ended != 0 {
            status = ended;
        }
    }
    Ok(status)
}

/// Returns the names of the top-level sections of a YAML text.
fn sections(text: &str) -> Vec<&str> {
    let names = text.lines().filter_map(|line| line.split_once(':').map(|(name, _)| name));
    let is_name = |it: &&str| {
        !it.is_empty() && it.chars().all(|it| it.is_ascii_alphanumeric() || "_-".contains(it))
    };
    names.filter(is_name).collect()
}

/// Runs an early script. Under another root, system scripts are not run, because they would change the host.
fn boothook(host: &Host, part: &MimePart) -> Result<i32> {
    if !host.is_system_root() {
        return Ok(symlinks::main(host, &Args::default()));
    }
    script(host, 0, part)
}

/// Runs the user's script and stores its output.
fn provision(host: &Host) -> Result<i32> {
    let (path, log) =
        (host.path(TOOLS).join("cfn-userdata"), host.path("/var/log/heat-provision.log"));
    if let Some(folder) = log.parent() {
        files::folder(folder, 0o755)?;
    }
    let length = std::fs::metadata(&path).map_or(0, |it| it.len());
    let mut status = 0;
    if length > 0 {
        files::set_mode(&path, 0o700)?;
        let mut command = process::program(host, &path.display().to_string());
        match process::capture(&mut command, None, None) {
            Ok(output) => {
                files::append(&log, &format!("{}{}", output.out, output.err), 0o600)?;
                status = output.status;
            }
            // A text that cannot be executed is not a script, which is allowed.
            Err(error) => files::append(&log, &format!("{error}\n"), 0o600)?,
        }
    }
    if status == 0 {
        files::write(&host.path(TOOLS).join("provision-finished"), b"", 0o600)?;
    }
    Ok(status)
}

fn script(host: &Host, number: usize, part: &MimePart) -> Result<i32> {
    let folder = host.path("/var/lib/cloud/instance/scripts");
    files::private_folder(&folder)?;
    let name = match files::inside(&folder, &part.name) {
        Ok(path) => path,
        Err(_) => folder.join(format!("part-{number:03}")),
    };
    files::write(&name, &part.content, 0o700)?;
    let mut command = process::program(host, &name.display().to_string());
    let output = process::capture(&mut command, None, None)?;
    let log = host.path("/var/log/cloud-init-output.log");
    if let Some(folder) = log.parent() {
        files::folder(folder, 0o755)?;
    }
    files::append(&log, &format!("{}{}", output.out, output.err), 0o640)?;
    host.info(format!("{} exited with status {}", name.display(), output.status));
    Ok(output.status)
}

/// Parses user data: a single part, or the parts of a MIME message.
fn parse_parts(bytes: &[u8]) -> Vec<MimePart> {
    parse_nested_parts(bytes, MAX_DEPTH)
}

/// Parses a message whose parts may be messages, down to a depth.
fn parse_nested_parts(bytes: &[u8], depth: usize) -> Vec<MimePart> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = split(&text);
    match boundary(&head) {
        Some(_) if depth == 0 => Vec::new(),
        Some(boundary) => {
            let line = format!("--{boundary}");
            let mut all = Vec::new();
            let mut at: Option<String> = None;
            for one in body.split_inclusive('\n') {
                let plain = one.trim_end_matches(['\r', '\n']);
                if plain == line || plain == format!("{line}--") {
                    if let Some(part) = at.take() {
                        let part = strip_line_end(&part).as_bytes();
                        all.extend(parse_nested_parts(part, depth - 1));
                    }
                    at = (plain == line).then(String::new);
                } else if let Some(part) = &mut at {
                    part.push_str(one);
                }
            }
            all
        }
        None if head.is_empty() => {
            vec![with_guessed_type(MimePart { content: bytes.to_vec(), ..MimePart::default() })]
        }
        None => vec![with_guessed_type(MimePart {
            content_type: header(&head, "content-type").map(media_type).unwrap_or_default(),
            name: header(&head, "content-disposition").and_then(file_name).unwrap_or_default(),
            content: decode(body, header(&head, "content-transfer-encoding")),
        })],
    }
}

/// Removes the line end before a boundary, which belongs to the boundary.
fn strip_line_end(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

/// Splits headers from the body; no headers if the text does not begin with any.
fn split(text: &str) -> (Vec<(String, String)>, &str) {
    let mut headers: Vec<(String, String)> = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.find('\n').map_or(rest.len(), |it| it + 1);
        let line = rest[..end].trim_end();
        if line.is_empty() {
            return if headers.is_empty() { (headers, text) } else { (headers, &rest[end..]) };
        }
        if line.starts_with([' ', '\t'])
            && let Some((_, value)) = headers.last_mut()
        {
            value.push(' ');
            value.push_str(line.trim());
        } else if let Some((name, value)) = line.split_once(':')
            && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '-')
        {
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        } else if headers.is_empty() && line.starts_with("From ") {
            // An mbox begins with such a line.
        } else {
            return (Vec::new(), text);
        }
        rest = &rest[end..];
    }
}

fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn media_type(value: &str) -> String {
    value.split(';').next().unwrap_or_default().trim().to_lowercase()
}

fn boundary(headers: &[(String, String)]) -> Option<String> {
    let value =
        header(headers, "content-type").filter(|it| media_type(it).starts_with("multipart/"))?;
    parameter(value, "boundary")
}

fn file_name(value: &str) -> Option<String> {
    parameter(value, "filename")
}

fn parameter(value: &str, name: &str) -> Option<String> {
    let pairs = value.split(';').skip(1).filter_map(|pair| pair.split_once('='));
    let mut found = pairs.filter(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    found.next().map(|(_, value)| value.trim().trim_matches('"').to_owned())
}

fn decode(body: &str, encoding: Option<&str>) -> Vec<u8> {
    match encoding.map(str::to_lowercase).as_deref() {
        Some("base64") => {
            let joined: String = body.split_whitespace().collect();
            STANDARD.decode(joined).unwrap_or_default()
        }
        Some("quoted-printable") => decode_quoted_printable(body),
        _ => body.as_bytes().to_vec(),
    }
}

fn decode_quoted_printable(body: &str) -> Vec<u8> {
    let mut plain = Vec::with_capacity(body.len());
    let bytes = body.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &body[at..];
        if let Some(code) = rest.strip_prefix('=').and_then(|it| it.get(..2))
            && let Ok(byte) = u8::from_str_radix(code, 16)
        {
            plain.push(byte);
            at += 3;
            continue;
        }
        // A soft line break ends with the equals sign.
        if let Some(end) = ["=\r\n", "=\n"].iter().find(|end| rest.starts_with(**end)) {
            at += end.len();
            continue;
        }
        let length = rest.chars().next().map_or(1, char::len_utf8);
        plain.extend_from_slice(&bytes[at..at + length]);
        at += length;
    }
    plain
}

/// Determines the type of a part without one from its first line.
fn with_guessed_type(mut part: MimePart) -> MimePart {
    let is_vague = part.content_type.is_empty() || part.content_type == "text/plain";
    let starts = |sign: &str| part.content.starts_with(sign.as_bytes());
    if is_vague && starts("#!") {
        part.content_type = "text/x-shellscript".into();
    } else if is_vague && starts("#cloud-config") {
        part.content_type = "text/cloud-config".into();
    } else if is_vague && starts("#cloud-boothook") {
        part.content_type = "text/cloud-boothook".into();
    } else if is_vague && ignition::parse_config(&part.content).is_some() {
        part.content_type = IGNITION.into();
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_parts() {
        let text = "Content-Type: multipart/mixed; boundary=\"=x=\"\nMIME-Version: 1.0\n\n--=x=\n\
            Content-Type: text/x-cfninitdata; charset=\"us-ascii\"\nContent-Disposition: attachment;\n \
            filename=\"cfn-init-data\"\n\n{\"a\": 1}\n--=x=\nContent-Type: text/plain\n\n#!/bin/sh\necho hi\n\n--=x=\n\
            Content-Type: text/x\nContent-Transfer-Encoding: base64\n\naGVs\nbG8=\n--=x=--\nend\n";
        let parts = parse_parts(text.as_bytes());
        let summary: Vec<_> = parts
            .iter()
            .map(|it| {
                (
                    it.content_type.as_str(),
                    it.name.as_str(),
                    String::from_utf8_lossy(&it.content).into_owned(),
                )
            })
            .collect();
        assert_eq!(
            summary,
            [
                ("text/x-cfninitdata", "cfn-init-data", "{\"a\": 1}".to_owned()),
                ("text/x-shellscript", "", "#!/bin/sh\necho hi\n".to_owned()),
                ("text/x", "", "hello".to_owned()),
            ]
        );
    }

    #[test]
    fn sections_of_a_cloud_config_are_named() {
        let text = "#cloud-config\nuser: ec2-user\nwrite_files:\n- path: /a\n  content: |\n    x: y\n# no: x\n";
        assert_eq!(sections(text), ["user", "write_files"]);
    }

    #[test]
    fn a_text_alone_is_one_part() {
        assert_eq!(parse_parts(b"#!/bin/sh\nPATH: x\n")[0].content_type, "text/x-shellscript");
        assert_eq!(parse_parts(b"#cloud-config\nuser: a\n")[0].content_type, "text/cloud-config");
        assert_eq!(decode_quoted_printable("a=3Db=\nc=C3=A9é"), "a=bcéé".as_bytes());
    }
}
