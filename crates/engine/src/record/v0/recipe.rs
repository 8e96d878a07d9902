//! Recipes of version 0.

use super::Fields;
use super::fields::{id, items, string, text};
use crate::record::v1::{CreatedByBody, RecipeBody, SentRecipeBody, TemplateBody};
use crate::record::value::Stored;
use crate::record::{Record, Unreadable};
use kiln_template::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Record for RecipeBody {
    const NAME: &'static str = "recipe";

    fn from_v0(value: Value) -> Result<RecipeBody, Unreadable> {
        let mut fields = Fields::new(value)?;
        let body = RecipeBody {
            template: fields.required("template", template)?,
            files: fields.optional("files", |value| files(value, string))?.unwrap_or_default(),
            environment: fields.value("environment"),
            parameters: fields.members("parameters")?,
            aliases: fields.list("aliases", alias)?,
            forbidden: fields.list("forbidden", text)?.into_iter().collect(),
            created_by: fields.optional("author", created_by)?,
            contract: None,
        };
        fields.finish()?;
        Ok(body)
    }
}

fn template(value: Value) -> Result<TemplateBody, Unreadable> {
    let mut parts = items(value)?.into_iter();
    let parts = (parts.next(), parts.next(), parts.next(), parts.next());
    let (Some(Value::Text(kind)), first, second, None) = parts else {
        return Err(Unreadable::malformed("it is not a template"));
    };
    match (&*kind, first, second) {
        ("text", Some(hash), None) => Ok(TemplateBody::Text(string(hash)?)),
        ("file", Some(url), Some(hash)) => {
            Ok(TemplateBody::File { url: text(url)?, hash: string(hash)? })
        }
        ("made", Some(value), None) => Ok(TemplateBody::Made(Stored(value))),
        ("nothing", None, None) => Ok(TemplateBody::Nothing),
        _ => Err(Unreadable::malformed(format!("there is no template of the kind {kind:?}"))),
    }
}

fn files<T>(
    value: Value,
    convert: impl Fn(Value) -> Result<T, Unreadable>,
) -> Result<BTreeMap<Arc<str>, T>, Unreadable> {
    let members = super::fields::members(value)?.0;
    let members = Arc::unwrap_or_clone(members).into_iter();
    members.map(|(name, text)| Ok((name, convert(text)?))).collect()
}

fn alias(value: Value) -> Result<(Arc<str>, Arc<str>), Unreadable> {
    match <[Value; 2]>::try_from(items(value)?) {
        Ok([name, meant]) => Ok((text(name)?, text(meant)?)),
        Err(_) => Err(Unreadable::malformed("it is not a pair of names")),
    }
}

fn created_by(value: Value) -> Result<CreatedByBody, Unreadable> {
    let mut fields = Fields::new(value)?;
    let body = CreatedByBody {
        user_id: fields.required("user", text)?,
        user_name: fields.required("name", text)?,
        user_domain: fields.required("domain", text)?,
        project_name: fields.required("project", text)?,
        project_domain: fields.required("project_domain", text)?,
        roles: fields.list("roles", text)?,
        admin_project: fields.flag("admin_project")?,
    };
    fields.finish()?;
    Ok(body)
}

/// A recipe in a command.
pub(super) fn sent_recipe(value: Value) -> Result<SentRecipeBody, Unreadable> {
    let mut fields = Fields::new(value)?;
    let body = SentRecipeBody {
        id: fields.required("id", id)?,
        template: fields.required("template", text)?,
        files: fields.optional("files", |value| files(value, text))?.unwrap_or_default(),
        environment: fields.value("environment"),
        forbidden: fields.list("forbidden", text)?.into_iter().collect(),
        created_by: fields.optional("author", created_by)?,
        contract: None,
    };
    fields.finish()?;
    Ok(body)
}
