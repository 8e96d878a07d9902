// The graph as a picture and for Graphviz.

import { SHAPES, type Box, type Graph } from './model';

const escapeXml = (text: string): string => text.replace(/[<>&"']/g, (it) => `&#${it.charCodeAt(0)};`);

/** The colours of a picture, by the names of the page's colours. */
export type Colours = Record<'panel' | 'sunken' | 'line' | 'text' | 'muted' | 'complete' | 'failed' | 'progress' | 'init', string>;

/** A drawing of the whole graph. */
export function svg(graph: Graph, colours: Colours): string {
  const boxes = graph.boxes.map((box) => {
    const fill = box.isOpen ? colours.sunken : colours.panel;
    const label = escapeXml(box.label);
    const type = box.isOpen ? '' : `<text x="${box.x + 28}" y="${box.y + 34}" font-size="11" fill="${colours.muted}">${escapeXml(box.type)}</text>`;
    return (
      `<g><title>${label} ${escapeXml(box.type)} ${box.action} ${box.state}</title>` +
      `<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="6" fill="${fill}" stroke="${colours[box.state]}"/>` +
      `<text x="${box.x + 10}" y="${box.y + 20}" font-size="12" fill="${colours[box.state]}">${SHAPES[box.state]}</text>` +
      `<text x="${box.x + 28}" y="${box.y + 19}" font-size="13" fill="${colours.text}">${label}</text>${type}</g>`
    );
  });
  const edges = graph.edges.map(({ from, to }) => {
    const [a, b] = [graph.boxes[from] as Box, graph.boxes[to] as Box];
    return `<path d="${curve(a, b)}" fill="none" stroke="${colours.muted}" marker-end="url(#arrow)"/>`;
  });
  const arrow = `<marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0l8 4-8 4z" fill="${colours.muted}"/></marker>`;
  const open = boxes.filter((_, index) => graph.boxes[index]?.isOpen);
  const closed = boxes.filter((_, index) => !graph.boxes[index]?.isOpen);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${graph.width}" height="${graph.height}" font-family="sans-serif">` +
    `<defs>${arrow}</defs><rect width="100%" height="100%" fill="${colours.panel}"/>${open.join('')}${edges.join('')}${closed.join('')}</svg>`
  );
}

/** The path of an arrow. */
export function curve(a: Box, b: Box): string {
  const [x1, y1, x2, y2] = [a.x + a.width, a.y + a.height / 2, b.x, b.y + b.height / 2];
  const bend = Math.max(24, Math.abs(x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

/** The graph for Graphviz. */
export function dot(graph: Graph): string {
  const quote = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
  const boxes = graph.boxes.map((box) => `  ${quote(box.key)} [label=${quote(`${box.label}\n${box.type}`)}, shape=box];`);
  const edges = graph.edges.map(({ from, to }) => `  ${quote(graph.boxes[from]?.key ?? '')} -> ${quote(graph.boxes[to]?.key ?? '')};`);
  return `digraph stack {\n  rankdir=LR;\n${[...boxes, ...edges].join('\n')}\n}\n`;
}
