// One user's way: log in, launch a folder, watch it, change it, take it back, delete it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { zipSync } from 'fflate';
import { bodiesOfClients } from './cli';
import { Api, logIn, type Service, shoot, startKiln, type Visitor, visit } from './support';

const THREE = join(import.meta.dirname, '../samples/three');
const CANARY = 'canary-8f3a-secret';

let service: Service;
let visitor: Visitor;
let page: Page;
let api: Api;

beforeAll(async () => {
  service = await startKiln('--build-time', '400');
  api = await Api.logIn(service);
  visitor = await visit();
  page = visitor.page;
});
afterAll(async () => {
  await visitor?.close();
  await service?.stop();
});

/** Drops a path of the disk on the page, as a file manager does. */
async function drop(path: string): Promise<void> {
  const box = await page.locator('.drop').boundingBox();
  if (!box) throw new Error('there is nowhere to drop');
  const cdp = await visitor.context.newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  const at = { x: box.x + box.width / 2, y: box.y + 20, data };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) await cdp.send('Input.dispatchDragEvent', { type, ...at });
}

/** Everything in the page, its address and its storage. */
async function everything(): Promise<string> {
  const dom = await page.evaluate(() => {
    const values = [...document.querySelectorAll('input, textarea')].map((it) => (it as HTMLInputElement).value);
    return document.documentElement.outerHTML + values.join() + JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie;
  });
  return dom + page.url() + visitor.log.join();
}

describe('logging in', () => {
  test('a wrong password ends in a sentence, and the name stays', async () => {
    await page.goto(service.dashboard);
    await page.getByLabel('User name').fill('demo');
    await page.getByLabel('Password', { exact: true }).last().fill('wrong');
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByText('Keystone rejects this login').waitFor();
    expect(await page.getByLabel('User name').inputValue()).toBe('demo');
    expect(await page.locator('#secret').inputValue()).toBe('');
  });

  test('a password, a token and an application credential lead in', async () => {
    await page.locator('#secret').fill('demo');
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('heading', { name: 'No stacks yet' }).waitFor();
    await shoot(page, 'empty');
    const { id, secret } = await credential();
    for (const [method, fields] of [['Token', { '#secret': api.token }], ['Application credential', { '#credential': id, '#secret': secret }]] as const) {
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('radio', { name: method }).click();
      for (const [field, value] of Object.entries(fields)) await page.locator(field).fill(value);
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      await page.getByRole('heading', { name: 'No stacks yet' }).waitFor();
      // Logging out revokes the token that it was logged in with.
      api = await Api.logIn(service);
    }
  });

  async function credential(): Promise<{ id: string; secret: string }> {
    const headers = { 'X-Auth-Token': api.token, 'X-Subject-Token': api.token, 'Content-Type': 'application/json' };
    const { token } = (await (await fetch(`${service.identity}/auth/tokens`, { headers })).json()) as { token: { user: { id: string } } };
    const body = JSON.stringify({ application_credential: { name: 'ui' } });
    const response = await fetch(`${service.identity}/users/${token.user.id}/application_credentials`, { method: 'POST', headers, body });
    return ((await response.json()) as { application_credential: { id: string; secret: string } }).application_credential;
  }
});

describe('a stack of three files', () => {
  test('is launched by dropping its folder, with the body that the command line sends', async () => {
    await logIn(page, service);
    await page.getByRole('link', { name: 'Launch', exact: true }).click();
    await drop(THREE);
    await page.getByText('three/environment.yaml').first().waitFor();
    await shoot(page, 'launch-files');
    await page.getByRole('button', { name: 'Next: parameters' }).click();
    await page.getByLabel('Stack name').fill('three');
    // Lists for constraints, and fields for everything else; parameters without a group are there too.
    await page.locator('select', { hasText: 'public' }).waitFor();
    expect(await page.getByLabel('colour').evaluate((it) => it.tagName)).toBe('SELECT');
    await page.getByLabel('ratio').fill('0.75');
    await page.getByLabel('secret').fill(CANARY);
    await shoot(page, 'launch-parameters');
    await page.getByRole('button', { name: 'Next: plan' }).click();
    await page.getByText('The stack three would have').waitFor();
    await shoot(page, 'launch-plan');
    const sent = page.waitForRequest((it) => it.method() === 'POST' && it.url().endsWith('/stacks'));
    await page.getByRole('button', { name: 'Launch', exact: true }).click();
    const body = (await sent).postDataJSON() as Record<string, unknown>;
    await page.locator('canvas').first().waitFor();

    const { parameters, ...rest } = body;
    expect(parameters).toEqual({ ratio: '0.75', secret: CANARY });
    for (const client of await bodiesOfClients('three', THREE, 'main.yaml', 'environment.yaml')) {
      const moved = JSON.parse(JSON.stringify(client).replaceAll(`file://${THREE}/`, 'file:///three/')) as Record<string, unknown>;
      expect({ ...rest, parameters: {} }).toEqual(moved);
    }
  });

  test('is watched until it is complete, and shows no hidden value anywhere', async () => {
    await page.getByTitle('CREATE_COMPLETE').first().waitFor();
    await shoot(page, 'graph');
    for (const tab of ['Overview', 'Timeline', 'Resources', 'Events', 'Template', 'Environment', 'Files']) {
      await page.getByRole('link', { name: tab, exact: true }).click();
      await page.locator('main .panel').first().waitFor();
      expect(await everything()).not.toContain(CANARY);
    }
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByRole('link', { name: 'https://example.org/' }).waitFor();
    await page.getByText('******').waitFor();
    await page.getByRole('link', { name: 'Resources', exact: true }).click();
    expect(await page.locator('tbody tr').count()).toBe(9);
  });

  test('is changed by a plan that says what happens, and hidden values stay', async () => {
    await page.getByRole('link', { name: 'Change…' }).click();
    await page.getByRole('button', { name: 'Next: parameters' }).click();
    await page.getByLabel('How many').fill('2');
    await page.getByRole('button', { name: 'Next: plan' }).click();
    await page.getByText('This is what the change would do').waitFor();
    await shoot(page, 'change-plan');
    await page.getByText('get_param size').waitFor();
    // A member of the group goes: nothing happens before that is agreed to.
    const apply = page.getByRole('button', { name: 'Apply the change' });
    expect(await apply.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Back' }).click();
    expect(await page.getByLabel('How many').inputValue()).toBe('2');
    await page.getByRole('button', { name: 'Next: plan' }).click();
    await page.locator('.agree input').first().waitFor();
    for (const box of await page.locator('.agree input').all()) await box.check();
    await apply.click();
    await page.getByTitle('UPDATE_COMPLETE').first().waitFor();
    const id = /stacks\/three\/([^/]+)/.exec(page.url())?.[1] ?? '';
    const { resources } = await api.call<{ resources: unknown[] }>('GET', `/stacks/three/${id}/resources`);
    expect(resources.length).toBe(3);
  });

  test('has snapshots to come back to', async () => {
    await page.getByRole('link', { name: 'Snapshots', exact: true }).click();
    await page.getByLabel('Name of the snapshot').fill('before');
    await page.getByRole('button', { name: 'Take a snapshot' }).click();
    const row = page.locator('tbody tr', { hasText: 'before' });
    await row.getByText('complete', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page.locator('h1 + .badge').filter({ hasText: 'RESTORE' }).filter({ hasNotText: 'in progress' }).waitFor();
    expect(await page.locator('h1 + .badge').getAttribute('title')).toBe('RESTORE_COMPLETE');
    await row.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No snapshots' }).waitFor();
  });

  test('is deleted after a question', async () => {
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'The stack is gone' }).waitFor();
    await page.locator('.empty').getByRole('link', { name: 'Stacks' }).click();
    await page.getByRole('heading', { name: 'No stacks yet' }).waitFor();
  });

  test('a zip archive does as well as a folder', async () => {
    const names = ['main.yaml', 'environment.yaml', 'nested/word.yaml', 'scripts/hello.sh'];
    const zip = zipSync(Object.fromEntries(names.map((name) => [name, new Uint8Array(readFileSync(join(THREE, name)))])));
    await page.getByRole('link', { name: 'Launch', exact: true }).click();
    await page.locator('input[type=file]').first().setInputFiles({ name: 'three.zip', mimeType: 'application/zip', buffer: Buffer.from(zip) });
    await page.getByText('All 4 files').waitFor();
    expect(await page.getByLabel('Template', { exact: true }).inputValue()).toBe('main.yaml');
    await page.getByRole('button', { name: 'Next: parameters' }).click();
    await page.getByLabel('How many').waitFor();
  });

  test('files that are missing are named', async () => {
    await page.getByRole('link', { name: 'Stacks', exact: true }).click();
    await page.getByRole('link', { name: 'Launch', exact: true }).click();
    await page.locator('input[type=file]').first().setInputFiles(join(THREE, 'main.yaml'));
    await page.getByText('scripts/hello.sh').waitFor();
    expect(await page.getByRole('button', { name: 'Next: parameters' }).isDisabled()).toBe(true);
    await shoot(page, 'launch-missing');
  });
});

describe('an update', () => {
  const waits = (seconds: number, value: string): unknown => ({
    heat_template_version: '2021-04-16',
    resources: { slow: { type: 'OS::Heat::TestResource', properties: { value, wait_secs: seconds, action_wait_secs: { update: seconds } } } },
  });

  test('that runs is cancelled, and rolled back', async () => {
    const id = await api.create('slow', waits(0, 'a'));
    await api.rest('slow', id);
    await api.call('PATCH', `/stacks/slow/${id}`, { template: waits(6, 'b') });
    await logIn(page, service);
    await page.getByRole('link', { name: 'slow' }).click();
    await page.getByRole('button', { name: 'Cancel and roll back' }).click();
    await page.getByTitle('ROLLBACK_COMPLETE').first().waitFor();
    await api.call('DELETE', `/stacks/slow/${id}`);
  });
});

describe('more than one', () => {
  const small = { heat_template_version: '2021-04-16', resources: { a: { type: 'OS::Heat::RandomString' } } };

  test('a resource that waits for a hook goes on when it is told to', async () => {
    const environment = { resource_registry: { resources: { a: { hooks: 'pre-create' } } } };
    await api.create('hooked', small, { environment });
    await page.getByRole('link', { name: 'Stacks', exact: true }).click();
    await page.getByRole('link', { name: 'hooked' }).click();
    await page.getByRole('link', { name: 'Hooks', exact: true }).click();
    await page.getByRole('cell', { name: 'pre-create' }).waitFor();
    await shoot(page, 'hooks');
    await page.getByRole('button', { name: 'Let it go on' }).click();
    await page.getByTitle('CREATE_COMPLETE').first().waitFor();
    await page.getByRole('heading', { name: 'No hook is pending' }).waitFor();
  });

  test('stacks that are selected are deleted together, after their number is typed', async () => {
    await api.rest('second', await api.create('second', small, { tags: 'blue' }));
    await page.getByRole('link', { name: 'Stacks', exact: true }).click();
    await page.getByRole('link', { name: 'blue' }).click();
    await page.getByRole('link', { name: 'hooked' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Tag: blue' }).click();
    for (const name of ['hooked', 'second']) await page.getByLabel(`Select ${name}`).check();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Type 2 to confirm').fill('2');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('link', { name: 'second' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'hooked' }).waitFor({ state: 'detached' });
  });

  test('a link leads to a prepared launch, also through the login', async () => {
    const project = api.base.split('/').at(-1) ?? '';
    const text = 'heat_template_version: 2021-04-16\nparameters: {word: {type: string, default: hi}}\n';
    const query = new URLSearchParams({ template_data: text, name: 'prepared' });
    await page.goto('about:blank');
    await page.goto(`${service.dashboard}#/${project}/launch?${query}`);
    await page.getByText('Log in to see this page.').waitFor();
    await page.getByRole('button', { name: 'Log in as demo' }).click();
    await page.getByRole('button', { name: 'Next: parameters' }).click();
    expect(await page.getByLabel('Stack name').inputValue()).toBe('prepared');
    expect(await page.getByLabel('word').inputValue()).toBe('hi');
  });
});

test('the page broke no rule of its content security policy, and logged nothing', () => {
  // The browser itself logs the refused login.
  expect(visitor.log.filter((it) => !it.includes('status of 401'))).toEqual([]);
});
