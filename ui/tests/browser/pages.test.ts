// Every page: deep links, accessibility, hostile contents, languages, themes and widths.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, logIn, type Service, shoot, startKiln, type Visitor, visit } from './support';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const EVIL = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

let service: Service;
let visitor: Visitor;
let page: Page;
let api: Api;
let project = '';
/** The addresses of all pages, behind the project. */
let addresses: string[] = [];

const hostile = {
  heat_template_version: '2021-04-16',
  description: EVIL,
  parameters: { p: { type: 'string', default: EVIL, description: EVIL, label: EVIL } },
  resources: {
    value: { type: 'OS::Heat::Value', properties: { value: { get_param: 'p' } }, metadata: { note: EVIL } },
    group: { type: 'OS::Heat::ResourceGroup', properties: { count: 2, resource_def: { type: 'OS::Heat::RandomString' } } },
  },
  outputs: { o: { value: { get_param: 'p' }, description: EVIL }, link: { value: 'javascript:window.hacked=1' } },
};
const failing = {
  heat_template_version: '2021-04-16',
  resources: {
    net: { type: 'OS::Neutron::Net' },
    subnet: { type: 'OS::Neutron::Subnet', properties: { network: { get_resource: 'net' }, cidr: '192.0.2.0/24' } },
    server: { type: 'OS::Nova::Server', properties: { image: 'cirros', flavor: 'm1.small', networks: [{ network: { get_resource: 'net' } }], user_data_format: 'SOFTWARE_CONFIG' } },
    config: { type: 'OS::Heat::SoftwareConfig', properties: { group: 'script', config: 'exit 1' } },
    deployment: { type: 'OS::Heat::SoftwareDeployment', properties: { server: { get_resource: 'server' }, config: { get_resource: 'config' } } },
  },
};

beforeAll(async () => {
  service = await startKiln();
  api = await Api.logIn(service);
  project = api.base.split('/').at(-1) ?? '';
  const id = await api.create('hostile', hostile, { tags: 'blue,<b>tag</b>' });
  await api.rest('hostile', id);
  const failed = await api.create('broken', failing);
  await whenDeployed(failed);
  const signal = { deploy_status_code: 7, deploy_stdout: EVIL, deploy_stderr: `cannot open /etc/app.conf ${EVIL}` };
  await api.call('POST', `/stacks/broken/${failed}/resources/deployment/signal`, signal);
  expect(await api.rest('broken', failed)).toBe('CREATE_FAILED');
  const tabs = ['overview', 'graph', 'timeline', 'resources', 'events', 'template', 'environment', 'files', 'snapshots', 'deployments', 'hooks'];
  addresses = [
    'stacks', 'stacks?q=hos', 'launch', 'editor', 'editor?view=designer', 'types', 'types?view=functions', 'types/OS%3A%3ANova%3A%3AKeyPair',
    ...tabs.map((tab) => `stacks/hostile/${id}/${tab}`),
    `stacks/hostile/${id}/resources/value`, `stacks/broken/${failed}/failure`, `stacks/broken/${failed}/deployments`, `change/hostile/${id}`,
  ];
  visitor = await visit();
  page = visitor.page;
  await logIn(page, service);
});
afterAll(async () => {
  await visitor?.close();
  await service?.stop();
});

async function whenDeployed(id: string): Promise<void> {
  for (;;) {
    const { resources } = await api.call<{ resources: { resource_name: string; physical_resource_id: string; resource_status: string }[] }>('GET', `/stacks/broken/${id}/resources`);
    const deployment = resources.find((it) => it.resource_name === 'deployment');
    if (deployment?.resource_status === 'CREATE_IN_PROGRESS' && deployment.physical_resource_id) return;
    if (resources.some((it) => it.resource_status === 'CREATE_FAILED')) throw new Error(JSON.stringify(resources));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const go = async (address: string): Promise<void> => {
  await page.evaluate((hash) => (location.hash = hash), `#/${project}/${address}`);
  await visitor.settled();
};

describe('every page', () => {
  test('a failing deployment is three clicks from the list to its stderr', async () => {
    await page.locator('tr', { hasText: 'broken' }).getByRole('link', { name: 'Why?' }).click();
    await page.getByText('cannot open /etc/app.conf').first().waitFor();
    await page.getByRole('heading', { name: 'Root cause' }).waitFor();
    await shoot(page, 'failure');
  });

  test('shows hostile texts as texts', async () => {
    for (const address of addresses) {
      await go(address);
      expect(await page.evaluate(() => (window as { hacked?: number }).hacked), address).toBeUndefined();
    }
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
  });

  test('has no serious finding of axe-core, in light and in dark', async () => {
    const found: string[] = [];
    for (const theme of ['light', 'dark']) {
      await page.evaluate((it) => (document.documentElement.dataset.theme = it), theme);
      for (const address of addresses) {
        await go(address);
        found.push(...(await serious(address)).map((it) => `${theme} ${it}`));
      }
    }
    expect(found).toEqual([]);
  });

  async function serious(address: string): Promise<string[]> {
    // The content security policy of the page holds for scripts in it, not for the debugger that runs this one.
    await page.evaluate(AXE);
    const violations = await page.evaluate(async () => {
      const { axe } = window as unknown as { axe: { run: () => Promise<{ violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[] }> } };
      return (await axe.run()).violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0]?.html ?? '', why: nodes[0]?.failureSummary ?? '' }));
    });
    return violations.filter((it) => it.impact === 'serious' || it.impact === 'critical').map((it) => `${address} ${it.id} ${it.html.slice(0, 160)} ${it.why.slice(0, 200)}`);
  }

  test('is the same after a reload, and a second tab needs no login', async () => {
    const second = await visitor.context.newPage();
    for (const address of addresses) {
      await page.goto(`${service.dashboard}#/${project}/${address}`);
      await visitor.settled();
      const title = await page.title();
      await second.goto(`${service.dashboard}#/${project}/${address}`);
      await second.reload();
      await second.locator('header nav').waitFor();
      await second.waitForFunction((it) => document.title === it, title);
      expect(second.url()).toBe(`${service.dashboard}#/${project}/${address}`);
    }
    // Logging out in one tab logs out the other.
    await second.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in as demo' }).waitFor();
    await second.close();
    await logIn(page, service);
  });

  test('fits into 360 pixels and fills 4K', async () => {
    for (const [width, height] of [[360, 740], [3840, 2160]] as const) {
      await page.setViewportSize({ width, height });
      for (const address of addresses) {
        await go(address);
        const { scroll, client } = await page.evaluate(() => ({ scroll: document.documentElement.scrollWidth, client: document.documentElement.clientWidth }));
        expect(scroll, `${address} at ${width}`).toBeLessThanOrEqual(client);
        if (width === 360) await shoot(page, `narrow-${address.replace(/[0-9a-f-]{36}\/?/, '').replace(/[^a-z]+/gi, '_')}`);
      }
      if (width === 3840) await shoot(page, 'wide-editor');
    }
    await page.setViewportSize({ width: 1280, height: 860 });
  });
});

describe('the editor', () => {
  test('shows findings while typing, completes types, and draws the graph', async () => {
    await go('editor');
    const text = page.locator('.cm-content');
    await text.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText('heat_template_version: 2021-04-16\nresources:\n  a:\n    type: OS::Heat::RandomStrin\n  b:\n    type: OS::Heat::Value\n    properties: {value: {get_resource: a}}\n');
    await page.getByText('did you mean').first().waitFor();
    await shoot(page, 'editor-findings');
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText('heat_template_version: 2021-04-16\nresources:\n  a:\n    type: OS::Heat::RandomStr');
    await page.keyboard.press('Control+Space');
    await page.locator('.cm-tooltip-autocomplete li', { hasText: 'OS::Heat::RandomString' }).waitFor();
    await page.waitForTimeout(100);
    await page.keyboard.press('Enter');
    await page.getByText('✓ valid').waitFor();
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('cell', { name: 'OS::Heat::RandomString' }).waitFor();
  });

  test('the designer adds resources and connects them by what their constraints allow', async () => {
    await go('editor?view=designer');
    for (const type of ['OS::Neutron::Net', 'OS::Neutron::Subnet']) {
      await page.getByPlaceholder('Search types').fill(type);
      await page.getByRole('button', { name: `+ ${type}`, exact: true }).click();
    }
    await page.getByRole('heading', { name: 'subnet', exact: true }).waitFor();
    expect(await page.locator('datalist#l-network option').getAttribute('value')).toBe('→ net');
    await page.locator('#p-network').fill('→ net');
    await page.locator('#p-network').press('Tab');
    await page.locator('.cm-content', { hasText: 'network: { get_resource: net }' }).waitFor();
    await shoot(page, 'designer');
  });
});

test('pictures in both languages and both themes', async () => {
  for (const [locale, dark] of [['en-GB', true], ['zh-CN', false], ['zh-CN', true]] as const) {
    const other = await visit({ locale, dark });
    await logIn(other.page, service);
    const shown = addresses.filter((it) => /^stacks$|^launch|designer|KeyPair|hostile.*\/(overview|graph|timeline|resources)|broken.*failure|^change/.test(it));
    for (const address of shown) {
      await other.page.evaluate((hash) => (location.hash = hash), `#/${project}/${address}`);
      await other.settled();
      await shoot(other.page, `${locale.slice(0, 2)}-${dark ? 'dark' : 'light'}-${address.replace(/[0-9a-f-]{36}\/?/, '').replace(/[^a-z]+/gi, '_')}`);
    }
    expect(await other.page.evaluate(() => document.documentElement.lang)).toBe(locale.startsWith('zh') ? 'zh-CN' : 'en');
    expect(other.log).toEqual([]);
    await other.close();
  }
}, 120_000);

test('the page broke no rule of its content security policy, and logged nothing', () => {
  expect(visitor.log.filter((it) => !it.includes('status of 400'))).toEqual([]);
});
