// Actions on a whole stack.

import * as heat from './api/heat';
import type { StackRef } from './api/heat';

export type StackAction = heat.Action | 'delete' | 'retry';

/** Starts an action. A retry is an update that changes nothing: what failed is done again. */
export async function act(ref: StackRef, action: StackAction): Promise<void> {
  if (action === 'delete') return heat.remove(ref);
  if (action === 'retry') return heat.update(ref, { existing: true });
  return heat.act(ref, action);
}
