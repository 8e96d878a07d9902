// Who is logged in, and for which project. The token lives in memory alone; other tabs of the same browser are asked for it.

import { useTokens } from './api/http';
import * as identity from './api/identity';
import type { Login, Project } from './api/identity';
import { config } from './config';

const PROJECT_KEY = 'kiln.project';

class Session {
  login = $state.raw<Login | null>(null);
  projects = $state.raw<Project[]>([]);
  /** Whether the token was refused, and the user is asked to log in again. */
  expired = $state(false);
  /** Whether other tabs were asked for their token. */
  ready = $state(false);

  #channel = new BroadcastChannel('kiln-dashboard');
  #waiting: ((renewed: boolean) => void)[] = [];

  constructor() {
    useTokens({ token: () => this.login?.token ?? null, renew: () => this.#renew() });
    this.#channel.onmessage = ({ data }: MessageEvent<{ ask?: true; token?: string; out?: true }>) => {
      if (data.ask && this.login && !this.expired) this.#channel.postMessage({ token: this.login.token });
      if (data.token && !this.login) void this.#takeOver(data.token);
      if (data.out) this.#forget();
    };
  }

  get project(): { id: string; name: string } | null {
    return this.login?.project ?? null;
  }

  /** Whether administrators' pages are offered; the service decides what is allowed. */
  get isAdmin(): boolean {
    return this.login?.roles.includes('admin') ?? false;
  }

  /** Asks other tabs for a login. */
  async join(): Promise<void> {
    this.#channel.postMessage({ ask: true });
    await new Promise((resolve) => setTimeout(resolve, 120));
    this.ready = true;
  }

  /** Takes a login, and a project for it: the wanted one by id or name, the last one, or the first. */
  async begin(login: Login, wanted?: string): Promise<void> {
    const projects = login.bound && login.project ? [login.project] : await identity.projects(login.token);
    const last = wanted || login.project?.id || localStorage.getItem(PROJECT_KEY);
    const match = projects.find((it) => it.id === last || it.name === last);
    const chosen = wanted ? match : (match ?? projects[0]);
    this.projects = projects;
    if (!chosen) throw new NoProject(wanted ?? '');
    const isThere = login.project?.id === chosen.id && login.catalog.length > 0;
    this.#set(isThere ? login : await identity.forProject(login.token, chosen.id));
    for (const resolve of this.#waiting.splice(0)) resolve(true);
  }

  /** Changes to another project. */
  async use(project: string): Promise<void> {
    if (!this.login || this.project?.id === project) return;
    this.#set(await identity.forProject(this.login.token, project));
  }

  /** Logs out, in all tabs. */
  async end(): Promise<void> {
    const token = this.login?.token;
    this.#channel.postMessage({ out: true });
    this.#forget();
    if (token) await identity.revoke(token).catch(() => undefined);
  }

  /** Gives up logging in again: requests that wait for it fail. */
  giveUp(): void {
    this.#forget();
  }

  /** The URL of the orchestration API for the project. */
  orchestration(): string {
    const project = this.project?.id ?? '';
    if (config.orchestration) return config.orchestration.replace('{project_id}', project);
    return this.endpoint('orchestration') ?? '';
  }

  /** The URL of a service; nothing if there is none. */
  endpoint(type: string): string | undefined {
    const service = this.login?.catalog.find((it) => it.type === type);
    const url = service?.endpoints.find((it) => it.interface === 'public')?.url;
    if (!url || type === 'orchestration' || !config.services) return url?.replace(/\/$/, '');
    return config.services.replace('{type}', type);
  }

  #set(login: Login): void {
    this.login = login;
    this.expired = false;
    if (login.project) localStorage.setItem(PROJECT_KEY, login.project.id);
  }

  #forget(): void {
    this.login = null;
    this.expired = false;
    this.projects = [];
    for (const resolve of this.#waiting.splice(0)) resolve(false);
  }

  #renew(): Promise<boolean> {
    if (!this.login) return Promise.resolve(false);
    this.expired = true;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async #takeOver(token: string): Promise<void> {
    try {
      await this.begin(await identity.byToken(token));
    } catch {
      // The token of the other tab is of no use; the login page is shown.
    }
    this.ready = true;
  }
}

/** A login without a project to work in. */
export class NoProject extends Error {
  constructor(readonly wanted: string) {
    super(wanted);
  }
}

/** The session of this tab. */
export const session = new Session();
