// How fast the graph is: figures are printed, not asserted, because machines differ. The contents are asserted.

import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, logIn, type Service, shoot, startKiln, type Visitor, visit } from './support';

let service: Service;
let visitor: Visitor;
let page: Page;
let api: Api;
let id = '';

beforeAll(async () => {
  service = await startKiln();
  api = await Api.logIn(service);
  id = await api.create('large', { heat_template_version: '2021-04-16', resources: { a: { type: 'OS::Heat::RandomString' } } });
  await api.rest('large', id);
  visitor = await visit();
  page = visitor.page;
});
afterAll(async () => {
  await visitor?.close();
  await service?.stop();
});

/** A tree of groups with members that need each other. */
function resources(count: number, status: string): unknown[] {
  const at = (rel: string, stack: string): { rel: string; href: string } => ({ rel, href: `http://h/v1/p/stacks/${stack}/${stack === 'large' ? id : stack}` });
  const row = (name: string, stack: string, required_by: string[], nested?: string): unknown => ({
    resource_name: name, logical_resource_id: name, physical_resource_id: `physical-${stack}-${name}`, resource_type: nested ? 'OS::Heat::ResourceGroup' : 'OS::Nova::Server', resource_status: status, resource_status_reason: 'state changed',
    creation_time: '2026-01-01T00:00:00Z', updated_time: '2026-01-01T00:00:00Z', required_by, links: [at('self', stack), at('stack', stack), ...(nested ? [at('nested', nested)] : [])],
  });
  const groups = Math.max(1, Math.floor(count / 100));
  const rows: unknown[] = [];
  for (let group = 0; group < groups; group++) {
    rows.push(row(`group-${group}`, 'large', group + 1 < groups && group % 10 !== 9 ? [`group-${group + 1}`] : [], `nested-${group}`));
    for (let member = 0; member < 99; member++) rows.push(row(String(member), `nested-${group}`, member % 10 === 9 ? [] : [String(member + 1)]));
  }
  return rows;
}

for (const count of [1_000, 10_000]) {
  test(`${count} nested resources`, { timeout: 120_000 }, async () => {
    const body = JSON.stringify({ resources: resources(count, 'CREATE_COMPLETE') });
    const answer = (route: Route): Promise<void> => route.fulfill({ body, contentType: 'application/json' });
    await page.route('**/resources?nested_depth=*', answer);
    await logIn(page, service);
    const project = api.base.split('/').at(-1) ?? '';
    const started = Date.now();
    await page.evaluate((hash) => (location.hash = hash), `#/${project}/stacks/large/${id}/graph`);
    await page.locator('canvas').first().waitFor();
    await painted();
    const folded = Date.now() - started;
    const unfolding = Date.now();
    await page.getByRole('button', { name: 'Unfold all' }).click();
    await page.locator(`canvas[aria-label*="with ${count} boxes"]`).waitFor();
    await painted();
    const unfolded = Date.now() - unfolding;
    await page.getByRole('button', { name: 'Fit' }).click();
    const frames = await framesPerSecond();
    console.log(`${count} resources: first graph ${folded} ms, all unfolded ${unfolded} ms, ${frames} frames a second while panning`);
    await shoot(page, `graph-${count}`);
    expect(await page.locator('canvas').first().getAttribute('aria-label')).toContain(`${count} boxes`);
    await page.unroute('**/resources?nested_depth=*', answer);
    await page.getByRole('button', { name: 'Log out' }).click();
  });
}

test('900 resources that are created while they are watched', { timeout: 120_000 }, async () => {
  await logIn(page, service);
  const member = { type: 'OS::Heat::TestResource', properties: { value: 'x', wait_secs: 3 } };
  const group = await api.create('moving', { heat_template_version: '2021-04-16', resources: { group: { type: 'OS::Heat::ResourceGroup', properties: { count: 900, resource_def: member } } } });
  await page.evaluate((hash) => (location.hash = hash), `#/${api.base.split('/').at(-1)}/stacks/moving/${group}/graph`);
  await page.getByRole('button', { name: 'Unfold all' }).click();
  const frames = await page.evaluate(async () => {
    const started = performance.now();
    let count = 0;
    while (!document.querySelector('h1 + .badge.complete')) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      count += 1;
    }
    return Math.round((count * 1000) / (performance.now() - started));
  });
  console.log(`900 resources while they are created: ${frames} frames a second`);
  await page.locator('canvas[aria-label*="with 901 boxes"]').waitFor();
});

/** Waits until the canvas has been painted: two frames later. */
async function painted(): Promise<void> {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** Pans for a second, and counts the frames. */
async function framesPerSecond(): Promise<number> {
  return page.evaluate(async () => {
    const canvas = document.querySelector('canvas');
    const fire = (type: string, x: number): void => void canvas?.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: 400, pointerId: 1, bubbles: true }));
    if (canvas) canvas.setPointerCapture = () => undefined;
    fire('pointerdown', 300);
    let frames = 0;
    const end = performance.now() + 1000;
    while (performance.now() < end) {
      fire('pointermove', 300 + ((frames * 7) % 200));
      await new Promise((resolve) => requestAnimationFrame(resolve));
      frames += 1;
    }
    fire('pointerup', 300);
    return frames;
  });
}
