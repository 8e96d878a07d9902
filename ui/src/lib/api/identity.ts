// The identity service: logins, projects, the catalogue.

import { config } from '../config';
import { json, send } from './http';

/** A token with what Keystone says of it. */
export interface Login {
  token: string;
  expires: string;
  user: { id: string; name: string };
  project: { id: string; name: string } | null;
  roles: string[];
  catalog: Service[];
  /** Whether the token is bound to its project. */
  bound: boolean;
}

/** A service of the catalogue. */
export interface Service {
  type: string;
  endpoints: { interface: string; url: string; region?: string }[];
}

/** A project. */
export interface Project {
  id: string;
  name: string;
  enabled?: boolean;
}

interface TokenBody {
  token: {
    expires_at: string;
    methods: string[];
    user: { id: string; name: string };
    project?: { id: string; name: string };
    roles?: { name: string }[];
    catalog?: Service[];
  };
}

const url = (path: string): string => `${config.identity}${path}`;

async function login(identity: unknown, scope?: unknown): Promise<Login> {
  const auth = scope === undefined ? { identity } : { identity, scope };
  const options = { method: 'POST', body: { auth }, anonymous: true };
  const response = await send(url('/auth/tokens'), options);
  return read(response, response.headers.get('X-Subject-Token') ?? '');
}

async function read(response: Response, token: string): Promise<Login> {
  const { token: body } = (await response.json()) as TokenBody;
  return {
    token,
    expires: body.expires_at,
    user: body.user,
    project: body.project ?? null,
    roles: (body.roles ?? []).map((role) => role.name),
    catalog: body.catalog ?? [],
    bound: body.methods.includes('application_credential'),
  };
}

/** Logs in with a name and a password; the token has no project yet. */
export function byPassword(name: string, domain: string, password: string): Promise<Login> {
  const user = { name, domain: { name: domain }, password };
  return login({ methods: ['password'], password: { user } }, 'unscoped');
}

/** Logs in with an application credential, which belongs to one project. */
export function byApplicationCredential(id: string, secret: string): Promise<Login> {
  const method = 'application_credential';
  return login({ methods: [method], [method]: { id, secret } });
}

/** Takes over a token. */
export async function byToken(token: string): Promise<Login> {
  const headers = { 'X-Auth-Token': token, 'X-Subject-Token': token };
  return read(await send(url('/auth/tokens'), { headers, anonymous: true }), token);
}

/** A token for a project, in place of another token. */
export function forProject(token: string, id: string): Promise<Login> {
  return login({ methods: ['token'], token: { id: token } }, { project: { id } });
}

/** The projects that a token can be used for. */
export async function projects(token: string): Promise<Project[]> {
  const options = { headers: { 'X-Auth-Token': token }, anonymous: true };
  const { projects } = await json<{ projects: Project[] }>(url('/auth/projects'), options);
  return projects.filter((it) => it.enabled !== false);
}

/** Makes a token invalid. */
export async function revoke(token: string): Promise<void> {
  const headers = { 'X-Auth-Token': token, 'X-Subject-Token': token };
  await send(url('/auth/tokens'), { method: 'DELETE', headers, anonymous: true });
}

/** Where the browser goes to log in at an identity provider, which sends it back to `origin`. */
export function webssoUrl(protocol: string, origin: string): string {
  const base = config.websso_url ?? config.identity;
  return `${base}/auth/OS-FEDERATION/websso/${encodeURIComponent(protocol)}?origin=${encodeURIComponent(origin)}`;
}
