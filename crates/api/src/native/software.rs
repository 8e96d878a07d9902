//! Software configurations and deployments.

use super::resources::tagged;
use super::show::{members, wrapped};
use crate::answer::Answer;
use crate::ask::{Ask, moment};
use crate::fault::Fault;
use crate::waiting;
use kiln_engine::service::Kept;
use kiln_template::Value;
use std::sync::Arc;
use uuid::Uuid;

pub(crate) fn config(kept: &Kept) -> Value {
    let part = |name: &str| kept.get(name);
    Value::Map(Arc::new(members([
        ("id", kept.row.id.to_string().into()),
        ("name", part("name")),
        ("group", part("group")),
        ("creation_time", moment(kept.row.created)),
        ("config", part("config")),
        ("inputs", part("inputs")),
        ("outputs", part("outputs")),
        ("options", part("options")),
    ])))
}

pub(crate) async fn list_configs(ask: Ask) -> Result<Answer, Fault> {
    let is_global = ask.query.flag("global_tenant")?.unwrap_or(false);
    if is_global {
        ask.app.allow("software_configs:global_index", &ask.caller, &ask.caller.project_id)?;
    }
    let marker = ask.query.get("marker").and_then(|id| Uuid::parse_str(id).ok());
    let limit = ask.query.count("limit")?;
    let mut asker = ask.asker();
    asker.is_admin |= is_global;
    let configs = ask.service().configs(&asker, marker, limit).await?;
    let shown = configs.iter().map(|kept| {
        let mut shown = members([
            ("id", Value::from(kept.row.id.to_string())),
            ("name", kept.get("name")),
            ("group", kept.get("group")),
            ("creation_time", moment(kept.row.created)),
        ]);
        if ask.is_admin {
            shown.insert("project".into(), Value::Text(kept.row.project.clone()));
        }
        Value::Map(Arc::new(shown))
    });
    Ok(Answer::ok(&wrapped("software_configs", Value::list(shown))))
}

pub(crate) async fn create_config(ask: Ask) -> Result<Answer, Fault> {
    let kept = ask.service().create_config(&ask.asker(), ask.object()?).await?;
    Ok(Answer::ok(&wrapped("software_config", config(&kept))))
}

pub(crate) async fn show_config(ask: Ask) -> Result<Answer, Fault> {
    let kept = ask.service().config_of(&ask.asker(), ask.part("config_id")).await?;
    Ok(Answer::ok(&wrapped("software_config", config(&kept))))
}

pub(crate) async fn delete_config(ask: Ask) -> Result<Answer, Fault> {
    ask.service().delete_config(&ask.asker(), ask.part("config_id")).await?;
    Ok(Answer::nothing())
}

fn deployment(kept: &Kept) -> Value {
    let config = kept.row.uses.map(|id| Value::from(id.to_string()));
    let mut shown = members([
        ("id", kept.row.id.to_string().into()),
        ("server_id", Value::Text(kept.row.subject.clone())),
        ("config_id", config.unwrap_or_default()),
        ("input_values", kept.get("input_values")),
        ("output_values", kept.get("output_values")),
        ("action", kept.get("action")),
        ("status", kept.get("status")),
        ("status_reason", kept.get("status_reason")),
        ("creation_time", moment(kept.row.created)),
    ]);
    if let Some(updated) = kept.row.updated {
        shown.insert("updated_time".into(), moment(updated));
    }
    Value::Map(Arc::new(shown))
}

pub(crate) async fn list_deployments(ask: Ask) -> Result<Answer, Fault> {
    let all = ask.service().deployments(&ask.asker(), ask.query.get("server_id")).await?;
    Ok(Answer::ok(&wrapped("software_deployments", Value::list(all.iter().map(deployment)))))
}

pub(crate) async fn create_deployment(ask: Ask) -> Result<Answer, Fault> {
    let kept = ask.service().create_deployment(&ask.asker(), ask.object()?).await?;
    Ok(Answer::ok(&wrapped("software_deployment", deployment(&kept))))
}

pub(crate) async fn show_deployment(ask: Ask) -> Result<Answer, Fault> {
    let kept = ask.service().deployment(&ask.asker(), ask.part("deployment_id")).await?;
    Ok(Answer::ok(&wrapped("software_deployment", deployment(&kept))))
}

pub(crate) async fn update_deployment(ask: Ask) -> Result<Answer, Fault> {
    let id = ask.part("deployment_id");
    let kept = ask.service().update_deployment(&ask.asker(), id, ask.object()?).await?;
    Ok(Answer::ok(&wrapped("software_deployment", deployment(&kept))))
}

pub(crate) async fn delete_deployment(ask: Ask) -> Result<Answer, Fault> {
    ask.service().delete_deployment(&ask.asker(), ask.part("deployment_id")).await?;
    Ok(Answer::nothing())
}

pub(crate) async fn metadata(ask: Ask) -> Result<Answer, Fault> {
    let seconds = ask.query.count("wait")?;
    let server = ask.part("server_id");
    let look = || async {
        let configs = ask.service().server_configs(&ask.asker(), server).await?;
        // Whoever applies them needs what is hidden from others.
        let configs = configs.iter().map(|kept| config(kept).exposed());
        Ok((Some(server.into()), Value::list(configs)))
    };
    let told = waiting::told(&ask, (None, server), ask.known.as_deref(), seconds, look).await?;
    Ok(tagged(&ask, &told))
}
