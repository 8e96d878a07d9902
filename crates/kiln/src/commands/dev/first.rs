//! The stack that `kiln dev TEMPLATE` creates.

use super::DevServer;
use super::progress::Progress;
use crate::cli::{Dev, TemplateArgs};
use crate::load::{self, StackInput};
use crate::stdio::{CommandError, Streams, Verdict};
use kiln_cloud::{CreatedBy, UserToken};
use kiln_engine::store::{EventQuery, StackRow};
use kiln_engine::{Requester, Service, StackId, StackRequest, Status, TemplateSource};
use kiln_template::print::{self, Keys};
use std::sync::Arc;
use std::time::Duration;

/// The polling interval of the stack's state.
const LOOK: Duration = Duration::from_millis(50);

/// A stack to create.
pub(super) struct FirstStack {
    name: String,
    request: StackInput,
}

/// Reads the template and all files it refers to.
pub(super) fn load(arguments: &Dev) -> Result<FirstStack, CommandError> {
    let template = arguments.template.clone().unwrap_or_default();
    let name = arguments.name.clone().unwrap_or_else(|| name_of(&template));
    let subject = TemplateArgs {
        template,
        environments: arguments.environments.clone(),
        parameters: arguments.parameters.clone(),
        parameter_files: Vec::new(),
        plugin_dirs: Vec::new(),
    };
    Ok(FirstStack { name, request: load::request(&subject)? })
}

/// Derives a stack name from the template's file name.
fn name_of(template: &str) -> String {
    let file = template.rsplit('/').next().unwrap_or(template);
    let stem = file.split('.').next().unwrap_or(file);
    let name: String = stem
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() || "_-".contains(it) { it } else { '-' })
        .collect();
    match name.starts_with(|it: char| it.is_ascii_alphabetic()) {
        true => name,
        false => format!("stack-{name}").trim_end_matches('-').to_owned(),
    }
}

/// Creates the stack and shows its progress.
pub(super) async fn make(
    running: &DevServer,
    first: FirstStack,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let service = &running.service;
    let token = running.identity.login("demo", "demo");
    let token = token.map_err(|error| CommandError::Usage(error.to_string()))?;
    let asker = Requester {
        project: token.project_id.as_str().into(),
        user_name: "demo".into(),
        is_admin: false,
        stack_user_project: None,
        user_token: UserToken {
            token: token.id.as_str().into(),
            user: token.user_id.as_str().into(),
            project: token.project_id.as_str().into(),
            roles: token.roles.iter().map(|role| role.as_str().into()).collect(),
            password: None,
            delegated: None,
        },
        created_by: Arc::new(CreatedBy {
            user_name: "demo".into(),
            roles: vec!["member".into(), "reader".into()],
            ..CreatedBy::default()
        }),
        may_use: Arc::new(|_| true),
        has_service: Arc::new(|_| true),
    };
    let request = StackRequest {
        template: TemplateSource::Text(first.request.template),
        environment: first.request.environment,
        parameters: first.request.parameters,
        files: first.request.files,
        ..StackRequest::default()
    };
    let id = match service.create(&asker, &first.name, request).await {
        Ok(id) => id,
        Err(refusal) => {
            let message = refusal.message.unwrap_or_else(|| refusal.error_type.to_string());
            writeln!(streams.err, "The stack {} was rejected: {message}", first.name)?;
            writeln!(streams.err, "`kiln validate` shows the location and how to fix it.")?;
            streams.err.flush()?;
            return Ok(Verdict::Bad);
        }
    };
    let stack = follow(service, &asker, id, streams).await?;
    outputs(service, &stack, streams).await?;
    Ok(Verdict::of(stack.summary.state.status == Status::Complete))
}

/// Shows the progress until the stack is idle.
async fn follow(
    service: &Service,
    asker: &Requester,
    id: StackId,
    streams: &mut Streams<'_>,
) -> Result<StackRow, CommandError> {
    let failed = |error: kiln_engine::RequestError| CommandError::Usage(error.to_string());
    let mut progress = Progress::new(streams);
    let mut marker = None;
    loop {
        let stack = service.stack(asker, id).await.map_err(failed)?;
        let Some(stack) = stack else { return Err(CommandError::usage("the stack is gone")) };
        let stacks = service.with_nested(&stack, usize::MAX).await.map_err(failed)?;
        let query = EventQuery { marker, ..Service::events_of(&stacks) };
        let events = service.events(&query).await.map_err(failed)?;
        marker = events.last().map(|event| event.id).or(marker);
        progress.show(&stack, &stacks, &events, streams)?;
        if stack.summary.state.status != Status::InProgress {
            progress.end(&stack, streams)?;
            return Ok(stack);
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn outputs(
    service: &Service,
    stack: &StackRow,
    streams: &mut Streams<'_>,
) -> Result<(), CommandError> {
    let view = service.view(stack).await.map_err(|error| CommandError::Usage(error.to_string()))?;
    let outputs = view.root().outputs();
    if !outputs.is_empty() {
        writeln!(streams.out, "outputs")?;
    }
    let widest = outputs.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    for output in &outputs {
        let value = match &output.value {
            Ok(kiln_template::Value::Text(text)) => text.to_string(),
            Ok(value) => print::json(value, Keys::Ordered),
            Err(message) => format!("({message})"),
        };
        let blanks = " ".repeat(widest - output.name.chars().count());
        writeln!(streams.out, "  {}{blanks}  {value}", output.name)?;
    }
    streams.out.flush()?;
    Ok(())
}
