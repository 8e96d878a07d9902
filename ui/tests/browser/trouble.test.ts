// What goes wrong ends in a sentence with a next step, and nothing typed is lost. And a walk with the keyboard alone.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, logIn, type Service, shoot, startKiln, type Visitor, visit } from './support';

let service: Service;
let visitor: Visitor;
let page: Page;

const TEMPLATE = 'heat_template_version: 2021-04-16\nparameters:\n  word: {type: string}\nresources:\n  a: {type: OS::Heat::RandomString}\n';

beforeAll(async () => {
  service = await startKiln();
  visitor = await visit();
  page = visitor.page;
});
afterAll(async () => {
  await visitor?.close();
  await service?.stop();
});

async function typeTemplate(text: string): Promise<void> {
  await page.getByRole('link', { name: 'Stacks', exact: true }).click();
  await page.getByRole('link', { name: 'Launch', exact: true }).click();
  await page.getByRole('button', { name: 'Type or paste' }).click();
  await page.getByLabel('Template text').fill(text);
  await page.getByRole('button', { name: 'Use this text' }).click();
  await page.getByRole('button', { name: 'Next: parameters' }).click();
}

describe('trouble', () => {
  test('a broken template is explained', async () => {
    await logIn(page, service);
    await typeTemplate('heat_template_version: 2021-04-16\nresources:\n  a: {type: OS::Nova::Servr}\n');
    await page.getByText('did you mean').waitFor();
    await typeTemplate('heat_template_version: 2021-04-16\nresources:\n  a: {type: [\n');
    await page.getByRole('alert').waitFor();
    await shoot(page, 'trouble-template');
  });

  test('a token that expires in the middle of work is renewed, and the work goes on', async () => {
    await typeTemplate(TEMPLATE);
    await page.getByLabel('Stack name').fill('kept');
    await page.getByLabel('word').fill('typed text');
    await page.route('**/v1/**', (route) => route.fulfill({ status: 401, body: '{"error": {"message": "Authentication required"}}' }));
    await page.getByRole('button', { name: 'Next: plan' }).click();
    await page.getByRole('heading', { name: 'Log in again' }).waitFor();
    await shoot(page, 'trouble-token');
    await page.unroute('**/v1/**');
    await page.getByRole('dialog').getByRole('button', { name: 'Log in as demo' }).click();
    await page.getByText('The stack kept would have').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    expect(await page.getByLabel('word').inputValue()).toBe('typed text');
  });

  test('a lost connection is told, and found again', async () => {
    await page.route('**/v1/**', (route) => route.abort());
    await page.getByRole('button', { name: 'Next: plan' }).click();
    await page.getByText('The service cannot be reached.').waitFor();
    expect(await page.getByLabel('word').inputValue()).toBe('typed text');
    await page.unroute('**/v1/**');
    await page.getByRole('button', { name: 'Next: plan' }).click();
    await page.getByText('The stack kept would have').waitFor();
    await page.getByRole('link', { name: 'Stacks', exact: true }).click();
    await page.route('**/v1/**', (route) => route.abort());
    await page.getByLabel('State').selectOption('FAILED');
    await page.getByText('The service cannot be reached.').waitFor();
    await page.unroute('**/v1/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The service cannot be reached.').waitFor({ state: 'detached' });
  });

  test('a project of others and a page that there is not', async () => {
    await page.evaluate(() => (location.hash = '#/0123456789abcdef0123456789abcdef/stacks'));
    await page.getByRole('link', { name: 'Back to my project' }).click();
    await page.getByRole('heading', { name: 'Stacks', exact: true }).waitFor();
    await page.evaluate(() => (location.hash = location.hash.replace('/stacks', '/nothing')));
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    await page.evaluate(() => (location.hash = location.hash.replace('/nothing', '/stacks/no/11111111-1111-1111-1111-111111111111')));
    await page.getByRole('heading', { name: 'The stack is gone' }).waitFor();
  });

  test('pages of administrators are refused with a sentence', async () => {
    await page.evaluate(() => (location.hash = location.hash.replace(/stacks.*/, 'admin')));
    await page.getByText('Your roles in this project do not allow this').first().waitFor();
  });
});

test('an administrator sees the engines, and a user of two projects changes between them', async () => {
  const admin = await Api.logIn(service, 'admin');
  const identity = service.identity;
  const headers = { 'X-Auth-Token': admin.token, 'Content-Type': 'application/json' };
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(identity + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    return (response.status === 204 ? null : await response.json()) as T;
  };
  const { project } = await ask<{ project: { id: string } }>('POST', '/projects', { project: { name: 'second', domain_id: 'default' } });
  const { users } = await ask<{ users: { id: string; name: string }[] }>('GET', '/users');
  const { roles } = await ask<{ roles: { id: string; name: string }[] }>('GET', '/roles');
  const id = (all: { id: string; name: string }[], name: string): string => all.find((it) => it.name === name)?.id ?? '';
  for (const role of ['member', 'reader']) await ask('PUT', `/projects/${project.id}/users/${id(users, 'demo')}/roles/${id(roles, role)}`);

  const other = await visit();
  await logIn(other.page, service, 'admin');
  await other.page.getByRole('link', { name: 'Administration' }).click();
  await other.page.locator('tbody tr', { hasText: 'up' }).waitFor();
  await other.page.getByText('which is closed by default').waitFor();
  await shoot(other.page, 'admin');
  await other.page.getByRole('button', { name: 'Log out' }).click();

  await logIn(other.page, service);
  const demo = await Api.logIn(service);
  await demo.create('of-demo', { heat_template_version: '2021-04-16', resources: { a: { type: 'OS::Heat::RandomString' } } });
  await other.page.getByRole('link', { name: 'of-demo' }).waitFor();
  await other.page.locator('header select').selectOption({ label: 'second' });
  await other.page.getByRole('heading', { name: 'No stacks yet' }).waitFor();
  expect(other.page.url()).toContain(project.id);
  await other.page.goBack();
  await other.page.getByRole('link', { name: 'of-demo' }).waitFor();
  await other.close();
});

test('the keyboard alone launches, watches and deletes a stack', async () => {
  await page.goto('about:blank');
  await page.goto(service.dashboard);
  await page.getByRole('button', { name: 'Log in as demo' }).press('Enter');
  await page.getByRole('link', { name: 'Launch', exact: true }).press('Enter');
  const key = async (name: string, role: 'button' | 'link' | 'menuitem' = 'button'): Promise<void> => {
    const target = page.getByRole(role, { name, exact: true }).last();
    await target.waitFor();
    // Tab until it has the focus: that is how a user gets there.
    for (let presses = 0; presses < 80 && !(await target.evaluate((it) => it === document.activeElement)); presses++) await page.keyboard.press('Tab');
    expect(await target.evaluate((it) => it === document.activeElement), name).toBe(true);
    await page.keyboard.press('Enter');
  };
  await key('Type or paste');
  await page.keyboard.press('Tab');
  await page.keyboard.insertText('heat_template_version: 2021-04-16\nresources:\n  a: {type: OS::Heat::RandomString}\n');
  await key('Use this text');
  await key('Next: parameters');
  await page.getByLabel('Stack name').focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('keys');
  await page.keyboard.press('Enter');
  await page.getByText('The stack keys would have').waitFor();
  await key('Launch');
  await page.getByTitle('CREATE_COMPLETE').first().waitFor();
  const canvas = page.locator('canvas').first();
  await canvas.focus();
  await page.keyboard.press('ArrowRight');
  await page.locator('.card', { hasText: 'OS::Heat::RandomString' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Attributes' }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Actions' }).focus();
  await page.keyboard.press('Enter');
  for (let presses = 0; presses < 8 && (await page.evaluate(() => document.activeElement?.textContent)) !== 'Delete'; presses++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await key('Delete');
  await page.getByRole('heading', { name: 'The stack is gone' }).waitFor();
});
