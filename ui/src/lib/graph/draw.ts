// Draws a graph on a canvas: only what is in sight, and less of it the further away it is.

import type { Colours } from './export';
import { SHAPES, type Box, type Graph } from './model';

/** What part of the graph is in sight, and how large. */
export interface View {
  x: number;
  y: number;
  scale: number;
}

export interface Drawing {
  graph: Graph;
  view: View;
  colours: Colours;
  accent: string;
  selected: string | null;
  /** Boxes that the search found; all if there is no search. */
  found: ReadonlySet<string> | null;
  /** An angle for what is in progress. */
  turn: number;
}

/** Texts are drawn from this scale on; smaller boxes are only coloured. */
export const READABLE = 0.3;

const FONT = 'system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif';

/** Draws; the canvas has the size of its pixels. */
export function draw(context: CanvasRenderingContext2D, drawing: Drawing, width: number, height: number, ratio: number): void {
  const { graph, view, colours } = drawing;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, width, height);
  context.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y);
  const sight = { left: -view.x / view.scale, top: -view.y / view.scale, right: (width - view.x) / view.scale, bottom: (height - view.y) / view.scale };
  const isSeen = (box: Box): boolean => box.x < sight.right && box.x + box.width > sight.left && box.y < sight.bottom && box.y + box.height > sight.top;
  for (const box of graph.boxes) if (box.isOpen && isSeen(box)) drawBox(context, box, drawing);
  drawEdges(context, drawing, sight);
  for (const box of graph.boxes) if (!box.isOpen && isSeen(box)) drawBox(context, box, drawing);
}

function drawEdges(context: CanvasRenderingContext2D, { graph, view, colours, selected, accent }: Drawing, sight: { left: number; top: number; right: number; bottom: number }): void {
  const path = new Path2D();
  const own = new Path2D();
  for (const { from, to } of graph.edges) {
    const [a, b] = [graph.boxes[from] as Box, graph.boxes[to] as Box];
    const [x1, y1, x2, y2] = [a.x + a.width, a.y + a.height / 2, b.x, b.y + b.height / 2];
    if (Math.max(x1, x2) < sight.left || Math.min(x1, x2) > sight.right || Math.max(y1, y2) < sight.top || Math.min(y1, y2) > sight.bottom) continue;
    const target = a.key === selected || b.key === selected ? own : path;
    target.moveTo(x1, y1);
    if (view.scale < 0.15) target.lineTo(x2, y2);
    else {
      const bend = Math.max(24, Math.abs(x2 - x1) / 2);
      target.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
    }
    if (view.scale >= 0.35) {
      target.moveTo(x2 - 7, y2 - 4);
      target.lineTo(x2, y2);
      target.lineTo(x2 - 7, y2 + 4);
    }
  }
  context.lineWidth = Math.max(1, 0.6 / view.scale);
  context.strokeStyle = colours.line;
  context.stroke(path);
  context.lineWidth *= 1.6;
  context.strokeStyle = accent;
  context.stroke(own);
}

function drawBox(context: CanvasRenderingContext2D, box: Box, { view, colours, selected, found, turn, accent }: Drawing): void {
  const colour = colours[box.state];
  const isFaint = found && !found.has(box.key);
  context.globalAlpha = isFaint ? 0.25 : 1;
  if (view.scale < READABLE && !box.isOpen && box.key !== selected) {
    context.fillStyle = colour;
    context.fillRect(box.x, box.y, box.width, box.height);
    context.globalAlpha = 1;
    return;
  }
  context.beginPath();
  context.roundRect(box.x, box.y, box.width, box.height, 6);
  context.fillStyle = box.isOpen ? colours.sunken : colours.panel;
  context.fill();
  context.lineWidth = box.key === selected ? 2.5 : 1;
  context.strokeStyle = box.key === selected ? accent : box.state === 'complete' ? colours.line : colour;
  context.stroke();
  if (!box.isOpen) {
    context.fillStyle = colour;
    context.fillRect(box.x, box.y + 8, 3, box.height - 16);
  }
  if (view.scale >= READABLE) drawTexts(context, box, colours, turn);
  context.globalAlpha = 1;
}

function drawTexts(context: CanvasRenderingContext2D, box: Box, colours: Colours, turn: number): void {
  context.fillStyle = colours[box.state];
  context.font = `12px ${FONT}`;
  context.textBaseline = 'middle';
  if (box.state === 'progress') {
    context.beginPath();
    context.arc(box.x + 17, box.y + 15, 5, turn, turn + Math.PI * 1.4);
    context.strokeStyle = colours.progress;
    context.lineWidth = 2;
    context.stroke();
  } else context.fillText(SHAPES[box.state], box.x + 11, box.y + 15);
  context.fillStyle = colours.text;
  context.font = `500 13px ${FONT}`;
  const suffix = box.inside > 0 ? (box.isOpen ? '  −' : `  +${box.inside}`) : '';
  const room = box.width - 36 - suffix.length * 7;
  context.fillText(clipped(context, box.label, room), box.x + 28, box.y + 15);
  if (suffix) {
    context.textAlign = 'end';
    context.fillStyle = colours.muted;
    context.fillText(suffix, box.x + box.width - 8, box.y + 15);
    context.textAlign = 'start';
  }
  if (box.isOpen) return;
  context.font = `11px ${FONT}`;
  context.fillStyle = colours.muted;
  context.fillText(clipped(context, box.type, box.width - 36), box.x + 28, box.y + 31);
}

function clipped(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (text.length * 4 < room || context.measureText(text).width <= room) return text;
  let length = Math.max(1, Math.floor((text.length * room) / context.measureText(text).width) - 1);
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > room) length -= 1;
  return `${text.slice(0, length)}…`;
}
