// Resources of all levels as one tree.

import type { Link, Resource, StackEvent, StackRef } from './api/heat';

/** A resource with its place in the tree. */
export interface Node {
  resource: Resource;
  /** The stack that it belongs to. */
  stack: StackRef;
  /** Stack id and name, which are unique. */
  key: string;
  /** The names from the root to it. */
  path: string[];
  parent: Node | null;
  children: Node[];
  /** The nested stack, if it has one. */
  nested: StackRef | null;
}

/** What links lead to; a list of links never changes, and is asked for often. */
const known = new WeakMap<Link[], Map<string, StackRef | null>>();

/** The stack that a link leads to. */
export function refOf(links: Link[], rel: string): StackRef | null {
  let refs = known.get(links);
  if (!refs) known.set(links, (refs = new Map()));
  let ref = refs.get(rel);
  if (ref === undefined) refs.set(rel, (ref = parseRef(links, rel)));
  return ref;
}

function parseRef(links: Link[], rel: string): StackRef | null {
  const href = links.find((it) => it.rel === rel)?.href ?? '';
  const [, name, id] = /\/stacks\/([^/?]+)\/([^/?]+)/.exec(href) ?? [];
  return name && id ? { name: decodeURIComponent(name), id: decodeURIComponent(id) } : null;
}

export const keyOf = (stackId: string, name: string): string => `${stackId}/${name}`;

/** The key of the resource that an event is about. */
export function keyOfEvent(event: StackEvent): string {
  return keyOf(refOf(event.links, 'stack')?.id ?? '', event.resource_name);
}

/** Whether an event is about a stack, not about a resource in it. */
export function isOfStack(event: StackEvent): boolean {
  return refOf(event.links, 'stack')?.id === event.physical_resource_id;
}

/** The tree of a list with all levels: nodes in the order of the list. */
export function grow(resources: Resource[]): Node[] {
  const nodes = resources.map((resource): Node => {
    const stack = refOf(resource.links, 'stack') ?? { name: '', id: '' };
    const key = keyOf(stack.id, resource.resource_name);
    const nested = refOf(resource.links, 'nested');
    return { resource, stack, key, path: [resource.resource_name], parent: null, children: [], nested };
  });
  const owners = new Map<string, Node>();
  for (const node of nodes) if (node.nested) owners.set(node.nested.id, node);
  for (const node of nodes) {
    const parent = owners.get(node.stack.id);
    if (parent && parent !== node) {
      node.parent = parent;
      parent.children.push(node);
    }
  }
  for (const node of nodes) {
    for (let at = node.parent; at && node.path.length < 64; at = at.parent) node.path.unshift(at.resource.resource_name);
  }
  return nodes;
}

/** The number of nodes whose state is complete, of those that have no nested stack. */
export function progress(nodes: Node[]): { done: number; all: number } {
  const leaves = nodes.filter((node) => node.children.length === 0);
  const done = leaves.filter((node) => node.resource.resource_status.endsWith('_COMPLETE') && !node.resource.resource_status.startsWith('INIT'));
  return { done: done.length, all: leaves.length };
}
