// What the browser tests share: a `kiln dev`, a Chromium, and users of both.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const ROOT = join(import.meta.dirname, '../../..');
export const ARTEFACTS = join(ROOT, 'ui/artefacts');

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** A running service. */
export interface Service {
  dashboard: string;
  identity: string;
  api: string;
  cloud: string;
  clouds: string;
  stop(): Promise<void>;
}

/** Starts `kiln dev` on free ports. */
export async function startKiln(...more: string[]): Promise<Service> {
  const binary = process.env.KILN_BIN ?? join(ROOT, 'target/debug/kiln');
  const home = mkdtempSync(join(tmpdir(), 'kiln-ui-'));
  const clouds = join(home, 'clouds.yaml');
  const child = spawn(binary, ['dev', '--free-ports', '--clouds', clouds, ...more], { cwd: home, stdio: ['ignore', 'pipe', 'inherit'] });
  const text = await until(child, 'Stop with Ctrl-C');
  const line = (name: string): string => new RegExp(`^${name}\\s+(\\S+)`, 'm').exec(text)?.[1] ?? '';
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.on('exit', resolve));
    rmSync(home, { recursive: true, force: true });
  };
  const api = line('orchestration').replace(/\/v1\/.*/, '');
  return { dashboard: line('dashboard'), identity: line('identity'), api, cloud: line('cloud'), clouds, stop };
}

/** Waits until a process has printed a text. */
export function until(child: ChildProcess, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes(text)) resolve(said);
    });
    child.on('exit', (code) => reject(new Error(`it ended with ${code}: ${said}`)));
  });
}

/** A browser with a profile of its own. What the page violates or logs is collected. */
export interface Visitor {
  context: BrowserContext;
  page: Page;
  /** Errors, refusals of the content security policy, and everything that was logged. */
  log: string[];
  /** Waits until the page has read everything it wants to show. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export async function visit(options: { locale?: string; dark?: boolean; width?: number; height?: number } = {}): Promise<Visitor> {
  const profile = mkdtempSync(join(tmpdir(), 'kiln-chromium-'));
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((it) => existsSync(it));
  if (!executablePath) throw new Error('Chromium is not installed: apt-get install chromium');
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    args: FLAGS,
    locale: options.locale ?? 'en-GB',
    timezoneId: 'UTC',
    colorScheme: options.dark ? 'dark' : 'light',
    viewport: { width: options.width ?? 1280, height: options.height ?? 860 },
  });
  const log: string[] = [];
  const page = context.pages()[0] ?? (await context.newPage());
  context.on('console', (message) => log.push(`${message.type()}: ${message.text()} ${message.location().url}`));
  context.on('weberror', (error) => log.push(`error: ${error.error().message}`));
  page.setDefaultTimeout(20_000);
  const open = new Set<unknown>();
  page.on('request', (request) => open.add(request));
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  const settled = async (): Promise<void> => {
    const isLoading = (): boolean => /Loading…|加载中…/.test(document.querySelector('main')?.textContent ?? '');
    // Nothing is under way, several times in a row: what was read leads to further requests a moment later.
    for (let quiet = 0; quiet < 5; quiet = open.size > 0 || (await page.evaluate(isLoading)) ? 0 : quiet + 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const close = async (): Promise<void> => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { context, page, log, settled, close };
}

/** Opens the dashboard afresh, and logs in with one click. */
export async function logIn(page: Page, service: { dashboard: string }, user = 'demo'): Promise<void> {
  await page.goto('about:blank');
  await page.goto(service.dashboard);
  await page.getByRole('button', { name: `Log in as ${user}` }).or(page.getByRole('button', { name: `以 ${user} 登录` })).click();
  await page.locator('header nav').waitFor();
}

export async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(ARTEFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTEFACTS, `${name}.png`) });
}

/** A client of the API, to prepare stacks. */
export class Api {
  constructor(
    readonly base: string,
    readonly token: string,
  ) {}

  static async logIn(service: Service, user = 'demo'): Promise<Api> {
    const domain = { id: 'default' };
    const auth = {
      identity: { methods: ['password'], password: { user: { name: user, domain, password: user } } },
      scope: { project: { name: user, domain } },
    };
    const response = await fetch(`${service.identity}/auth/tokens`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ auth }) });
    const body = (await response.json()) as { token: { project: { id: string } } };
    return new Api(`${service.api}/v1/${body.token.project.id}`, response.headers.get('X-Subject-Token') ?? '');
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.base + path, {
      method,
      headers: { 'X-Auth-Token': this.token, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    const isJson = response.headers.get('Content-Type')?.startsWith('application/json');
    return (isJson && text ? JSON.parse(text) : null) as T;
  }

  /** Creates a stack; the result is its id. */
  async create(name: string, template: unknown, more: Record<string, unknown> = {}): Promise<string> {
    const { stack } = await this.call<{ stack: { id: string } }>('POST', '/stacks', { stack_name: name, template, ...more });
    return stack.id;
  }

  /** Waits until a stack is at rest; the result is its status. */
  async rest(name: string, id: string): Promise<string> {
    for (;;) {
      const { stack } = await this.call<{ stack: { stack_status: string } }>('GET', `/stacks/${name}/${id}?resolve_outputs=false`);
      if (!stack.stack_status.endsWith('IN_PROGRESS')) return stack.stack_status;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
