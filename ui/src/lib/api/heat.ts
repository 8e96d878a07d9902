// The orchestration API, version 1: every call that the dashboard makes.

import { session } from '../session.svelte';
import { json, send, type Options } from './http';

export interface Link {
  href: string;
  rel: string;
}

/** A stack in lists and alone. */
export interface Stack {
  id: string;
  stack_name: string;
  description: string;
  stack_status: string;
  stack_status_reason: string;
  creation_time: string;
  updated_time: string | null;
  deletion_time: string | null;
  stack_owner: string | null;
  parent: string | null;
  tags: string[] | null;
  links: Link[];
  project?: string;
  parameters?: Record<string, string>;
  outputs?: Output[];
  disable_rollback?: boolean;
  timeout_mins?: number | null;
}

export interface Output {
  output_key: string;
  description?: string;
  output_value?: unknown;
  output_error?: string;
}

export interface Resource {
  resource_name: string;
  logical_resource_id: string;
  physical_resource_id: string;
  resource_type: string;
  resource_status: string;
  resource_status_reason: string;
  creation_time: string;
  updated_time: string;
  required_by: string[];
  links: Link[];
  parent_resource?: string;
  description?: string;
  attributes?: Record<string, unknown>;
}

export interface StackEvent {
  id: string;
  event_time: string;
  resource_name: string;
  physical_resource_id: string | null;
  resource_status: string;
  resource_status_reason: string;
  resource_type?: string;
  links: Link[];
}

/** A parameter as validation describes it. */
export interface ParameterSchema {
  Type: string;
  Label?: string;
  Description?: string;
  NoEcho?: string | boolean;
  Default?: unknown;
  DefaultValue?: unknown;
  Value?: unknown;
  AllowedValues?: unknown[];
  AllowedPattern?: string;
  ConstraintDescription?: string;
  CustomConstraint?: string;
  MinLength?: number;
  MaxLength?: number;
  MinValue?: number;
  MaxValue?: number;
}

export interface Validation {
  Description?: string;
  Parameters: Record<string, ParameterSchema>;
  ParameterGroups?: { label?: string; description?: string; parameters: string[] }[];
}

/** What a template and its settings are sent as. */
export interface StackBody {
  stack_name?: string;
  template?: unknown;
  files?: Record<string, string>;
  environment?: unknown;
  environment_files?: string[];
  parameters?: Record<string, unknown>;
  disable_rollback?: boolean;
  timeout_mins?: number;
  tags?: string;
  existing?: boolean;
}

export interface PlannedResource {
  resource_name: string;
  resource_type: string;
  stack_name: string;
  parent_resource?: string;
  properties?: Record<string, unknown>;
  description?: string;
}

export type Fate = 'added' | 'updated' | 'replaced' | 'deleted' | 'unchanged';
export type Changes = Record<Fate, PlannedResource[]>;

export interface Snapshot {
  id: string;
  name: string | null;
  status: string;
  status_reason: string;
  creation_time: string;
}

export interface Deployment {
  id: string;
  config_id: string;
  server_id: string;
  action: string;
  status: string;
  status_reason: string;
  creation_time: string;
  updated_time: string | null;
  input_values: Record<string, unknown>;
  output_values: Record<string, unknown> | null;
}

export interface PropertySchema {
  type: string;
  description?: string;
  required?: boolean;
  default?: unknown;
  update_allowed?: boolean;
  immutable?: boolean;
  constraints?: Record<string, unknown>[];
  schema?: Record<string, PropertySchema>;
}

export interface TypeSchema {
  resource_type: string;
  description?: string;
  properties: Record<string, PropertySchema>;
  attributes: Record<string, { type?: string; description?: string }>;
  support_status: { status: string; version?: string | null; message?: string | null };
}

export interface TypeEntry {
  resource_type: string;
  description: string;
}

export interface EngineRow {
  id: string;
  hostname: string;
  host: string;
  engine_id: string;
  status: string;
  updated_at: string | null;
  created_at: string;
  report_interval: number;
}

export type Action = 'check' | 'suspend' | 'resume' | 'cancel_update' | 'cancel_without_rollback';

/** The name and the id of a stack. */
export interface StackRef {
  name: string;
  id: string;
}

/** As deep as stacks can be. */
export const ALL_LEVELS = '50';

const at = (path: string): string => session.orchestration() + path;
const part = encodeURIComponent;
const of = ({ name, id }: StackRef, rest = ''): string => at(`/stacks/${part(name)}/${part(id)}${rest}`);
const post = (body: unknown): Options => ({ method: 'POST', body });

// --- stacks

/** A page of stacks. */
export async function stacks(query: URLSearchParams): Promise<Stack[]> {
  return (await json<{ stacks: Stack[] }>(at(`/stacks?${query}`))).stacks;
}

export async function stack(ref: StackRef, signal?: AbortSignal): Promise<Stack> {
  return (await json<{ stack: Stack }>(of(ref), signal ? { signal } : {})).stack;
}

/** The stack of a name or id, wherever its canonical address is. */
export async function find(name: string): Promise<Stack> {
  return (await json<{ stack: Stack }>(at(`/stacks/${part(name)}`))).stack;
}

export async function create(body: StackBody): Promise<StackRef> {
  const { stack } = await json<{ stack: { id: string } }>(at('/stacks'), post(body));
  return { name: body.stack_name ?? '', id: stack.id };
}

export async function update(ref: StackRef, body: StackBody): Promise<void> {
  await send(of(ref), { method: body.existing ? 'PATCH' : 'PUT', body: withoutExisting(body) });
}

export async function remove(ref: StackRef): Promise<void> {
  await send(of(ref), { method: 'DELETE' });
}

export async function act(ref: StackRef, action: Action): Promise<void> {
  await send(of(ref, '/actions'), post({ [action]: null }));
}

export async function abandon(ref: StackRef): Promise<unknown> {
  return json(of(ref, '/abandon'), { method: 'DELETE' });
}

export async function exported(ref: StackRef): Promise<unknown> {
  return json(of(ref, '/export'));
}

/** The words that a PATCH carries in its method. */
function withoutExisting({ existing: _, ...body }: StackBody): StackBody {
  return body;
}

// --- templates

export async function validate(body: StackBody, signal?: AbortSignal): Promise<Validation> {
  return json<Validation>(at('/validate'), signal ? { ...post(body), signal } : post(body));
}

export async function previewCreate(body: StackBody): Promise<PlannedResource[]> {
  const { stack } = await json<{ stack: { resources: NestedPlan } }>(at('/stacks/preview'), post(body));
  return flat(stack.resources);
}

type NestedPlan = (PlannedResource | NestedPlan)[];

const flat = (resources: NestedPlan): PlannedResource[] =>
  resources.flatMap((it) => (Array.isArray(it) ? flat(it) : [it]));

export async function previewUpdate(ref: StackRef, body: StackBody): Promise<Changes> {
  const method = body.existing ? 'PATCH' : 'PUT';
  const url = of(ref, '/preview?show_nested=true');
  const options = { method, body: withoutExisting(body) };
  return (await json<{ resource_changes: Changes }>(url, options)).resource_changes;
}

export const template = (ref: StackRef): Promise<Record<string, unknown>> => json(of(ref, '/template'));
export const environment = (ref: StackRef): Promise<Record<string, unknown>> => json(of(ref, '/environment'));
export const files = (ref: StackRef): Promise<Record<string, string>> => json(of(ref, '/files'));

// --- resources and events

export async function resources(ref: StackRef, signal?: AbortSignal): Promise<Resource[]> {
  const url = of(ref, `/resources?nested_depth=${ALL_LEVELS}`);
  return (await json<{ resources: Resource[] }>(url, signal ? { signal } : {})).resources;
}

export async function resource(ref: StackRef, name: string): Promise<Resource> {
  return (await json<{ resource: Resource }>(of(ref, `/resources/${part(name)}`))).resource;
}

export async function metadata(ref: StackRef, name: string): Promise<unknown> {
  return (await json<{ metadata: unknown }>(of(ref, `/resources/${part(name)}/metadata`))).metadata;
}

export async function signal(ref: StackRef, name: string, body: unknown): Promise<void> {
  await send(of(ref, `/resources/${part(name)}/signal`), post(body));
}

export async function markUnhealthy(ref: StackRef, name: string, unhealthy: boolean, reason: string): Promise<void> {
  const body = { mark_unhealthy: unhealthy, resource_status_reason: reason };
  await send(of(ref, `/resources/${part(name)}`), { method: 'PATCH', body });
}

/** The events of a stack and all nested ones, the oldest first, behind a marker. */
export async function events(ref: StackRef, marker?: string, signal?: AbortSignal): Promise<StackEvent[]> {
  const query = new URLSearchParams({ nested_depth: ALL_LEVELS, sort_keys: 'event_time', sort_dir: 'asc' });
  if (marker) query.set('marker', marker);
  return (await json<{ events: StackEvent[] }>(of(ref, `/events?${query}`), signal ? { signal } : {})).events;
}

/** The address of the stream of events. */
export const streamUrl = (ref: StackRef): string => of(ref, `/events?nested_depth=${ALL_LEVELS}`);

export async function eventDetail(ref: StackRef, name: string, id: string): Promise<Record<string, unknown>> {
  const url = of(ref, `/resources/${part(name)}/events/${part(id)}`);
  return (await json<{ event: { resource_properties?: Record<string, unknown> } }>(url)).event.resource_properties ?? {};
}

// --- snapshots and software

export async function snapshots(ref: StackRef): Promise<Snapshot[]> {
  return (await json<{ snapshots: Snapshot[] }>(of(ref, '/snapshots'))).snapshots;
}

export async function takeSnapshot(ref: StackRef, name: string): Promise<void> {
  await send(of(ref, '/snapshots'), post(name ? { name } : {}));
}

export async function restoreSnapshot(ref: StackRef, id: string): Promise<void> {
  await send(of(ref, `/snapshots/${part(id)}/restore`), { method: 'POST' });
}

export async function deleteSnapshot(ref: StackRef, id: string): Promise<void> {
  await send(of(ref, `/snapshots/${part(id)}`), { method: 'DELETE' });
}

export async function deployment(id: string): Promise<Deployment> {
  const url = at(`/software_deployments/${part(id)}`);
  return (await json<{ software_deployment: Deployment }>(url)).software_deployment;
}

// --- types and the service

/** All types, by name; a stock Heat may know no descriptions. */
export async function types(): Promise<TypeEntry[]> {
  const { resource_types } = await json<{ resource_types: (TypeEntry | string)[] }>(
    at('/resource_types?with_description=true'),
  );
  const entries = resource_types.map((it) => (typeof it === 'string' ? { resource_type: it, description: '' } : it));
  return entries.sort((a, b) => (a.resource_type < b.resource_type ? -1 : 1));
}

const schemas = new Map<string, Promise<TypeSchema>>();

/** The schema of a type, read once. */
export function typeSchema(name: string): Promise<TypeSchema> {
  const known = schemas.get(name);
  if (known) return known;
  const reading = json<TypeSchema>(at(`/resource_types/${part(name)}?with_description=true`));
  schemas.set(name, reading);
  reading.catch(() => schemas.delete(name));
  return reading;
}

export const typeTemplate = (name: string): Promise<Record<string, unknown>> =>
  json(at(`/resource_types/${part(name)}/template?template_type=hot`));

export async function versions(): Promise<{ version: string; type: string; aliases?: string[] }[]> {
  return (await json<{ template_versions: { version: string; type: string; aliases?: string[] }[] }>(at('/template_versions')))
    .template_versions;
}

export async function functions(version: string): Promise<{ functions: string; description: string }[]> {
  // Heat 27 parses templates differently after a request with `with_condition_func`, so only Kiln gets one.
  const isKiln = (await buildInfo().catch(() => null))?.api?.revision?.startsWith('kiln');
  const url = at(`/template_versions/${part(version)}/functions${isKiln ? '?with_condition_func=true' : ''}`);
  return (await json<{ template_functions: { functions: string; description: string }[] }>(url)).template_functions;
}

export const buildInfo = (): Promise<Record<string, { revision?: string }>> => json(at('/build_info'));

export async function engines(): Promise<EngineRow[]> {
  return (await json<{ services: EngineRow[] }>(at('/services'))).services;
}
