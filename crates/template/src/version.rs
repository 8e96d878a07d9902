//! Template versions: which exist, and what each of them understands.

use crate::functions::{self, Function};

/// The two families of templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// The native language.
    Hot,
    /// The CloudFormation-compatible language.
    Cfn,
}

/// A template version; later ones are greater within a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// `AWSTemplateFormatVersion: 2010-09-09`
    Aws20100909,
    /// `HeatTemplateFormatVersion: 2012-12-12`
    Heat20121212,
    /// `heat_template_version: 2013-05-23`
    Hot20130523,
    /// `heat_template_version: 2014-10-16`
    Hot20141016,
    /// `heat_template_version: 2015-04-30`
    Hot20150430,
    /// `heat_template_version: 2015-10-15`
    Hot20151015,
    /// `heat_template_version: 2016-04-08`
    Hot20160408,
    /// `heat_template_version: 2016-10-14`, or `newton`
    Hot20161014,
    /// `heat_template_version: 2017-02-24`, or `ocata`
    Hot20170224,
    /// `heat_template_version: 2017-09-01`, or `pike`
    Hot20170901,
    /// `heat_template_version: 2018-03-02`, or `queens`
    Hot20180302,
    /// `heat_template_version: 2018-08-31`, or `rocky`
    Hot20180831,
    /// `heat_template_version: 2021-04-16`, or `wallaby`
    Hot20210416,
}

/// How a version is written in a template.
#[derive(Debug)]
pub struct VersionInfo {
    /// The version.
    pub version: Version,
    /// The key that announces it.
    pub key: &'static str,
    /// Its date.
    pub date: &'static str,
    /// Its release name.
    pub alias: Option<&'static str>,
}

const HOT: &str = "heat_template_version";

const fn hot(version: Version, date: &'static str, alias: Option<&'static str>) -> VersionInfo {
    VersionInfo { version, key: HOT, date, alias }
}

/// Every version, oldest first in its dialect.
pub static ALL: [VersionInfo; 13] = [
    VersionInfo {
        version: Version::Aws20100909,
        key: "AWSTemplateFormatVersion",
        date: "2010-09-09",
        alias: None,
    },
    VersionInfo {
        version: Version::Heat20121212,
        key: "HeatTemplateFormatVersion",
        date: "2012-12-12",
        alias: None,
    },
    hot(Version::Hot20130523, "2013-05-23", None),
    hot(Version::Hot20141016, "2014-10-16", None),
    hot(Version::Hot20150430, "2015-04-30", None),
    hot(Version::Hot20151015, "2015-10-15", None),
    hot(Version::Hot20160408, "2016-04-08", None),
    hot(Version::Hot20161014, "2016-10-14", Some("newton")),
    hot(Version::Hot20170224, "2017-02-24", Some("ocata")),
    hot(Version::Hot20170901, "2017-09-01", Some("pike")),
    hot(Version::Hot20180302, "2018-03-02", Some("queens")),
    hot(Version::Hot20180831, "2018-08-31", Some("rocky")),
    hot(Version::Hot20210416, "2021-04-16", Some("wallaby")),
];

/// Releases before `newton`, whose names Heat does not accept for their versions. Documents use them all the same, so Kiln
/// does; they are not listed among the versions.
static EARLY_RELEASES: [(&str, &str); 5] = [
    ("icehouse", "2013-05-23"),
    ("juno", "2014-10-16"),
    ("kilo", "2015-04-30"),
    ("liberty", "2015-10-15"),
    ("mitaka", "2016-04-08"),
];

/// The keys that announce a version.
pub static KEYS: [&str; 3] = [HOT, "HeatTemplateFormatVersion", "AWSTemplateFormatVersion"];

/// The version that a key and a value name: a date, or a release name.
pub fn find(key: &str, value: &str) -> Option<Version> {
    let early = EARLY_RELEASES.iter().find(|(name, _)| key == HOT && *name == value);
    let value = early.map_or(value, |(_, date)| *date);
    ALL.iter()
        .find(|row| row.key == key && (row.date == value || row.alias == Some(value)))
        .map(|row| row.version)
}

/// The values that a key takes: all dates, then all release names.
pub fn values(key: &str) -> Vec<&'static str> {
    let rows = || ALL.iter().filter(|row| row.key == key);
    rows().map(|row| row.date).chain(rows().filter_map(|row| row.alias)).collect()
}

/// The meaning of a word as the name of a function.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// A function of this version.
    Function(&'static Function),
    /// A function that this version no longer has.
    Removed(&'static Function),
    /// A function that is not allowed at this position.
    Misplaced(&'static Function),
    /// No function: plain data.
    Data,
}

/// The position of a function in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// In a resource or an output.
    Value,
    /// In a condition.
    Condition,
}

impl Version {
    /// How the version is written.
    pub fn info(self) -> &'static VersionInfo {
        &ALL[self as usize]
    }

    /// The family.
    pub fn dialect(self) -> Dialect {
        if self < Version::Hot20130523 { Dialect::Cfn } else { Dialect::Hot }
    }

    /// Whether the version has conditions, and with them the keys that use them.
    pub(crate) fn has_conditions(self) -> bool {
        self == Version::Aws20100909 || self >= Version::Hot20161014
    }

    /// Whether resources may have an `external_id`.
    pub(crate) fn has_external_id(self) -> bool {
        self >= Version::Hot20161014
    }

    /// The names of sections and keys in this dialect.
    pub(crate) fn keywords(self) -> &'static Keywords {
        match self.dialect() {
            Dialect::Hot => &HOT_WORDS,
            Dialect::Cfn => &CFN_WORDS,
        }
    }

    /// Whether a section of this name may appear at the top of a template.
    pub fn has_section(self, name: &str) -> bool {
        let words = self.keywords();
        let common =
            [words.description, words.parameters, words.resources, words.outputs].contains(&name);
        common
            || KEYS.contains(&name) && (self.dialect() == Dialect::Cfn) == (name != HOT)
            || name == words.own_section
            || name == words.conditions && self.has_conditions()
    }

    /// Every section that may appear at the top of a template.
    pub fn sections(self) -> impl Iterator<Item = &'static str> {
        let w = self.keywords();
        [
            self.info().key,
            w.description,
            w.own_section,
            w.parameters,
            w.conditions,
            w.resources,
            w.outputs,
        ]
        .into_iter()
        .filter(move |name| self.has_section(name))
    }

    /// The meaning of a word as the name of a function at a position.
    pub fn meaning(self, word: &str, position: Position) -> Meaning {
        let Some(function) = functions::named(word) else { return Meaning::Data };
        match position {
            _ if function.exists_in(self) && function.allowed_in(position, self) => {
                Meaning::Function(function)
            }
            Position::Value if function.removed_in(self) => Meaning::Removed(function),
            Position::Condition if function.exists_in(self) || function.removed_in(self) => {
                Meaning::Misplaced(function)
            }
            _ => Meaning::Data,
        }
    }

    /// The functions of this version at a position, by name.
    pub fn functions(self, position: Position) -> impl Iterator<Item = &'static Function> {
        functions::ALL.iter().filter(move |f| f.exists_in(self) && f.allowed_in(position, self))
    }
}

/// The names of sections and keys in a dialect.
#[derive(Debug)]
pub(crate) struct Keywords {
    /// The section with the description, and the key of a description.
    pub(crate) description: &'static str,
    /// The section that only this dialect has: parameter groups, or mappings.
    pub(crate) own_section: &'static str,
    /// The section of parameters.
    pub(crate) parameters: &'static str,
    /// The section of conditions.
    pub(crate) conditions: &'static str,
    /// The section of resources.
    pub(crate) resources: &'static str,
    /// The section of outputs.
    pub(crate) outputs: &'static str,
    /// Key: a resource's type.
    pub(crate) resource_type: &'static str,
    /// Key: a resource's properties.
    pub(crate) properties: &'static str,
    /// Key: a resource's metadata.
    pub(crate) metadata: &'static str,
    /// Key: the explicit dependencies.
    pub(crate) depends_on: &'static str,
    /// Key: the deletion policy.
    pub(crate) deletion_policy: &'static str,
    /// Key: the update policy.
    pub(crate) update_policy: &'static str,
    /// Key: whether a resource or output exists.
    pub(crate) condition: &'static str,
    /// Key: an output's value.
    pub(crate) value: &'static str,
}

static HOT_WORDS: Keywords = Keywords {
    description: "description",
    own_section: "parameter_groups",
    parameters: "parameters",
    conditions: "conditions",
    resources: "resources",
    outputs: "outputs",
    resource_type: "type",
    properties: "properties",
    metadata: "metadata",
    depends_on: "depends_on",
    deletion_policy: "deletion_policy",
    update_policy: "update_policy",
    condition: "condition",
    value: "value",
};

static CFN_WORDS: Keywords = Keywords {
    description: "Description",
    own_section: "Mappings",
    parameters: "Parameters",
    conditions: "Conditions",
    resources: "Resources",
    outputs: "Outputs",
    resource_type: "Type",
    properties: "Properties",
    metadata: "Metadata",
    depends_on: "DependsOn",
    deletion_policy: "DeletionPolicy",
    update_policy: "UpdatePolicy",
    condition: "Condition",
    value: "Value",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_indexed_by_version() {
        for row in &ALL {
            assert!(std::ptr::eq(row.version.info(), row));
            assert_eq!(find(row.key, row.date), Some(row.version));
        }
        assert_eq!(find(HOT, "queens"), Some(Version::Hot20180302));
        assert_eq!(find(HOT, "mitaka"), Some(Version::Hot20160408));
        assert_eq!(find("HeatTemplateFormatVersion", "mitaka"), None);
        assert!(!values(HOT).contains(&"mitaka"));
        assert_eq!(find(HOT, "2010-09-09"), None);
        assert_eq!(values("AWSTemplateFormatVersion"), ["2010-09-09"]);
    }

    #[test]
    fn sections_come_and_go_with_versions() {
        assert!(!Version::Hot20160408.has_section("conditions"));
        assert!(Version::Hot20161014.has_section("conditions"));
        assert!(Version::Aws20100909.has_section("Conditions"));
        assert!(!Version::Heat20121212.has_section("Conditions"));
        assert!(!Version::Aws20100909.has_section("Metadata"));
        assert!(!Version::Hot20161014.has_section("Mappings"));
    }
}
