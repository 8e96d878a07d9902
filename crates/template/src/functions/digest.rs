//! `digest`: the hash of a text.

use super::Fault;
use crate::eval::Scope;
use crate::expr::Call;
use crate::value::Value;
use blake2::{Blake2b512, Blake2s256};
use md5::Md5;
use ripemd::Ripemd160;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use sm3::Sm3;

type Hash = fn(&[u8]) -> String;

/// The algorithms by name.
static ALGORITHMS: &[(&str, Hash)] = &[
    ("blake2b", hash::<Blake2b512>),
    ("blake2s", hash::<Blake2s256>),
    ("md5", hash::<Md5>),
    ("md5-sha1", |bytes| hash::<Md5>(bytes) + &hash::<Sha1>(bytes)),
    ("ripemd160", hash::<Ripemd160>),
    ("sha1", hash::<Sha1>),
    ("sha224", hash::<Sha224>),
    ("sha256", hash::<Sha256>),
    ("sha384", hash::<Sha384>),
    ("sha3_224", hash::<Sha3_224>),
    ("sha3_256", hash::<Sha3_256>),
    ("sha3_384", hash::<Sha3_384>),
    ("sha3_512", hash::<Sha3_512>),
    ("sha512", hash::<Sha512>),
    ("sha512_224", hash::<Sha512_224>),
    ("sha512_256", hash::<Sha512_256>),
    ("sm3", hash::<Sm3>),
];

fn hash<D: Digest>(bytes: &[u8]) -> String {
    hex::encode(D::digest(bytes))
}

pub(super) fn digest(_: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let name = call.function.name;
    let args = args.as_list().filter(|args| args.iter().all(|arg| arg.as_text().is_some()));
    let (algorithm, text) = match args {
        Some([Value::Text(algorithm), Value::Text(text)]) => (algorithm, text),
        Some(_) => {
            return Err(Fault::new(format!(
                "Function \"{name}\" usage: [\"<algorithm>\", \"<value>\"]"
            )));
        }
        None => {
            return Err(Fault::new(format!(
                "Argument to function \"{name}\" must be a list of strings"
            )));
        }
    };
    let wanted = algorithm.to_lowercase();
    let Some((_, hash)) = ALGORITHMS.iter().find(|(name, _)| *name == wanted) else {
        let names: Vec<String> = ALGORITHMS.iter().map(|(name, _)| format!("'{name}'")).collect();
        return Err(Fault::new(format!("Algorithm must be one of {{{}}}", names.join(", "))));
    };
    let bytes = text.chars().map(|c| u8::try_from(u32::from(c)));
    match bytes.collect::<Result<Vec<u8>, _>>() {
        Ok(bytes) => Ok(hash(&bytes).into()),
        Err(_) => {
            Err(Fault::new(format!("The text of \"{name}\" may only hold characters of latin-1")))
        }
    }
}
