//! The default rules, one row each, sorted within their API.

use crate::caller::Scope;

/// A rule as it is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// The name of the rule: the API or the noun, a colon, and the action.
    pub name: &'static str,
    /// The check.
    pub check: &'static str,
    /// The deprecated check, which suffices where new defaults are not enforced.
    pub deprecated: Option<&'static str>,
    /// The scopes of tokens; empty if any will do.
    pub scopes: &'static [Scope],
    /// The effect of the rule, in a sentence.
    pub about: &'static str,
}

const READER: &str = "role:reader and project_id:%(project_id)s";
const MEMBER: &str = "role:member and project_id:%(project_id)s";
const ADMIN: &str = "role:admin and project_id:%(project_id)s";
const READER_OR_STACK_USER: &str = "(role:reader and project_id:%(project_id)s) \
     or (role:heat_stack_user and project_id:%(project_id)s)";
const MEMBER_OR_STACK_USER: &str = "(role:member and project_id:%(project_id)s) \
     or (role:heat_stack_user and project_id:%(project_id)s)";

const NO_STACK_USER: &str = "rule:deny_stack_user";
const EVERYBODY: &str = "rule:allow_everybody";
const ADMINISTRATOR: &str = "rule:context_is_admin";
const PROJECT_ADMIN: &str = "rule:project_admin";

const ANY: &[Scope] = &[];
const PROJECT: &[Scope] = &[Scope::Project];

/// All rules.
pub fn all() -> impl Iterator<Item = Builtin> {
    let tables = [BASE, NATIVE, CLOUDFORMATION, CLOUDWATCH];
    tables.into_iter().flatten().chain(RESOURCE_TYPES).copied()
}

const fn row(
    name: &'static str,
    check: &'static str,
    deprecated: Option<&'static str>,
    about: &'static str,
) -> Builtin {
    Builtin { name, check, deprecated, scopes: PROJECT, about }
}

/// A rule for tokens of any kind.
const fn base(name: &'static str, check: &'static str, about: &'static str) -> Builtin {
    Builtin { name, check, deprecated: None, scopes: ANY, about }
}

/// The check for all roles of the project.
const fn reader(name: &'static str, about: &'static str) -> Builtin {
    row(name, READER, Some(NO_STACK_USER), about)
}

/// The check for roles of the project that may change something.
const fn member(name: &'static str, about: &'static str) -> Builtin {
    row(name, MEMBER, Some(NO_STACK_USER), about)
}

/// A rule that stack users meet as well.
const fn shared(name: &'static str, about: &'static str) -> Builtin {
    row(name, READER_OR_STACK_USER, Some(EVERYBODY), about)
}

/// A resource type that only administrators of the project may use.
const fn guarded(name: &'static str) -> Builtin {
    row(name, PROJECT_ADMIN, None, "Have resources of this type.")
}

/// The rules that other rules refer to.
const BASE: &[Builtin] = &[
    base("allow_everybody", "", "Everybody."),
    base(
        "context_is_admin",
        "(role:admin and is_admin_project:True)",
        "Who is an administrator: sees every project and is not bound by quotas.",
    ),
    base("deny_everybody", "!", "No caller."),
    base(
        "deny_stack_user",
        "not role:heat_stack_user",
        "All users but those that stacks create for their servers.",
    ),
    base(
        "project_admin",
        "role:admin",
        "Users with the administrator's role in the project at hand.",
    ),
];

/// The native API.
const NATIVE: &[Builtin] = &[
    member("actions:action", "Do something to a stack as a whole."),
    member("actions:cancel_update", "Stop an update and go back."),
    member("actions:cancel_without_rollback", "Stop an update where it is."),
    reader("actions:check", "Compare a stack with what is there."),
    member("actions:resume", "Wake a suspended stack up."),
    member("actions:snapshot", "Take a snapshot, asked for as an action."),
    member("actions:suspend", "Put a stack to sleep."),
    reader("build_info:build_info", "Show which version runs."),
    reader("events:index", "List what happened to a stack."),
    reader("events:show", "Show one event."),
    member("plans:apply", "Apply a plan; the rule of what it does must hold, too."),
    member("plans:create", "Plan a create, an update or a delete."),
    member("plans:delete", "Delete a plan."),
    reader("plans:index", "List the plans of a stack."),
    reader("plans:show", "Show a plan."),
    reader("resource:index", "List the resources of a stack."),
    member(
        "resource:mark_unhealthy",
        "Have a resource replaced by the next update, or not any more.",
    ),
    shared("resource:metadata", "Read the metadata of a resource."),
    reader("resource:show", "Show a resource."),
    shared("resource:signal", "Send a signal to a resource."),
    row("service:index", ADMIN, Some(ADMINISTRATOR), "List the engines and how they are."),
    member("software_configs:create", "Store a piece of configuration."),
    member("software_configs:delete", "Delete a piece of configuration."),
    base(
        "software_configs:global_index",
        "rule:deny_everybody",
        "List the pieces of configuration of all projects.",
    ),
    reader("software_configs:index", "List pieces of configuration."),
    reader("software_configs:show", "Show a piece of configuration."),
    member("software_deployments:create", "Bring a configuration to a server."),
    member("software_deployments:delete", "Take a configuration back from a server."),
    reader("software_deployments:index", "List deployments."),
    row(
        "software_deployments:metadata",
        READER_OR_STACK_USER,
        None,
        "Read the deployments of a server.",
    ),
    reader("software_deployments:show", "Show a deployment."),
    member("software_deployments:update", "Change a deployment, or say how it went."),
    member("stacks:abandon", "Give a stack up but leave what it made."),
    member("stacks:create", "Create a stack, or adopt one."),
    member("stacks:delete", "Delete a stack."),
    member("stacks:delete_snapshot", "Delete a snapshot."),
    reader("stacks:detail", "List stacks with everything about them."),
    reader("stacks:environment", "Read the environment of a stack."),
    member("stacks:export", "Read a whole stack as one document."),
    row(
        "stacks:export_in_clear",
        ADMIN,
        None,
        "See hidden values in exports, where the operator allows that.",
    ),
    reader("stacks:files", "Read the files of a stack."),
    member("stacks:generate_template", "Make a template of a resource type."),
    base("stacks:global_index", "rule:deny_everybody", "List the stacks of all projects."),
    reader("stacks:index", "List stacks."),
    reader("stacks:list_outputs", "List the outputs of a stack."),
    reader("stacks:list_resource_types", "List the resource types."),
    reader("stacks:list_snapshots", "List the snapshots of a stack."),
    reader("stacks:list_template_functions", "List the functions of a template version."),
    reader("stacks:list_template_versions", "List the template versions."),
    shared("stacks:lookup", "Find a stack by its name or id."),
    reader("stacks:preview", "Show what a create would make."),
    member("stacks:preview_update", "Show what an update would change."),
    member(
        "stacks:preview_update_patch",
        "Show what an update that keeps parameters would change.",
    ),
    reader("stacks:resource_schema", "Show the properties and attributes of a resource type."),
    member("stacks:restore_snapshot", "Bring a stack back to a snapshot."),
    reader("stacks:show", "Show a stack."),
    reader("stacks:show_output", "Show an output of a stack."),
    reader("stacks:show_snapshot", "Show a snapshot."),
    member("stacks:snapshot", "Take a snapshot of a stack."),
    reader("stacks:template", "Read the template of a stack."),
    member("stacks:update", "Update a stack."),
    row(
        "stacks:update_no_change",
        "rule:stacks:update_patch",
        None,
        "Update a stack to what it is already.",
    ),
    member("stacks:update_patch", "Update a stack but keep the parameters that are not given."),
    member("stacks:validate_template", "Validate a template."),
];

/// The CloudFormation API.
const CLOUDFORMATION: &[Builtin] = &[
    member("cloudformation:CancelUpdateStack", "Stop an update and go back."),
    member("cloudformation:CreateChangeSet", "Make a change set."),
    member("cloudformation:CreateStack", "Create a stack."),
    member("cloudformation:DeleteChangeSet", "Delete a change set."),
    member("cloudformation:DeleteStack", "Delete a stack."),
    reader("cloudformation:DescribeChangeSet", "Show a change set."),
    reader("cloudformation:DescribeStackEvents", "List what happened to stacks."),
    shared("cloudformation:DescribeStackResource", "Show a resource."),
    reader("cloudformation:DescribeStackResources", "Show the resources of a stack."),
    reader("cloudformation:DescribeStacks", "Show stacks."),
    reader("cloudformation:EstimateTemplateCost", "Ask what a template would cost."),
    member("cloudformation:ExecuteChangeSet", "Execute a change set."),
    reader("cloudformation:GetTemplate", "Read the template of a stack."),
    reader("cloudformation:GetTemplateSummary", "Show the parameters and types of a template."),
    reader("cloudformation:ListChangeSets", "List the change sets of a stack."),
    reader("cloudformation:ListStackResources", "List the resources of a stack."),
    reader("cloudformation:ListStacks", "List stacks."),
    member("cloudformation:UpdateStack", "Update a stack."),
    reader("cloudformation:ValidateTemplate", "Validate a template."),
];

/// The CloudWatch API: as strict as the CloudFormation API; its reference let everybody but stack users do everything.
const CLOUDWATCH: &[Builtin] = &[
    member("cloudwatch:DeleteAlarms", "Delete alarms."),
    reader("cloudwatch:DescribeAlarmHistory", "Show what happened to alarms."),
    reader("cloudwatch:DescribeAlarms", "Show alarms."),
    reader("cloudwatch:DescribeAlarmsForMetric", "Show the alarms on a metric."),
    member("cloudwatch:DisableAlarmActions", "Keep alarms from acting."),
    member("cloudwatch:EnableAlarmActions", "Let alarms act again."),
    reader("cloudwatch:GetMetricStatistics", "Read what was measured."),
    reader("cloudwatch:ListMetrics", "List what is measured."),
    member("cloudwatch:PutMetricAlarm", "Create or change an alarm."),
    row("cloudwatch:PutMetricData", MEMBER_OR_STACK_USER, Some(EVERYBODY), "Report measurements."),
    member("cloudwatch:SetAlarmState", "Put an alarm into a state."),
];

/// Resource types that would reach beyond the project, or take from its quota.
const RESOURCE_TYPES: &[Builtin] = &[
    guarded("resource_types:OS::Blazar::Host"),
    guarded("resource_types:OS::Cinder::EncryptedVolumeType"),
    guarded("resource_types:OS::Cinder::QoSAssociation"),
    guarded("resource_types:OS::Cinder::QoSSpecs"),
    guarded("resource_types:OS::Cinder::Quota"),
    guarded("resource_types:OS::Cinder::VolumeType"),
    guarded("resource_types:OS::Keystone::*"),
    guarded("resource_types:OS::Manila::ShareType"),
    guarded("resource_types:OS::Neutron::ProviderNet"),
    guarded("resource_types:OS::Neutron::QoSBandwidthLimitRule"),
    guarded("resource_types:OS::Neutron::QoSDscpMarkingRule"),
    guarded("resource_types:OS::Neutron::QoSMinimumBandwidthRule"),
    guarded("resource_types:OS::Neutron::QoSMinimumPacketRateRule"),
    guarded("resource_types:OS::Neutron::QoSPolicy"),
    guarded("resource_types:OS::Neutron::Quota"),
    guarded("resource_types:OS::Neutron::Segment"),
    guarded("resource_types:OS::Nova::Flavor"),
    guarded("resource_types:OS::Nova::HostAggregate"),
    guarded("resource_types:OS::Nova::Quota"),
    guarded("resource_types:OS::Octavia::AvailabilityZone"),
    guarded("resource_types:OS::Octavia::AvailabilityZoneProfile"),
    guarded("resource_types:OS::Octavia::Flavor"),
    guarded("resource_types:OS::Octavia::FlavorProfile"),
    guarded("resource_types:OS::Octavia::Quota"),
];
