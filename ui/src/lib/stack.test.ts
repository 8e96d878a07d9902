import { describe, expect, test } from 'vitest';
import type { Resource, StackEvent } from './api/heat';
import { messages } from './api/stream';
import { satisfies } from './connect';
import { changesOf, differences } from './diff';
import { causes } from './failure';
import { dot, svg } from './graph/export';
import { layout } from './graph/layout';
import { build } from './graph/model';
import { pendingHooks } from './hooks';
import { sketch } from './sketch';
import { split } from './status';
import { operations } from './timeline';
import { grow, progress } from './tree';

const link = (rel: string, stack: string): { rel: string; href: string } => ({ rel, href: `http://h/v1/p/stacks/${stack}/${stack}-id` });

function resource(name: string, stack: string, status: string, more: Partial<Resource> & { nested?: string } = {}): Resource {
  const links = [link('stack', stack), ...(more.nested ? [link('nested', more.nested)] : [])];
  return { resource_name: name, logical_resource_id: name, physical_resource_id: '', resource_type: 'T', resource_status: status, resource_status_reason: '', creation_time: '', updated_time: '', required_by: [], links, ...more };
}

let number = 0;
function event(name: string, stack: string, status: string, second: number, more: Partial<StackEvent> = {}): StackEvent {
  number += 1;
  return { id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`, event_time: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`, resource_name: name, physical_resource_id: '', resource_status: status, resource_status_reason: '', links: [link('stack', stack)], ...more };
}

const nodes = grow([
  resource('net', 'root', 'CREATE_COMPLETE', { required_by: ['group'] }),
  resource('group', 'root', 'CREATE_FAILED', { nested: 'inner', required_by: ['last'] }),
  resource('last', 'root', 'INIT_COMPLETE'),
  resource('0', 'inner', 'CREATE_FAILED', { resource_status_reason: 'Quota exceeded for cores' }),
  resource('1', 'inner', 'CREATE_FAILED', { resource_status_reason: 'CREATE aborted' }),
]);

describe('resources of all levels', () => {
  test('form a tree with paths', () => {
    expect(nodes.map((node) => node.path.join('.'))).toEqual(['net', 'group', 'last', 'group.0', 'group.1']);
    expect(progress(nodes)).toEqual({ done: 1, all: 4 });
  });

  test('the root cause is the first leaf that failed by itself', () => {
    const events = [event('1', 'inner', 'CREATE_FAILED', 1), event('0', 'inner', 'CREATE_FAILED', 2)];
    const found = causes(nodes, events);
    expect(found.map((it) => it.node.path.join('.'))).toEqual(['group.0', 'group.1']);
    expect(found[0]?.advice).toBe('advice.quota');
  });
});

describe('the timeline', () => {
  const events = [
    event('root', 'root', 'CREATE_IN_PROGRESS', 0, { physical_resource_id: 'root-id' }),
    event('net', 'root', 'CREATE_IN_PROGRESS', 0),
    event('net', 'root', 'CREATE_COMPLETE', 4),
    event('group', 'root', 'CREATE_IN_PROGRESS', 4),
    event('0', 'inner', 'CREATE_IN_PROGRESS', 5),
    event('1', 'inner', 'CREATE_IN_PROGRESS', 5),
    event('1', 'inner', 'CREATE_COMPLETE', 6),
    event('0', 'inner', 'CREATE_FAILED', 8),
    event('group', 'root', 'CREATE_FAILED', 9),
    event('root', 'root', 'CREATE_FAILED', 9, { physical_resource_id: 'root-id' }),
  ];

  test('has a bar for every resource, and the chain that took longest', () => {
    const [operation] = operations(events, nodes, 'root-id');
    expect(operation).toMatchObject({ action: 'CREATE', state: 'failed' });
    const bars = operation?.bars.map((bar) => [bar.path.join('.'), (bar.end ?? 0) - bar.start, bar.critical]);
    expect(bars).toEqual([['net', 4000, true], ['group', 5000, true], ['group.0', 3000, true], ['group.1', 1000, false]]);
  });
});

describe('the graph', () => {
  test('folds nested stacks, and needs come first', () => {
    const folded = layout(build(nodes, new Set()));
    expect(folded.boxes.map((box) => [box.label, box.inside])).toEqual([['net', 0], ['group', 2], ['last', 0]]);
    const [net, group, last] = folded.boxes;
    expect([net?.x, group?.x, last?.x].every((x, at, all) => at === 0 || (x ?? 0) > (all[at - 1] ?? 0))).toBe(true);
    const open = layout(build(nodes, new Set(['root-id/group'])));
    const [outer, inner] = [open.boxes[1], open.boxes[3]];
    expect(inner && outer && inner.x > outer.x && inner.x + inner.width < outer.x + outer.width && inner.y + inner.height < outer.y + outer.height).toBe(true);
  });

  test('no two boxes of a large graph overlap', () => {
    const many = grow(Array.from({ length: 3000 }, (_, at) => resource(`r${at}`, 'root', 'CREATE_COMPLETE', { required_by: at % 7 === 0 ? [] : [`r${at + 1}`] })));
    const { boxes } = layout(build(many, new Set()));
    expect(new Set(boxes.map((box) => `${Math.round(box.x)},${Math.round(box.y)}`)).size).toBe(boxes.length);
  });

  test('pictures contain names, never markup', () => {
    const graph = layout(build(grow([resource('<script>"&', 'root', 'CREATE_COMPLETE')]), new Set()));
    const colours = { panel: '#fff', sunken: '#eee', line: '#ccc', text: '#000', muted: '#555', complete: '#0a0', failed: '#a00', progress: '#00a', init: '#888' };
    expect(svg(graph, colours)).not.toContain('<script');
    expect(dot(graph)).toContain('<script>\\"&');
  });

  test('a template has one before there is a stack', () => {
    const found = sketch({ resources: { a: { type: 'A' }, b: { type: 'B', depends_on: 'a', properties: { x: { get_attr: ['c', 'y'] } } }, c: { type: 'C' } } });
    expect(found.map((node) => node.resource.required_by)).toEqual([['b'], [], ['b']]);
  });
});

test('differences name paths and the parameters behind them', () => {
  expect(differences({ a: { b: 1 }, c: 2 }, { a: { b: 3 } })).toEqual([{ path: 'a.b', before: 1, after: 3 }, { path: 'c', before: 2, after: undefined }]);
  const template = (size: number): unknown => ({ resources: { v: { properties: { size, name: { get_param: 'n' } } } } });
  const changed = changesOf('v', template(1), template(2), [{ path: 'n', before: 'x', after: 'y' }, { path: 'other', before: 1, after: 2 }]);
  expect(changed.map((it) => it.path)).toEqual(['properties.size', 'get_param n']);
});

test('hooks wait until they are cleared', () => {
  const waits = event('a', 'root', 'CREATE_IN_PROGRESS', 1, { resource_status_reason: 'CREATE paused until Hook pre-create is cleared' });
  const cleared = event('a', 'root', 'CREATE_IN_PROGRESS', 2, { resource_status_reason: 'Hook pre-create is cleared' });
  expect(pendingHooks([waits]).map((it) => [it.resource, it.hook])).toEqual([['a', 'pre-create']]);
  expect(pendingHooks([waits, cleared])).toEqual([]);
});

test('a status is an action and a state', () => {
  expect(split('UPDATE_FAILED')).toEqual({ action: 'UPDATE', state: 'failed' });
  expect(split('INIT_COMPLETE').state).toBe('init');
  expect(split('COMPLETE').state).toBe('complete');
});

test('streams come in pieces', () => {
  const { found, rest } = messages(': still here\n\nid: 1\nevent: event\ndata: {"a": 1}\n\nid: 2\nevent: ev');
  expect(found).toEqual([{ event: 'event', data: '{"a": 1}' }]);
  expect(rest).toBe('id: 2\nevent: ev');
});

test('resources satisfy constraints', () => {
  expect(satisfies('OS::Neutron::Net', 'neutron.network')).toBe(true);
  expect(satisfies('OS::Nova::Server', 'nova.server')).toBe(true);
  expect(satisfies('OS::Nova::Flavor', 'nova.server')).toBe(false);
});
