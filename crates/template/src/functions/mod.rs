//! The intrinsic functions of both dialects: one row each.
//!
//! A function handles its argument three times. `form` checks its shape when the template is read.
//! `check` checks the names in it when the template is validated. `body` computes the value.
//! A strict body never gets an unknown or hidden value: the evaluator handles those.

mod collection;
mod condition;
mod digest;
mod query;
mod reference;
mod repeat;
mod text;
mod url;

use crate::codes::{self, Code};
use crate::eval::{Checker, Scope};
use crate::expr::{Call, Expr};
use crate::value::Value;
use crate::version::{Position, Version};
use Version::{
    Aws20100909, Heat20121212, Hot20130523, Hot20141016, Hot20150430, Hot20151015, Hot20160408,
    Hot20161014, Hot20170224, Hot20170901,
};

pub(crate) use query::literal_query;
pub(crate) use reference::bad_reference;
pub use reference::{Facade, step_into_attribute};

/// The failure of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which kind of finding it is.
    pub code: &'static Code,
    /// Heat's sentence.
    pub message: String,
}

impl Fault {
    /// A failure because of the argument's value.
    pub fn new(message: impl Into<String>) -> Fault {
        Fault { code: &codes::FUNCTION_FAILED, message: message.into() }
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Fault {
        Fault::new(message)
    }
}

type FormCheck = fn(&Expr, &str, Version) -> Result<(), String>;
type ArgumentCheck = fn(&Checker<'_>, &Call) -> Result<(), Fault>;

/// How a function computes.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// From the value of its argument.
    Strict(fn(&Scope<'_>, &Call, &Value) -> Result<Value, Fault>),
    /// From its argument as written: it decides itself what to evaluate.
    Lazy(fn(&Scope<'_>, &Call) -> Result<Value, Fault>),
    /// By choosing an expression: lowering has replaced it.
    Choice,
}

/// An intrinsic function.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// An example.
    pub usage: &'static str,
    /// What it returns, in a sentence.
    pub about: &'static str,
    /// The first version that has it.
    pub since: Version,
    /// The first version that no longer has it.
    pub until: Option<Version>,
    /// Whether it may appear in resources and outputs.
    pub in_values: bool,
    /// The first version in which it may appear in conditions.
    pub in_conditions: Option<Version>,
    form: FormCheck,
    check: ArgumentCheck,
    body: Body,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Function {
    /// Whether a version has it.
    pub fn exists_in(&self, version: Version) -> bool {
        version >= self.since && self.until.is_none_or(|until| version < until)
    }

    /// Whether a version rejects it because an earlier one had it.
    pub(crate) fn removed_in(&self, version: Version) -> bool {
        self.until.is_some_and(|until| until > Hot20130523 && version >= until)
    }

    /// Whether it is allowed at a position.
    pub fn allowed_in(&self, position: Position, version: Version) -> bool {
        match position {
            Position::Value => self.in_values,
            Position::Condition => {
                version.has_conditions() && self.in_conditions.is_some_and(|since| version >= since)
            }
        }
    }

    /// Whether it chooses between two expressions.
    pub(crate) fn is_choice(&self) -> bool {
        matches!(self.body, Body::Choice)
    }

    pub(crate) fn form(&self, args: &Expr, version: Version) -> Result<(), String> {
        (self.form)(args, self.name, version)
    }

    pub(crate) fn check(&self, checker: &Checker<'_>, call: &Call) -> Result<(), Fault> {
        (self.check)(checker, call)
    }

    pub(crate) fn body(&self) -> Body {
        self.body
    }

    /// The function that replaces it in newer versions.
    pub(crate) fn instead(&self) -> Option<&'static str> {
        Some(match self.name {
            "Ref" => "get_param or get_resource",
            "Fn::Select" => "get_param or get_attr with a path, or yaql",
            "Fn::Join" => "list_join",
            "Fn::Split" => "str_split",
            "Fn::Replace" => "str_replace",
            "Fn::ResourceFacade" => "resource_facade",
            "Fn::Base64" => "the text itself: it was never encoded",
            _ => return None,
        })
    }
}

/// The function with a name.
pub(crate) fn named(name: &str) -> Option<&'static Function> {
    ALL.binary_search_by(|row| row.name.cmp(name)).ok().map(|at| &ALL[at])
}

fn any_form(_: &Expr, _: &str, _: Version) -> Result<(), String> {
    Ok(())
}

fn no_check(_: &Checker<'_>, _: &Call) -> Result<(), Fault> {
    Ok(())
}

const fn row(
    name: &'static str,
    (since, until): (Version, Option<Version>),
    usage: &'static str,
    about: &'static str,
    form: FormCheck,
    body: Body,
) -> Function {
    Function {
        name,
        usage,
        about,
        since,
        until,
        in_values: true,
        in_conditions: None,
        form,
        check: no_check,
        body,
    }
}

impl Function {
    const fn checked(mut self, check: ArgumentCheck) -> Function {
        self.check = check;
        self
    }

    const fn in_conditions(mut self, since: Version) -> Function {
        self.in_conditions = Some(since);
        self
    }

    const fn only_in_conditions(mut self, since: Version) -> Function {
        self.in_values = false;
        self.in_conditions = Some(since);
        self
    }
}

const fn since(version: Version) -> (Version, Option<Version>) {
    (version, None)
}

/// The CloudFormation dialects, and HOT before a version.
const fn cfn_and_hot_before(version: Version) -> (Version, Option<Version>) {
    (Aws20100909, Some(version))
}

const CFN_AND_FIRST_HOT: (Version, Option<Version>) = cfn_and_hot_before(Hot20141016);
const CFN: (Version, Option<Version>) = cfn_and_hot_before(Hot20130523);
const AWS: (Version, Option<Version>) = cfn_and_hot_before(Heat20121212);

use Body::{Choice, Lazy, Strict};

/// Every function, by name.
pub static ALL: &[Function] = &[
    row(
        "Fn::And",
        AWS,
        "{Fn::And: [CONDITION, CONDITION, ...]}",
        "Whether all conditions hold; the first that does not decides.",
        condition::form_and_or,
        Lazy(condition::and),
    )
    .only_in_conditions(Aws20100909),
    row(
        "Fn::Base64",
        CFN_AND_FIRST_HOT,
        "{Fn::Base64: TEXT}",
        "The text, unchanged: services encode it themselves.",
        any_form,
        Strict(text::base64),
    ),
    row(
        "Fn::Equals",
        AWS,
        "{Fn::Equals: [VALUE, VALUE]}",
        "Whether two values are equal.",
        condition::form_equals,
        Strict(condition::equals),
    )
    .only_in_conditions(Aws20100909),
    row(
        "Fn::FindInMap",
        CFN,
        "{Fn::FindInMap: [MAP, KEY, KEY]}",
        "A value from the template's Mappings.",
        reference::form_find_in_map,
        Strict(reference::find_in_map),
    )
    .in_conditions(Aws20100909),
    row(
        "Fn::GetAZs",
        CFN_AND_FIRST_HOT,
        "{Fn::GetAZs: REGION}",
        "The availability zones of the compute service.",
        any_form,
        Strict(reference::get_azs),
    ),
    row(
        "Fn::GetAtt",
        CFN,
        "{Fn::GetAtt: [RESOURCE, ATTRIBUTE]}",
        "An attribute of a resource.",
        reference::form_get_att,
        Strict(reference::get_att),
    )
    .checked(reference::check_get_attr),
    row("Fn::If", AWS, "{Fn::If: [CONDITION, THEN, ELSE]}", "One of two values.", any_form, Choice),
    row(
        "Fn::Join",
        CFN_AND_FIRST_HOT,
        "{Fn::Join: [DELIMITER, [TEXT, ...]]}",
        "Texts joined to one.",
        text::form_join,
        Strict(text::join),
    ),
    row(
        "Fn::MemberListToMap",
        CFN_AND_FIRST_HOT,
        "{Fn::MemberListToMap: [KEYNAME, VALUENAME, [TEXT, ...]]}",
        "A map from texts of the form .member.N.KEYNAME=key.",
        collection::form_member_list,
        Strict(collection::member_list_to_map),
    ),
    row(
        "Fn::Not",
        AWS,
        "{Fn::Not: [CONDITION]}",
        "Whether a condition does not hold.",
        condition::form_cfn_not,
        Lazy(condition::cfn_not),
    )
    .only_in_conditions(Aws20100909),
    row(
        "Fn::Or",
        AWS,
        "{Fn::Or: [CONDITION, CONDITION, ...]}",
        "Whether one of the conditions holds; the first that does decides.",
        condition::form_and_or,
        Lazy(condition::or),
    )
    .only_in_conditions(Aws20100909),
    row(
        "Fn::Replace",
        CFN_AND_FIRST_HOT,
        "{Fn::Replace: [{PLACEHOLDER: VALUE, ...}, TEXT]}",
        "Text with placeholders replaced.",
        text::form_cfn_replace,
        Strict(text::cfn_replace),
    ),
    row(
        "Fn::ResourceFacade",
        CFN_AND_FIRST_HOT,
        "{Fn::ResourceFacade: Metadata | DeletionPolicy | UpdatePolicy}",
        "A part of the definition of the resource that this template implements.",
        reference::form_facade,
        Strict(reference::facade),
    ),
    row(
        "Fn::Select",
        cfn_and_hot_before(Hot20151015),
        "{Fn::Select: [INDEX, COLLECTION]}",
        "A member of a list or map.",
        collection::form_select,
        Strict(collection::select),
    ),
    row(
        "Fn::Split",
        CFN_AND_FIRST_HOT,
        "{Fn::Split: [DELIMITER, TEXT]}",
        "The parts of a text.",
        text::form_cfn_split,
        Strict(text::cfn_split),
    ),
    row(
        "Ref",
        CFN_AND_FIRST_HOT,
        "{Ref: NAME}",
        "The reference of a resource, or the value of a parameter.",
        reference::form_ref,
        Strict(reference::cfn_ref),
    )
    .in_conditions(Aws20100909),
    row(
        "and",
        since(Hot20161014),
        "{and: [CONDITION, CONDITION, ...]}",
        "Whether all conditions hold; the first that does not decides.",
        condition::form_and_or,
        Lazy(condition::and),
    )
    .only_in_conditions(Hot20161014),
    row(
        "contains",
        since(Hot20170901),
        "{contains: [VALUE, SEQUENCE]}",
        "Whether a list has a member, or a text a part.",
        collection::form_contains,
        Strict(collection::contains),
    )
    .in_conditions(Hot20170901),
    row(
        "digest",
        since(Hot20150430),
        "{digest: [ALGORITHM, TEXT]}",
        "The hash of a text, in hexadecimal.",
        any_form,
        Strict(digest::digest),
    ),
    row(
        "equals",
        since(Hot20161014),
        "{equals: [VALUE, VALUE]}",
        "Whether two values are equal.",
        condition::form_equals,
        Strict(condition::equals),
    )
    .only_in_conditions(Hot20161014),
    row(
        "filter",
        since(Hot20170224),
        "{filter: [[VALUE, ...], LIST]}",
        "A list without some values.",
        collection::form_filter,
        Strict(collection::filter),
    ),
    row(
        "get_attr",
        since(Hot20130523),
        "{get_attr: [RESOURCE, ATTRIBUTE, KEY, ...]}",
        "An attribute of a resource, or a part of it.",
        reference::form_get_attr,
        Strict(reference::get_attr),
    )
    .checked(reference::check_get_attr),
    row(
        "get_file",
        since(Hot20130523),
        "{get_file: PATH_OR_URL}",
        "The content of a file that is sent along.",
        any_form,
        Strict(reference::get_file),
    ),
    row(
        "get_param",
        since(Hot20130523),
        "{get_param: NAME} or {get_param: [NAME, KEY, ...]}",
        "The value of a parameter, or a part of it.",
        any_form,
        Strict(reference::get_param),
    )
    .in_conditions(Hot20161014),
    row(
        "get_resource",
        since(Hot20130523),
        "{get_resource: RESOURCE}",
        "The reference of a resource, mostly the id of its object.",
        reference::form_get_resource,
        Strict(reference::get_resource),
    ),
    row(
        "if",
        since(Hot20161014),
        "{if: [CONDITION, THEN, ELSE]}",
        "One of two values; from 2021-04-16 ELSE may be left out.",
        any_form,
        Choice,
    ),
    row(
        "list_concat",
        since(Hot20170901),
        "{list_concat: [LIST, LIST, ...]}",
        "Lists in one.",
        any_form,
        Strict(collection::list_concat),
    ),
    row(
        "list_concat_unique",
        since(Hot20170901),
        "{list_concat_unique: [LIST, LIST, ...]}",
        "Lists in one, every member once.",
        any_form,
        Strict(collection::list_concat_unique),
    ),
    row(
        "list_join",
        since(Hot20130523),
        "{list_join: [DELIMITER, [TEXT, ...], ...]}",
        "Texts joined to one; from 2015-10-15 maps and lists join as JSON.",
        text::form_join,
        Strict(text::join),
    ),
    row(
        "make_url",
        since(Hot20170901),
        "{make_url: {scheme, username, password, host, port, path, query, fragment}}",
        "A URL from its parts, encoded as it has to be.",
        any_form,
        Strict(url::make_url),
    )
    .checked(url::check_make_url),
    row(
        "map_merge",
        since(Hot20160408),
        "{map_merge: [MAP, MAP, ...]}",
        "Maps in one; later keys win.",
        any_form,
        Strict(collection::map_merge),
    ),
    row(
        "map_replace",
        since(Hot20161014),
        "{map_replace: [MAP, {keys: {OLD: NEW}, values: {OLD: NEW}}]}",
        "A map with other keys or values.",
        any_form,
        Strict(collection::map_replace),
    ),
    row(
        "not",
        since(Hot20161014),
        "{not: CONDITION}",
        "Whether a condition does not hold.",
        condition::form_not,
        Lazy(condition::not),
    )
    .only_in_conditions(Hot20161014),
    row(
        "or",
        since(Hot20161014),
        "{or: [CONDITION, CONDITION, ...]}",
        "Whether one of the conditions holds; the first that does decides.",
        condition::form_and_or,
        Lazy(condition::or),
    )
    .only_in_conditions(Hot20161014),
    row(
        "repeat",
        since(Hot20150430),
        "{repeat: {template: T, for_each: {PLACEHOLDER: LIST, ...}}}",
        "A list with one copy of the template for each member or combination.",
        repeat::form_repeat,
        Strict(repeat::repeat),
    )
    .checked(repeat::check_repeat),
    row(
        "resource_facade",
        since(Hot20130523),
        "{resource_facade: metadata | deletion_policy | update_policy}",
        "A part of the definition of the resource that this template implements.",
        reference::form_facade,
        Strict(reference::facade),
    ),
    row(
        "str_replace",
        since(Hot20130523),
        "{str_replace: {template: TEXT, params: {PLACEHOLDER: VALUE, ...}}}",
        "Text with placeholders replaced, all at once.",
        text::form_str_replace,
        Strict(text::str_replace),
    ),
    row(
        "str_replace_strict",
        since(Hot20170224),
        "{str_replace_strict: {template: TEXT, params: {PLACEHOLDER: VALUE, ...}}}",
        "As str_replace; every placeholder must be in the text.",
        text::form_str_replace,
        Strict(text::str_replace),
    ),
    row(
        "str_replace_vstrict",
        since(Hot20170901),
        "{str_replace_vstrict: {template: TEXT, params: {PLACEHOLDER: VALUE, ...}}}",
        "As str_replace_strict; no value may be empty.",
        text::form_str_replace,
        Strict(text::str_replace),
    ),
    row(
        "str_split",
        since(Hot20151015),
        "{str_split: [DELIMITER, TEXT]} or {str_split: [DELIMITER, TEXT, INDEX]}",
        "The parts of a text, or one of them.",
        text::form_str_split,
        Strict(text::str_split),
    ),
    row(
        "yaql",
        since(Hot20161014),
        "{yaql: {expression: TEXT, data: VALUE}}",
        "The result of a query over data.",
        query::form_yaql,
        Strict(query::yaql),
    )
    .checked(query::check_yaql)
    .in_conditions(Hot20170901),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_by_name() {
        assert!(ALL.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
