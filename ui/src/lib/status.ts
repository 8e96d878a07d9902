// Actions and states: `CREATE_IN_PROGRESS` is the action CREATE and the state IN_PROGRESS.

export type State = 'complete' | 'failed' | 'progress' | 'init';

export interface Status {
  action: string;
  state: State;
}

/** Splits a status. Preview answers have the state alone. */
export function split(status: string): Status {
  const [, action = '', word = ''] = /^(?:(.*)_)?(IN_PROGRESS|COMPLETE|FAILED)$/.exec(status) ?? [];
  if (action === 'INIT') return { action, state: 'init' };
  const state = word === 'COMPLETE' ? 'complete' : word === 'FAILED' ? 'failed' : word === 'IN_PROGRESS' ? 'progress' : 'init';
  return { action: action || status, state };
}

/** Whether something goes on. */
export const isRunning = (status: string): boolean => status.endsWith('IN_PROGRESS');
export const isFailed = (status: string): boolean => status.endsWith('FAILED');
