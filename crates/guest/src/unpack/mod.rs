//! Archives from the network, unpacked into one directory and within limits.
//!
//! The author of an archive is not trusted: no entry is written outside of the directory, not even through a link of
//! the same archive, and the size and the number of the unpacked files are bounded.

mod target;

use crate::error::{GuestError, Result};
use crate::host::Host;
use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tar::EntryType;
use target::{Attributes, Target};
pub(crate) use target::{UnpackError, Unpacked};
use zip::read::{Config, ZipReadOptions};
use zip::unstable::read::ZipIterable;

/// The maximal size of what precedes the content of an entry: its headers and long names, which are read into memory.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// The maximal length of the target of a symlink.
const MAX_LINK_BYTES: u64 = 4096;

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Bzip2,
}

/// The format of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// A tar archive; the leading components of the names are dropped.
    Tar { compression: Compression, dropped: usize },
    /// A zip archive.
    Zip,
    /// A single compressed file, which loses its suffix.
    Single(Compression),
}

impl Format {
    /// Returns the format of an archive according to its URL.
    pub(crate) fn of(url: &str) -> Option<Format> {
        let path = url.split(['?', '#']).next().unwrap_or(url);
        let tar = |compression| Format::Tar { compression, dropped: 0 };
        let ends: [(&[&str], Format); 6] = [
            (&[".tar.gz", ".tgz"], tar(Compression::Gzip)),
            (&[".tar.bz2", ".tbz2"], tar(Compression::Bzip2)),
            (&[".tar"], tar(Compression::None)),
            (&[".zip"], Format::Zip),
            (&[".gz"], Format::Single(Compression::Gzip)),
            (&[".bz2"], Format::Single(Compression::Bzip2)),
        ];
        let known = ends.iter().find(|(ends, _)| ends.iter().any(|end| path.ends_with(end)));
        match known {
            Some((_, format)) => Some(*format),
            None if path.contains("/tarball/") => {
                Some(Format::Tar { compression: Compression::Gzip, dropped: 1 })
            }
            None if path.contains("/zipball/") => Some(Format::Zip),
            None => None,
        }
    }
}

/// Limits for what is unpacked from one archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The maximal sum of the sizes.
    pub(crate) bytes: u64,
    /// The maximal number of files, directories and links.
    pub(crate) entries: u64,
}

impl Limits {
    /// Returns the limits from the environment.
    pub(crate) fn of(host: &Host) -> Result<Limits> {
        let number = |name: &str, default: u64| match host.variable(name) {
            Some(text) => text
                .parse()
                .map_err(|_| GuestError::new(format!("{name} must be a number, not {text:?}"))),
            None => Ok(default),
        };
        Ok(Limits {
            bytes: number("KILN_GUEST_UNPACK_BYTES", 10 << 30)?,
            entries: number("KILN_GUEST_UNPACK_ENTRIES", 1_000_000)?,
        })
    }
}

/// Unpacks an archive into a directory. `name` is the file name in its URL. Entries that would leave the directory are
/// skipped with a warning.
pub(crate) fn unpack(
    host: &Host,
    (format, name): (Format, &str),
    archive: &mut File,
    folder: &Path,
    limits: Limits,
) -> Unpacked<()> {
    let unusable = |error| UnpackError::Failed(GuestError::at(folder, error));
    archive.rewind().map_err(unusable)?;
    let mut target = Target::open(host, folder, limits).map_err(UnpackError::Failed)?;
    match format {
        Format::Tar { compression, dropped } => {
            unpack_tar(decompressed(archive, compression), dropped, &mut target)
        }
        Format::Zip => unpack_zip(archive, &mut target),
        Format::Single(compression) => {
            let name = name.rsplit_once('.').map_or(name, |(name, _)| name);
            let attributes = Attributes::with_mode(0o644);
            let mut content = decompressed(archive, compression);
            let written = target.file(Path::new(name), &attributes, &mut content);
            target.skip_refused(name, written)
        }
    }
}

fn damaged(format: &str, error: &dyn std::error::Error) -> UnpackError {
    UnpackError::Failed(GuestError::new(format!("not a valid {format} archive: {error}")))
}

fn decompressed<'a>(archive: &'a File, compression: Compression) -> Box<dyn Read + 'a> {
    let packed = BufReader::new(archive);
    match compression {
        Compression::None => Box::new(packed),
        Compression::Gzip => Box::new(MultiGzDecoder::new(packed)),
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(packed)),
    }
}

/// A reader that fails once an allowance is used up.
struct Metered<'a, R> {
    inner: R,
    allowance: &'a Cell<u64>,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)? as u64;
        let left = self.allowance.get().checked_sub(read);
        self.allowance.set(left.ok_or_else(|| io::Error::other("a header is too large"))?);
        Ok(usize::try_from(read).unwrap_or(usize::MAX))
    }
}

fn unpack_tar(content: impl Read, dropped: usize, target: &mut Target<'_>) -> Unpacked<()> {
    let allowance = Cell::new(MAX_HEADER_BYTES);
    let mut archive = tar::Archive::new(Metered { inner: content, allowance: &allowance });
    let broken = |error: io::Error| damaged("tar", &error);
    let mut entries = archive.entries().map_err(broken)?;
    loop {
        allowance.set(MAX_HEADER_BYTES);
        let Some(entry) = entries.next() else { return Ok(()) };
        let mut entry = entry.map_err(broken)?;
        // The target counts the bytes of the content.
        allowance.set(u64::MAX);
        let name = entry.path_bytes().into_owned();
        let shown = String::from_utf8_lossy(&name).into_owned();
        let written = match without_leading(Path::new(OsStr::from_bytes(&name)), dropped) {
            Some(name) => unpack_tar_entry(&name, &mut entry, dropped, target),
            None => Ok(()),
        };
        target.skip_refused(&shown, written)?;
        // The content of an entry that was not written has to be read as well.
        target.discard(&mut entry)?;
    }
}

/// Drops leading components of a name; `None` if nothing is left.
fn without_leading(name: &Path, dropped: usize) -> Option<PathBuf> {
    let rest: PathBuf = name.components().skip(dropped).collect();
    (!rest.as_os_str().is_empty()).then_some(rest)
}

fn unpack_tar_entry(
    name: &Path,
    entry: &mut tar::Entry<'_, impl Read>,
    dropped: usize,
    target: &mut Target<'_>,
) -> Unpacked<()> {
    let header = entry.header();
    let attributes = Attributes {
        mode: header.mode().unwrap_or(0o644),
        user: owner(header.username_bytes(), header.uid()),
        group: owner(header.groupname_bytes(), header.gid()),
        modified: header.mtime().ok(),
    };
    let link = entry.link_name_bytes().map(|it| PathBuf::from(OsStr::from_bytes(&it)));
    match (entry.header().entry_type(), link) {
        (EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse, _) => {
            target.file(name, &attributes, entry)
        }
        (EntryType::Directory, _) => target.folder(name, &attributes),
        (EntryType::Symlink, Some(link)) => target.symlink(name, &link),
        (EntryType::Link, Some(link)) => {
            let link = without_leading(&link, dropped).unwrap_or_default();
            target.hard_link(name, &link)
        }
        (EntryType::XGlobalHeader, _) => Ok(()),
        (other, _) => {
            Err(UnpackError::Refused(format!("entries of type {other:?} are not unpacked")))
        }
    }
}

/// Returns the owner in a header: the name, and the number for a system without that name.
fn owner(name: Option<&[u8]>, number: io::Result<u64>) -> (String, Option<u32>) {
    let name = name.map(|name| String::from_utf8_lossy(name).into_owned()).unwrap_or_default();
    (name, number.ok().and_then(|it| u32::try_from(it).ok()))
}

fn unpack_zip(archive: &mut File, target: &mut Target<'_>) -> Unpacked<()> {
    let broken = |error: zip::result::ZipError| damaged("zip", &error);
    let reader = BufReader::new(archive);
    // This reader does not keep the list of the entries in memory.
    let mut archive = ZipIterable::try_new(reader, Config::default()).map_err(broken)?;
    let files = archive.files().map_err(broken)?;
    while let Some(entry) = files.next() {
        let entry = entry.map_err(broken)?;
        let name = entry.name_raw().to_vec();
        let (is_folder, is_link, mode) = (entry.is_dir(), entry.is_symlink(), entry.unix_mode());
        let content = entry.with_reader(files.reader_mut(), ZipReadOptions::new());
        let mut content = content.map_err(broken)?;
        let path = Path::new(OsStr::from_bytes(&name));
        // As with unzip, an archive cannot make a file run as its owner.
        let attributes =
            |default: u32| Attributes::with_mode(mode.map_or(default, |it| it & 0o777));
        let written = if is_folder {
            target.folder(path, &attributes(0o755))
        } else if is_link {
            let mut link = Vec::new();
            let read = (&mut content).take(MAX_LINK_BYTES).read_to_end(&mut link);
            match read {
                Ok(_) => target.symlink(path, Path::new(OsStr::from_bytes(&link))),
                Err(error) => Err(UnpackError::Refused(error.to_string())),
            }
        } else {
            target.file(path, &attributes(0o644), &mut content)
        };
        target.skip_refused(&String::from_utf8_lossy(&name), written)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::Folder;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::fs;

    /// Names and targets of links that lead in all directions.
    fn names() -> impl Strategy<Value = Vec<u8>> {
        let parts = prop::sample::select(vec!["a", "b", "..", ".", "", "outside", "\u{0}", "é"]);
        let joined = prop::collection::vec(parts, 0..5).prop_map(|all| all.join("/").into_bytes());
        prop_oneof![4 => joined, 1 => prop::collection::vec(any::<u8>(), 0..20)]
    }

    fn kinds() -> impl Strategy<Value = EntryType> {
        use EntryType::*;
        prop::sample::select(vec![Regular, Directory, Symlink, Link, Fifo, Continuous])
    }

    fn archive(entries: &[(EntryType, Vec<u8>, Vec<u8>)]) -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        for (kind, name, link) in entries {
            let mut header = tar::Header::new_gnu();
            header.as_old_mut().name[..name.len()].copy_from_slice(name);
            header.as_old_mut().linkname[..link.len()].copy_from_slice(link);
            header.set_entry_type(*kind);
            header.set_mode(0o777);
            header.set_size(3);
            header.set_cksum();
            archive.append(&header, &b"new"[..]).expect("an entry");
        }
        archive.into_inner().expect("an archive")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn no_entry_is_written_outside_of_the_directory(
            entries in prop::collection::vec((kinds(), names(), names()), 1..12),
        ) {
            let folder = Folder::new();
            let (target, outside) = (folder.0.join("target"), folder.0.join("outside"));
            fs::create_dir(&target).unwrap();
            fs::create_dir(&outside).unwrap();
            fs::write(outside.join("a"), "old").unwrap();
            let mut packed = crate::files::nameless(&folder.0).unwrap();
            io::Write::write_all(&mut packed, &archive(&entries)).unwrap();
            let host = Host::new(BTreeMap::new());
            let limits = Limits { bytes: 1 << 20, entries: 1000 };
            let format = Format::Tar { compression: Compression::None, dropped: 0 };
            _ = unpack(&host, (format, "x.tar"), &mut packed, &target, limits);
            prop_assert_eq!(crate::files::names(&folder.0), ["outside", "target"]);
            prop_assert_eq!(crate::files::names(&outside), ["a"]);
            prop_assert_eq!(fs::read_to_string(outside.join("a")).unwrap(), "old");
        }
    }

    #[test]
    fn formats_are_known_by_their_suffixes() {
        let tar = |compression, dropped| Some(Format::Tar { compression, dropped });
        for (url, format) in [
            ("https://example.org/x.tar.gz?token=a.zip", tar(Compression::Gzip, 0)),
            ("https://example.org/x.tbz2", tar(Compression::Bzip2, 0)),
            ("https://example.org/o/r/tarball/main", tar(Compression::Gzip, 1)),
            ("https://example.org/x.gz", Some(Format::Single(Compression::Gzip))),
            ("https://example.org/x.zip#y", Some(Format::Zip)),
            ("https://example.org/x.rpm", None),
        ] {
            assert_eq!(Format::of(url), format, "{url}");
        }
    }
}
