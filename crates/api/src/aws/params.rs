//! The parameters of a request, from its query and its form.

use super::fault::{AwsFault, Code};
use crate::body::RawBody;
use crate::query::Query;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderValue, Method, Request as HttpRequest};
use std::collections::BTreeMap;

/// More members than this no list has.
const MAX_MEMBERS: usize = 1000;

/// Parameters by their names, or by what follows a prefix of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params(BTreeMap<String, String>);

impl Params {
    /// The parameters of a request.
    pub(crate) fn parse(request: &HttpRequest<RawBody>) -> Params {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let body = request.body().as_deref().unwrap_or_default();
        // Tools send objects and call them forms.
        let is_form = kind.is_some_and(|it| it.starts_with("application/x-www-form-urlencoded"))
            && body.first() != Some(&b'{');
        let format = if is_form { String::from_utf8_lossy(body) } else { "".into() };
        let authorization = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let is_version_4 = authorization.is_some_and(|it| it.starts_with(b"AWS4-HMAC-SHA256"));
        let query = match is_version_4 && request.method() == Method::POST {
            // Such a signature is of the form alone: anybody could have put more behind the question mark.
            true => Query::default(),
            false => Query::parse(request.uri().query().unwrap_or("")),
        };
        Params::from_pairs(query.pairs().chain(Query::parse(&format).pairs()))
    }

    fn from_pairs<'p>(pairs: impl Iterator<Item = (&'p str, &'p str)>) -> Params {
        Params(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// Names and values.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A parameter, unless it is empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_raw(name).filter(|value| !value.is_empty())
    }

    /// A parameter, empty or not.
    pub fn get_raw(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A parameter that must be there.
    pub fn need(&self, name: &str) -> Result<&str, AwsFault> {
        self.get(name).ok_or_else(|| AwsFault::missing(name))
    }

    /// The value of a member of a list of plain values.
    pub fn value(&self) -> Option<&str> {
        self.get("")
    }

    /// A list of plain values: `Name.member.1`, `Name.member.2`, in the order of their numbers.
    pub fn values(&self, name: &str) -> Result<Vec<&str>, AwsFault> {
        let members = self.numbered(name)?;
        let plain = members.into_iter().map(|(_, rest, value)| {
            if rest.is_empty() {
                Ok(value)
            } else {
                Err(malformed(&format!("{name}.member.N.{rest}")))
            }
        });
        plain.collect()
    }

    /// A list of objects: `Name.member.1.Field`…, in the order of their numbers; there may be gaps.
    pub fn members(&self, name: &str) -> Result<Vec<Params>, AwsFault> {
        let mut lists: BTreeMap<u32, Params> = BTreeMap::new();
        for (number, rest, value) in self.numbered(name)? {
            let fields = lists.entry(number).or_default();
            fields.0.insert(rest.to_owned(), value.to_owned());
        }
        Ok(lists.into_values().collect())
    }

    /// The members of a list, sorted by number: the number, the rest of the name, and the value.
    fn numbered<'p>(&'p self, name: &str) -> Result<Vec<(u32, &'p str, &'p str)>, AwsFault> {
        let start = format!("{name}.");
        let all = self.0.range(start.clone()..).take_while(|(key, _)| key.starts_with(&start));
        let mut found = Vec::new();
        for (key, value) in all {
            let (number, rest) = key
                .get(start.len()..)
                .and_then(|rest| rest.strip_prefix("member."))
                .map(|rest| rest.split_once('.').unwrap_or((rest, "")))
                .ok_or_else(|| malformed(key))?;
            let number: Option<u32> = number.parse().ok().filter(|number| *number > 0);
            found.push((number.ok_or_else(|| malformed(key))?, rest, value.as_str()));
        }
        found.sort_by_key(|(number, ..)| *number);
        let mut numbers: Vec<u32> = found.iter().map(|(number, ..)| *number).collect();
        numbers.dedup();
        if numbers.len() > MAX_MEMBERS {
            Err(AwsFault::bad(format!("{name} has more than {MAX_MEMBERS} members")))
        } else {
            Ok(found)
        }
    }
}

impl From<BTreeMap<String, String>> for Params {
    fn from(params: BTreeMap<String, String>) -> Params {
        Params(params)
    }
}

fn malformed(name: &str) -> AwsFault {
    let message = format!("{name} is not how members of lists are called: Name.member.1.Field");
    AwsFault::new(Code::InvalidQueryParameter, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(text: &str) -> Params {
        Params::from_pairs(Query::parse(text).pairs())
    }

    #[test]
    fn lists_are_in_the_order_of_their_numbers() {
        let params = params("P.member.10.K=c&P.member.2.K=b&P.member.2.V=1&P.member.1.K=a&Px=1&P=");
        let keys: Vec<_> =
            params.members("P").unwrap().iter().map(|it| it.get("K").unwrap().to_owned()).collect();
        assert_eq!(keys, ["a", "b", "c"]);
        assert_eq!(params.members("Q"), Ok(Vec::new()));
        let deep = self::params("M.member.1.D.member.1.Name=n&M.member.1.D.member.2.Name=m");
        let inner = deep.members("M").unwrap()[0].members("D").unwrap();
        assert_eq!(inner.len(), 2);
        let plain = self::params("A.member.2=y&A.member.1=x");
        assert_eq!(plain.values("A"), Ok(vec!["x", "y"]));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["P.member.x.K=1", "P.member.0.K=1", "P.member.-1=1", "P.x=1", "P.member.=1"] {
            let fault = params(text).members("P").unwrap_err();
            assert_eq!(fault.code, Code::InvalidQueryParameter, "{text}");
        }
        assert!(params("P.member.1.K=1").values("P").is_err());
        let many: Vec<String> =
            (1..=MAX_MEMBERS + 1).map(|it| format!("P.member.{it}=1")).collect();
        let fault = params(&many.join("&")).values("P").unwrap_err();
        assert_eq!(fault.code, Code::InvalidParameterValue);
    }

    #[test]
    fn the_last_one_counts_and_an_empty_one_is_none() {
        let params = params("a=1&a=2&b=");
        assert_eq!(
            (params.get("a"), params.get("b"), params.get_raw("b")),
            (Some("2"), None, Some(""))
        );
        assert_eq!(params.need("b"), Err(AwsFault::missing("b")));
    }
}
