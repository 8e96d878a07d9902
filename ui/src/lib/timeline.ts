// Operations on a stack, each with a bar per resource and attempt, and the chain of resources that it waited for.

import type { StackEvent } from './api/heat';
import { split, type State } from './status';
import { isOfStack, keyOfEvent, type Node } from './tree';

/** The work on one resource. */
export interface Bar {
  key: string;
  name: string;
  path: string[];
  action: string;
  state: State;
  start: number;
  /** The end; missing while the work goes on. */
  end: number | null;
  critical: boolean;
}

/** One action on the stack. */
export interface Operation {
  action: string;
  state: State;
  reason: string;
  start: number;
  end: number | null;
  bars: Bar[];
}

/** The time of an event in milliseconds. Ids of version 7 have it; others have seconds alone. */
export function timeOf(event: StackEvent): number {
  const hex = event.id.replaceAll('-', '');
  if (hex[12] === '7') return Number.parseInt(hex.slice(0, 12), 16);
  const text = /Z|[+-]\d\d:\d\d$/.test(event.event_time) ? event.event_time : `${event.event_time}Z`;
  return Date.parse(text);
}

/** The operations in the events of a stack, the newest first. */
export function operations(events: StackEvent[], nodes: Node[], stackId: string): Operation[] {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const found: Operation[] = [];
  let open = new Map<string, Bar>();
  for (const event of events) {
    const { action, state } = split(event.resource_status);
    const time = timeOf(event);
    let current = found.at(-1);
    if (event.physical_resource_id === stackId) {
      if (state === 'progress') {
        found.push({ action, state, reason: '', start: time, end: null, bars: [] });
        open = new Map();
      } else if (current) Object.assign(current, { state, end: time, reason: event.resource_status_reason });
      continue;
    }
    if (isOfStack(event)) continue;
    if (!current) found.push((current = { action, state: 'progress', reason: '', start: time, end: null, bars: [] }));
    const key = keyOfEvent(event);
    const bar = open.get(key);
    if (state === 'progress' || !bar) {
      const path = byKey.get(key)?.path ?? [event.resource_name];
      const fresh: Bar = { key, name: event.resource_name, path, action, state, start: time, end: state === 'progress' ? null : time, critical: false };
      current.bars.push(fresh);
      open.set(key, fresh);
    } else Object.assign(bar, { state, end: time });
  }
  for (const operation of found) markCritical(operation, byKey);
  return found.reverse();
}

/** Marks the chain that ends last: each bar with the one it waited for, which is the last to end among those it needs. */
function markCritical(operation: Operation, byKey: Map<string, Node>): void {
  const bars = new Map(operation.bars.map((bar) => [bar.key, bar]));
  const needs = new Map<string, string[]>();
  for (const node of byKey.values()) {
    for (const name of node.resource.required_by) {
      const key = `${node.stack.id}/${name}`;
      needs.set(key, [...(needs.get(key) ?? []), node.key]);
    }
  }
  const ends = (bar: Bar): number => bar.end ?? Number.POSITIVE_INFINITY;
  const latest = (all: Bar[]): Bar | undefined => all.reduce<Bar | undefined>((best, bar) => (!best || ends(bar) > ends(best) ? bar : best), undefined);
  const roots = operation.bars.filter((bar) => !byKey.get(bar.key)?.parent);
  const pending = [latest(roots)];
  const isDeletion = operation.action === 'DELETE';
  for (let at = pending.pop(); at; at = pending.pop()) {
    if (at.critical) continue;
    at.critical = true;
    const node = byKey.get(at.key);
    const keys = isDeletion ? (node?.resource.required_by ?? []).map((name) => `${node?.stack.id}/${name}`) : (needs.get(at.key) ?? []);
    const before = keys.flatMap((key) => bars.get(key) ?? []);
    const inside = (node?.children ?? []).flatMap((child) => bars.get(child.key) ?? []);
    pending.push(...[latest(before), latest(inside)].filter((it) => it !== undefined));
  }
}
