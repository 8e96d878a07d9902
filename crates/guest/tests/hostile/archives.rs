//! Archives of third parties.

use crate::server::{Run, Server};
use crate::service::{Service, answer};
use serde_json::json;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use tar::{EntryType, Header};
use zip::write::SimpleFileOptions;

const VICTIM: &str = "/victim/file";

/// An entry: its type, its name, and its content or the target of a link.
type Entry<'e> = (EntryType, &'e [u8], &'e [u8]);

const FILE: EntryType = EntryType::Regular;
const FOLDER: EntryType = EntryType::Directory;
const LINK: EntryType = EntryType::Symlink;
const HARD: EntryType = EntryType::Link;

/// Entries of which some try to leave the directory.
const ESCAPES: &[Entry<'static>] = &[
    (FILE, b"../victim/file", b"bad"),
    (FILE, b"a/../../victim/file", b"bad"),
    (FILE, b"/victim/file", b"inside"),
    (LINK, b"up", b"../victim"),
    (FILE, b"up/file", b"bad"),
    (FILE, b"up/new", b"bad"),
    (FOLDER, b"up/folder/", b""),
    (LINK, b"one", b".."),
    (LINK, b"two", b"one/victim"),
    (FILE, b"two/file", b"bad"),
    (LINK, b"direct", b"../victim/file"),
    (FILE, b"direct", b"inside"),
    (LINK, b"dangling", b"../victim/made"),
    (FOLDER, b"dangling/", b""),
    (FILE, b"dangling/file", b"bad"),
    (FOLDER, b"releases/1/", b""),
    (LINK, b"current", b"releases/1"),
    (FILE, b"current/file", b"good"),
    (FILE, b"not \xff UTF-8", b"good"),
];

fn header((kind, name, content): Entry<'_>, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    if is_link {
        header.as_old_mut().linkname[..content.len()].copy_from_slice(content);
    }
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(1_000_000_000);
    header.set_size(if is_link { 0 } else { content.len() as u64 });
    header.set_cksum();
    header
}

fn tar(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for entry in entries {
        let header = header(*entry, 0o644 | if entry.0 == FOLDER { 0o111 } else { 0 });
        let content =
            if matches!(entry.0, EntryType::Symlink | EntryType::Link) { b"" } else { entry.2 };
        archive.append(&header, content).expect("an entry");
    }
    archive.into_inner().expect("an archive")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(bytes).expect("bytes");
    packed.finish().expect("an archive")
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut packed = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    packed.write_all(bytes).expect("bytes");
    packed.finish().expect("an archive")
}

fn zip(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for (at, (kind, name, content)) in entries.iter().enumerate() {
        // The writer accepts a name only once, and only as text.
        let is_repeated = entries[at + 1..].iter().any(|(_, later, _)| later == name);
        let Some(name) = std::str::from_utf8(name).ok().filter(|_| !is_repeated) else { continue };
        let text = || String::from_utf8_lossy(content).into_owned();
        let started = match *kind {
            LINK => archive.add_symlink(name, text(), options),
            FOLDER => archive.add_directory(name, options),
            _ => archive.start_file(name, options),
        };
        started.expect("an entry");
        if *kind == FILE {
            archive.write_all(content).expect("content");
        }
    }
    archive.finish().expect("an archive").into_inner()
}

/// Runs cfn-init with an archive as its only source.
fn unpack(server: &Server, name: &str, archive: &[u8]) -> Run {
    let service = Service::scripted(vec![answer(200, "", archive)]);
    let sources = json!({"/target": format!("{}/{name}", service.url)});
    let metadata = json!({"AWS::CloudFormation::Init": {"config": {"sources": sources}}});
    server.put("/var/lib/heat-cfntools/cfn-init-data", &metadata.to_string(), 0o600);
    _ = fs::remove_dir_all(server.path("/var/cache"));
    server.run("cfn-init", &[])
}

fn with_victim() -> Server {
    let server = Server::new();
    server.put(VICTIM, "untouched", 0o600);
    server
}

fn assert_untouched(server: &Server) {
    assert_eq!(server.names("/victim"), ["file"]);
    assert_eq!(server.read(VICTIM), "untouched");
    let victim = fs::metadata(server.path(VICTIM)).expect("a file");
    assert_eq!((victim.nlink(), victim.permissions().mode() & 0o7777), (1, 0o600));
}

#[test]
fn entries_do_not_leave_the_directory() {
    let plain = tar(ESCAPES);
    for (name, archive) in [
        ("x.tar", plain.clone()),
        ("x.tar.gz", gzip(&plain)),
        ("x.tgz?y=1", gzip(&plain)),
        ("x.tar.bz2", bzip2(&plain)),
        ("x.zip", zip(ESCAPES)),
    ] {
        let server = with_victim();
        let run = unpack(&server, name, &archive);
        assert_eq!(run.status, 0, "{name}: {run:?}");
        assert_untouched(&server);
        assert!(
            run.err.contains(r#"skipping "../victim/file" of the archive"#),
            "{name}: {}",
            run.err
        );
        assert!(run.err.contains("a link leads out of the directory"), "{name}: {}", run.err);
        assert_eq!(server.read("/target/victim/file"), "inside", "{name}");
        assert_eq!(server.read("/target/direct"), "inside", "{name}");
        assert_eq!(server.read("/target/releases/1/file"), "good", "{name}");
        // Unpacking again meets the links of the first time.
        unpack(&server, name, &archive);
        assert_untouched(&server);
    }
}

#[test]
fn hard_links_and_special_files_do_not_reach_out() {
    let entries = [
        (HARD, &b"stolen"[..], &b"../victim/file"[..]),
        (LINK, b"up", b"../victim"),
        (HARD, b"also", b"up/file"),
        (LINK, b"direct", b"../victim/file"),
        (HARD, b"third", b"direct"),
        (EntryType::Char, b"device", b""),
        (EntryType::Block, b"disk", b""),
        (EntryType::Fifo, b"pipe", b""),
        (FILE, b"first", b"1"),
        (HARD, b"second", b"first"),
        (FILE, b"second", b"2"),
    ];
    let server = with_victim();
    assert_eq!(unpack(&server, "x.tar", &tar(&entries)).status, 0);
    assert_untouched(&server);
    assert_eq!(server.names("/target"), ["direct", "first", "second", "up"]);
    assert_eq!(
        (server.read("/target/first"), server.read("/target/second")),
        ("1".into(), "2".into())
    );
    let is_special = |name: &str| {
        let kind = fs::symlink_metadata(server.path(name)).expect("a file").file_type();
        kind.is_char_device() || kind.is_block_device() || kind.is_fifo()
    };
    assert!(!is_special("/target/first"));
}

#[test]
fn links_that_are_there_already_are_not_followed_out_of_the_directory() {
    let server = with_victim();
    fs::create_dir_all(server.path("/target")).unwrap();
    symlink(server.path("/victim"), server.path("/target/folder")).unwrap();
    symlink(server.path(VICTIM), server.path("/target/file")).unwrap();
    let entries = [(FILE, &b"folder/file"[..], &b"bad"[..]), (FILE, b"file", b"good")];
    assert_eq!(unpack(&server, "x.tar", &tar(&entries)).status, 0);
    assert_untouched(&server);
    assert_eq!(server.read("/target/file"), "good");
}

#[test]
fn an_archive_keeps_modes_and_its_set_id_bits_are_told() {
    let server = Server::new();
    let mut archive = tar::Builder::new(Vec::new());
    for (name, mode) in [(&b"tool"[..], 0o4755), (b"plain", 0o640)] {
        archive.append(&header((FILE, name, b"x"), mode), &b"x"[..]).unwrap();
    }
    let run = unpack(&server, "x.tar", &archive.into_inner().unwrap());
    assert_eq!(server.mode("/target/plain"), 0o640);
    let changed = fs::metadata(server.path("/target/plain")).unwrap().mtime();
    assert_eq!(changed, 1_000_000_000);
    let tool = fs::metadata(server.path("/target/tool")).unwrap();
    if tool.uid() == 0 {
        assert_eq!(tool.permissions().mode() & 0o7777, 0o4755, "as tar does it for root");
        assert!(run.err.contains("has the mode 4755 in the archive"), "{}", run.err);
    } else {
        assert_eq!(tool.permissions().mode() & 0o7777, 0o755);
    }
}

#[test]
fn a_small_archive_does_not_fill_the_disk() {
    let zeros = vec![0; 20 << 20];
    let single = gzip(&zeros);
    let entry = (FILE, &b"zeros"[..], &zeros[..]);
    for (name, archive) in [
        ("x.gz", single.clone()),
        ("x.bz2", bzip2(&zeros)),
        ("x.tar.gz", gzip(&tar(&[entry]))),
        ("x.zip", zip(&[entry])),
    ] {
        assert!(archive.len() < 1 << 20, "{name}: {} bytes", archive.len());
        let server = Server::new().with("KILN_GUEST_UNPACK_BYTES", "2000000");
        let run = unpack(&server, name, &archive);
        assert_eq!(run.status, 1, "{name}: {run:?}");
        assert!(run.err.contains("KILN_GUEST_UNPACK_BYTES sets the limit"), "{name}: {}", run.err);
        assert_eq!(server.names("/target"), [""; 0], "{name}");
    }
    let server = Server::new();
    assert_eq!(unpack(&server, "zeros.gz", &single).status, 0);
    assert_eq!(fs::metadata(server.path("/target/zeros")).unwrap().len(), 20 << 20);
}

#[test]
fn a_refused_entry_counts_as_well() {
    let zeros = vec![0; 20 << 20];
    let server = Server::new().with("KILN_GUEST_UNPACK_BYTES", "2000000");
    let run = unpack(&server, "x.tar.gz", &gzip(&tar(&[(FILE, b"../x", &zeros)])));
    assert_eq!(run.status, 1, "{run:?}");
}

#[test]
fn the_number_of_entries_is_bounded() {
    let names: Vec<String> = (0..200).map(|number| format!("file-{number}")).collect();
    let many: Vec<Entry<'_>> = names.iter().map(|name| (FILE, name.as_bytes(), &b""[..])).collect();
    let deep = ["a"; 40].join("/");
    let deep = [(FILE, deep.as_bytes(), &b""[..])];
    for (name, archive) in
        [("x.tar", tar(&many)), ("x.zip", zip(&many)), ("x.tar", tar(&deep)), ("x.zip", zip(&deep))]
    {
        let server = Server::new().with("KILN_GUEST_UNPACK_ENTRIES", "30");
        let run = unpack(&server, name, &archive);
        assert_eq!(run.status, 1, "{name}: {run:?}");
        assert!(run.err.contains("KILN_GUEST_UNPACK_ENTRIES sets the limit"), "{}", run.err);
    }
    let server = Server::new().with("KILN_GUEST_UNPACK_ENTRIES", "many");
    assert_eq!(unpack(&server, "x.tar", &tar(&deep)).status, 1);
}

#[test]
fn a_long_name_is_not_read_into_memory() {
    let name = vec![b'a'; 30 << 20];
    let server = Server::new();
    let archive = gzip(&tar(&[(EntryType::GNULongName, b"long", &name), (FILE, b"x", b"")]));
    let run = unpack(&server, "x.tar.gz", &archive);
    assert!(run.err.contains("a header is too large"), "{}", run.err);
    assert_eq!(server.names("/target"), [""; 0]);
}

#[test]
fn broken_archives_are_told_and_nothing_else_happens() {
    let whole = gzip(&tar(ESCAPES));
    for (name, archive) in [
        ("x.tar", &b"not an archive"[..]),
        ("x.tar.gz", b"nor this"),
        ("x.tar.gz", &whole[..whole.len() / 2]),
        ("x.tar.bz2", b"nor this"),
        ("x.zip", b"PK\x05\x06 nor this"),
        ("x.gz", b""),
    ] {
        let server = with_victim();
        let run = unpack(&server, name, archive);
        assert!(!run.err.contains("panicked"), "{name}: {}", run.err);
        assert_eq!(run.status, 0, "as with heat-cfntools: {name}: {run:?}");
        assert_untouched(&server);
    }
}

#[test]
fn a_repository_of_a_forge_loses_its_first_directory() {
    let server = Server::new();
    let entries = [
        (EntryType::XGlobalHeader, &b"pax_global_header"[..], &b"11 a=b\n"[..]),
        (FOLDER, b"top-1/", b""),
        (FILE, b"top-1/docs/x", b"good"),
    ];
    let run = unpack(&server, "owner/name/tarball/main", &gzip(&tar(&entries)));
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(server.names("/target"), ["docs"]);
    assert_eq!(server.read("/target/docs/x"), "good");
}
