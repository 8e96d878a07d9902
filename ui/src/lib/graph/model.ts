// The graph that is shown: resources and their dependencies, with nested stacks folded or unfolded.

import { split, type State } from '../status';
import type { Node } from '../tree';

/** A box. Unfolded nested stacks are boxes with boxes in them. */
export interface Box {
  key: string;
  label: string;
  type: string;
  state: State;
  action: string;
  /** The number of resources below it. */
  inside: number;
  isOpen: boolean;
  depth: number;
  node: Node | null;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** An arrow from what is needed to what needs it, by the places of the boxes. */
export interface Edge {
  from: number;
  to: number;
}

export interface Graph {
  boxes: Box[];
  edges: Edge[];
  width: number;
  height: number;
}

/** The boxes and edges of a tree; nested stacks whose key is not in `open` are one box. */
export function build(nodes: Node[], open: ReadonlySet<string>): Graph {
  const counts = new Map<Node, number>();
  const count = (node: Node): number => {
    let inside = counts.get(node);
    if (inside === undefined) {
      counts.set(node, 0);
      inside = node.children.reduce((sum, child) => sum + 1 + count(child), 0);
      counts.set(node, inside);
    }
    return inside;
  };
  const isShown = (node: Node): boolean => {
    for (let at = node.parent; at; at = at.parent) if (!open.has(at.key)) return false;
    return true;
  };
  const places = new Map<string, number>();
  const boxes: Box[] = [];
  for (const node of nodes) {
    if (!isShown(node)) continue;
    const { action, state } = split(node.resource.resource_status);
    places.set(node.key, boxes.length);
    boxes.push({
      key: node.key, label: node.resource.resource_name, type: node.resource.resource_type, state, action, inside: count(node),
      isOpen: node.children.length > 0 && open.has(node.key), depth: node.path.length - 1, node, x: 0, y: 0, width: 0, height: 0,
    });
  }
  const edges: Edge[] = [];
  for (const box of boxes) {
    if (!box.node) continue;
    for (const name of box.node.resource.required_by) {
      const to = places.get(`${box.node.stack.id}/${name}`);
      const from = places.get(box.key);
      if (to !== undefined && from !== undefined && to !== from) edges.push({ from, to });
    }
  }
  return { boxes, edges, width: 0, height: 0 };
}

/** The colours of states are the page's; the shapes say the same without colour. */
export const SHAPES: Record<State, string> = { complete: '●', failed: '▲', progress: '◐', init: '○' };
