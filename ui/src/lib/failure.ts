// Why a stack failed: the resources whose failure caused the others, the first one first.

import type { StackEvent } from './api/heat';
import type { Key } from './i18n/en';
import { isFailed } from './status';
import { keyOfEvent, type Node } from './tree';

/** A resource that failed by itself. */
export interface Cause {
  node: Node;
  reason: string;
  /** The event that says so. */
  event: StackEvent | null;
  /** What to do about it. */
  advice: Key;
}

/** Failures that follow from others: work that was stopped because something else had failed. */
const STOPPED = /(abort|cancel|interrupt)/i;

const ADVICE: [RegExp, Key][] = [
  [/quota|exceeded|OverLimit|limit/i, 'advice.quota'],
  [/No valid host|NoValidHost|insufficient/i, 'advice.capacity'],
  [/timed? ?out/i, 'advice.timeout'],
  [/Forbidden|not authorized|403/i, 'advice.forbidden'],
  [/could not be found|NotFound|404|does not exist/i, 'advice.missing'],
  [/Property error|ValidationFailed|Invalid|BadRequest|400/i, 'advice.invalid'],
  [/Conflict|409|in use/i, 'advice.conflict'],
  [/non-zero|deploy_status_code|exit/i, 'advice.deployment'],
];

/** The causes of a failure, the root cause first. */
export function causes(nodes: Node[], events: StackEvent[]): Cause[] {
  const failed = nodes.filter((node) => isFailed(node.resource.resource_status));
  const leaves = failed.filter((node) => !node.children.some((child) => isFailed(child.resource.resource_status)));
  const last = new Map<string, StackEvent>();
  const order = new Map<string, number>();
  events.forEach((event, index) => {
    if (!isFailed(event.resource_status)) return;
    last.set(keyOfEvent(event), event);
    order.set(keyOfEvent(event), index);
  });
  const rank = (cause: Cause): number => (STOPPED.test(cause.reason) ? 1e9 : 0) + (order.get(cause.node.key) ?? 1e8);
  return leaves
    .map((node): Cause => {
      const reason = node.resource.resource_status_reason;
      const advice = ADVICE.find(([pattern]) => pattern.test(reason))?.[1] ?? 'advice.other';
      return { node, reason, event: last.get(node.key) ?? null, advice };
    })
    .sort((a, b) => rank(a) - rank(b));
}

/** Whether a resource is a software deployment, whose physical id is that of the deployment. */
export const isDeployment = (type: string): boolean => /^OS::Heat::(Software|Structured)Deployment$/.test(type);
