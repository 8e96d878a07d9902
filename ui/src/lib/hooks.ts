// Hooks: resources that wait until somebody says that they may go on. Events tell which do.

import type { StackEvent, StackRef } from './api/heat';
import { keyOfEvent, refOf } from './tree';

export interface PendingHook {
  key: string;
  stack: StackRef;
  resource: string;
  hook: string;
  since: string;
}

/** The hooks that wait, the oldest first. */
export function pendingHooks(events: StackEvent[]): PendingHook[] {
  const pending = new Map<string, PendingHook>();
  for (const event of events) {
    const stack = refOf(event.links, 'stack');
    const reason = event.resource_status_reason;
    const [, waits] = /paused until Hook ([\w-]+) is cleared/.exec(reason) ?? [];
    const [, cleared] = /^Hook ([\w-]+) is cleared/.exec(reason) ?? [];
    const hook = waits ?? cleared;
    if (!hook || !stack) continue;
    const key = `${keyOfEvent(event)}/${hook}`;
    if (waits) pending.set(key, { key, stack, resource: event.resource_name, hook, since: event.event_time });
    else pending.delete(key);
  }
  return [...pending.values()];
}
