// A layered layout, left to right: what is needed stands left of what needs it. Nested stacks are laid out first, and then
// are boxes of their parents. Layers are found by longest paths, and ordered by the means of neighbours in a few sweeps.

import type { Box, Edge, Graph } from './model';

const WIDTH = 208;
const HEIGHT = 44;
const GAP_X = 64;
const GAP_Y = 12;
const PAD = 14;
const TITLE = 30;
const SWEEPS = 6;
/** A layer that is higher is broken into columns, so that a group of thousands does not become a thin line. */
const MAX_ROWS = 40;

/** Gives every box its place. */
export function layout(graph: Graph): Graph {
  const inside = new Map<string, number[]>();
  const groupOf = (box: Box): string => box.node?.parent?.key ?? '';
  graph.boxes.forEach((box, index) => {
    const members = inside.get(groupOf(box));
    if (members) members.push(index);
    else inside.set(groupOf(box), [index]);
  });
  const edgesOf = new Map<string, Edge[]>();
  for (const edge of graph.edges) {
    const group = groupOf(graph.boxes[edge.from] as Box);
    const members = edgesOf.get(group);
    if (members) members.push(edge);
    else edgesOf.set(group, [edge]);
  }
  const places = new Map(graph.boxes.map((box) => [box.key, box]));
  const byDepth = [...inside.entries()].sort(([, a], [, b]) => depth(graph, b) - depth(graph, a));
  for (const [group, members] of byDepth) {
    const size = place(graph.boxes, members, edgesOf.get(group) ?? []);
    const owner = places.get(group);
    if (owner) {
      owner.width = size.width + 2 * PAD;
      owner.height = size.height + TITLE + PAD;
    } else {
      graph.width = size.width + 2 * PAD;
      graph.height = size.height + 2 * PAD;
    }
  }
  for (const [group, members] of byDepth.reverse()) {
    const owner = places.get(group);
    const [dx, dy] = owner ? [owner.x + PAD, owner.y + TITLE] : [PAD, PAD];
    for (const index of members) {
      const box = graph.boxes[index] as Box;
      box.x += dx;
      box.y += dy;
    }
  }
  return graph;
}

const depth = (graph: Graph, members: number[]): number => graph.boxes[members[0] ?? 0]?.depth ?? 0;

/** Places the boxes of one stack, from (0, 0). */
function place(boxes: Box[], members: number[], edges: Edge[]): { width: number; height: number } {
  for (const index of members) {
    const box = boxes[index] as Box;
    if (!box.isOpen) [box.width, box.height] = [WIDTH, HEIGHT];
  }
  const layers = layered(members, edges);
  order(layers, edges);
  let [x, width, height] = [0, 0, 0];
  for (const layer of layers.flatMap((it) => columns(it))) {
    const widest = Math.max(...layer.map((index) => (boxes[index] as Box).width));
    let y = 0;
    for (const index of layer) {
      const box = boxes[index] as Box;
      [box.x, box.y] = [x, y];
      y += box.height + GAP_Y;
    }
    width = x + widest;
    height = Math.max(height, y - GAP_Y);
    x += widest + GAP_X;
  }
  center(boxes, layers, height);
  return { width, height };
}

function columns(layer: number[]): number[][] {
  const count = Math.ceil(layer.length / Math.max(MAX_ROWS, Math.ceil(Math.sqrt(layer.length * 4))));
  const rows = Math.ceil(layer.length / count);
  return Array.from({ length: count }, (_, at) => layer.slice(at * rows, (at + 1) * rows));
}

/** Moves short layers to the middle. */
function center(boxes: Box[], layers: number[][], height: number): void {
  for (const layer of layers) {
    if (columns(layer).length > 1) continue;
    const last = boxes[layer.at(-1) ?? 0] as Box;
    const shift = (height - (last.y + last.height)) / 2;
    for (const index of layer) (boxes[index] as Box).y += shift;
  }
}

/** The members by the length of the longest path that leads to them. Members of a cycle, which templates refuse, come last. */
function layered(members: number[], edges: Edge[]): number[][] {
  const waits = new Map(members.map((index) => [index, 0]));
  const next = new Map<number, number[]>();
  for (const { from, to } of edges) {
    waits.set(to, (waits.get(to) ?? 0) + 1);
    const following = next.get(from);
    if (following) following.push(to);
    else next.set(from, [to]);
  }
  const layers: number[][] = [];
  let layer = members.filter((index) => waits.get(index) === 0);
  const left = new Set(members);
  while (layer.length > 0) {
    layers.push(layer);
    const following: number[] = [];
    for (const index of layer) {
      left.delete(index);
      for (const to of next.get(index) ?? []) {
        const count = (waits.get(to) ?? 0) - 1;
        waits.set(to, count);
        if (count === 0) following.push(to);
      }
    }
    layer = following;
  }
  if (left.size > 0) layers.push([...left]);
  return layers;
}

/** Orders layers so that neighbours are near each other. */
function order(layers: number[][], edges: Edge[]): void {
  const before = new Map<number, number[]>();
  const after = new Map<number, number[]>();
  const add = (map: Map<number, number[]>, key: number, value: number): void => {
    const values = map.get(key);
    if (values) values.push(value);
    else map.set(key, [value]);
  };
  for (const { from, to } of edges) {
    add(after, from, to);
    add(before, to, from);
  }
  const position = new Map<number, number>();
  const number = (layer: number[]): void => layer.forEach((index, at) => position.set(index, at / layer.length));
  layers.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forward = sweep % 2 === 0;
    for (const layer of forward ? layers : [...layers].reverse()) {
      const mean = new Map<number, number>();
      for (const index of layer) {
        const around = (forward ? before : after).get(index) ?? [];
        const sum = around.reduce((total, it) => total + (position.get(it) ?? 0), 0);
        mean.set(index, around.length > 0 ? sum / around.length : (position.get(index) ?? 0));
      }
      layer.sort((a, b) => (mean.get(a) ?? 0) - (mean.get(b) ?? 0));
      number(layer);
    }
  }
}
