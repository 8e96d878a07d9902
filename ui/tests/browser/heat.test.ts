// The dashboard with a real Keystone: as static files in front of a stock Heat, which has no streams and is polled, and of a
// `kiln server`. Skipped where there is none:
//
//   KILN_STOCK_HEAT="http://127.0.0.1:5000/v3 http://127.0.0.1:8004/v1" npm run browser heat
//   KILN_REAL_DASHBOARD=http://127.0.0.1:8104/dashboard/ npm run browser heat

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveStatic } from './static';
import { shoot, type Visitor, visit } from './support';

const [identity = '', orchestration = ''] = (process.env.KILN_STOCK_HEAT ?? '').split(' ');
const SITES = [
  ...(identity ? [{ name: 'a stock Heat', start: () => serveStatic(identity, orchestration) }] : []),
  ...(process.env.KILN_REAL_DASHBOARD ? [{ name: 'a server with a real Keystone', start: async () => ({ dashboard: process.env.KILN_REAL_DASHBOARD ?? '', stop: () => undefined }) }] : []),
];
const NAME = `ui-${process.pid}`;
const template = (length: number): string => `heat_template_version: 2021-04-16
parameters: {count: {type: number, default: 2}}
resources:
  first: {type: OS::Heat::RandomString, properties: {length: ${length}}}
  group:
    type: OS::Heat::ResourceGroup
    depends_on: first
    properties: {count: {get_param: count}, resource_def: {type: OS::Heat::TestResource, properties: {value: x, wait_secs: 2}}}
outputs: {word: {value: {get_attr: [first, value]}}}
`;

test.skipIf(SITES.length > 0)('no real Keystone is named', () => undefined);

describe.each(SITES)('$name', ({ start }) => {
  let server: { dashboard: string; stop: () => void };
  let visitor: Visitor;
  let page: Page;
  beforeAll(async () => {
    server = await start();
    visitor = await visit();
    page = visitor.page;
  });
  afterAll(async () => {
    await visitor?.close();
    server?.stop();
  });

  async function typeTemplate(text: string): Promise<void> {
    await page.getByRole('button', { name: 'Type or paste' }).click();
    await page.getByLabel('Template text').fill(text);
    await page.getByRole('button', { name: 'Use this text' }).click();
    await page.getByRole('button', { name: 'Next: parameters' }).click();
    await page.getByLabel('count').waitFor();
  }

  test('lists, launches, follows by polling, and shows graph and events', { timeout: 180_000 }, async () => {
    page.setDefaultTimeout(120_000);
    await page.goto(server.dashboard);
    await page.getByLabel('User name').fill('demo');
    await page.locator('#secret').fill('demo');
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('heading', { name: 'Stacks' }).waitFor();
    await page.getByRole('link', { name: 'Launch', exact: true }).click();
    await typeTemplate(template(10));
    await page.getByLabel('Stack name').fill(NAME);
    await page.getByRole('button', { name: 'Next: plan' }).click();
    await page.getByText(`The stack ${NAME} would have`).waitFor();
    await page.getByRole('button', { name: 'Launch', exact: true }).click();
    await page.getByTitle('CREATE_COMPLETE').first().waitFor();
    await page.getByRole('button', { name: 'Unfold all' }).click();
    await shoot(page, 'stock-graph');
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('cell', { name: 'group › 1' }).waitFor();
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    expect(await page.locator('tbody tr').count()).toBeGreaterThanOrEqual(10);
    await page.getByRole('link', { name: 'Timeline', exact: true }).click();
    await page.getByText('group › 0').waitFor();
    await shoot(page, 'stock-timeline');
  });

  test('changes with a plan', { timeout: 180_000 }, async () => {
    await page.getByRole('link', { name: 'Change…' }).click();
    await typeTemplate(template(12));
    await page.getByRole('button', { name: 'Next: plan' }).click();
    await page.getByText('This is what the change would do').waitFor();
    await shoot(page, 'stock-plan');
    for (const box of await page.locator('.agree input').all()) await box.check();
    await page.getByRole('button', { name: 'Apply the change' }).click();
    await page.getByTitle('UPDATE_COMPLETE').first().waitFor();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByText('word').first().waitFor();
  });

  test('deletes', { timeout: 180_000 }, async () => {
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'The stack is gone' }).waitFor();
    expect(visitor.log.filter((it) => !it.includes('status of 404'))).toEqual([]);
  });
});
