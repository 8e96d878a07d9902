// A stack that is watched: its state, all its resources, its events. It follows the stream of events where there is one, and
// polls otherwise: every 3 seconds while something goes on, every 30 at rest, and more slowly in hidden tabs.

import * as heat from './api/heat';
import type { Resource, Stack, StackEvent, StackRef } from './api/heat';
import { ApiError } from './api/http';
import { follow } from './api/stream';
import { isRunning } from './status';
import { grow, isOfStack, keyOfEvent, refOf } from './tree';

const BUSY = 3_000;
const IDLE = 30_000;
const IDLE_WITH_STREAMS = 5_000;
const HIDDEN = 60_000;
const REREAD = 400;
/** Events are shown this often: more would only cost frames. */
const BATCH = 150;

export class Follower {
  stack = $state.raw<Stack | null>(null);
  resources = $state.raw<Resource[]>([]);
  events = $state.raw<StackEvent[]>([]);
  /** The error of the last attempt to read; what was read before stays. */
  problem = $state.raw<unknown>(null);
  /** Whether the events are pushed. */
  isPushed = $state(false);
  isGone = $state(false);
  nodes = $derived(grow(this.resources));

  #ref: StackRef;
  #stop = new AbortController();
  #wake: () => void = () => undefined;
  #hasStreams = true;

  constructor(ref: StackRef) {
    this.#ref = ref;
    document.addEventListener('visibilitychange', this.#onVisible);
    void this.#run();
  }

  /** Reads again now. */
  refresh(): void {
    this.#wake();
  }

  stop(): void {
    document.removeEventListener('visibilitychange', this.#onVisible);
    this.#stop.abort();
    this.#wake();
  }

  #onVisible = (): void => {
    if (!document.hidden) this.#wake();
  };

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#read();
        this.problem = null;
        while (this.stack && isRunning(this.stack.stack_status) && this.#hasStreams && !signal.aborted) await this.#listen();
      } catch (error) {
        if (signal.aborted) return;
        this.problem = error;
        this.isGone = error instanceof ApiError && error.status === 404;
        if (this.isGone && this.stack) return;
      }
      this.isPushed = false;
      await this.#pause();
    }
  }

  /** Reads what may have changed: more than the events only if there are new ones, or if everything is wanted. */
  async #read(everything = false): Promise<void> {
    const { signal } = this.#stop;
    const events = await heat.events(this.#ref, this.events.at(-1)?.id, signal);
    const isNew = this.#append(events);
    if (this.stack && !everything && !isNew && !isRunning(this.stack.stack_status)) return;
    const [stack, resources] = await Promise.all([heat.stack(this.#ref, signal), heat.resources(this.#ref, signal)]);
    this.stack = stack;
    this.resources = resources;
    this.isGone = stack.stack_status === 'DELETE_COMPLETE';
  }

  async #listen(): Promise<void> {
    const { signal } = this.#stop;
    let rereading: ReturnType<typeof setTimeout> | undefined;
    let showing: ReturnType<typeof setTimeout> | undefined;
    let waiting: StackEvent[] = [];
    this.isPushed = true;
    const show = (): void => {
      const events = waiting;
      [waiting, showing] = [[], undefined];
      this.#append(events);
      if (this.#apply(events)) return;
      // Resources that are new: the list says how they depend on each other.
      rereading ??= setTimeout(() => {
        rereading = undefined;
        void heat.resources(this.#ref, signal).then((it) => (this.resources = it), () => undefined);
      }, REREAD);
    };
    const heard = (events: StackEvent[]): void => {
      waiting.push(...events);
      showing ??= setTimeout(show, BATCH);
    };
    try {
      this.#hasStreams = await follow(this.#ref, this.events.at(-1)?.id, heard, signal);
    } finally {
      clearTimeout(rereading);
      clearTimeout(showing);
      if (waiting.length > 0) this.#append(waiting);
    }
    if (this.#hasStreams) await this.#read(true);
  }

  /** Applies events to the resources; false if some are about resources that are not known. */
  #apply(events: StackEvent[]): boolean {
    const latest = new Map(events.filter((it) => !isOfStack(it)).map((it) => [keyOfEvent(it), it]));
    const own = events.findLast((it) => it.physical_resource_id === this.#ref.id);
    if (own && this.stack) {
      this.stack = { ...this.stack, stack_status: own.resource_status, stack_status_reason: own.resource_status_reason };
    }
    let applied = 0;
    this.resources = this.resources.map((resource) => {
      const stack = refOf(resource.links, 'stack');
      const event = latest.get(`${stack?.id}/${resource.resource_name}`);
      if (!event) return resource;
      applied += 1;
      const { resource_status, resource_status_reason } = event;
      const physical_resource_id = event.physical_resource_id ?? resource.physical_resource_id;
      return { ...resource, resource_status, resource_status_reason, physical_resource_id, updated_time: event.event_time };
    });
    return applied >= latest.size;
  }

  /** Adds events that are not known; whether there were any. */
  #append(events: StackEvent[]): boolean {
    const known = new Set(this.events.slice(-events.length - 50).map((it) => it.id));
    const fresh = events.filter((it) => !known.has(it.id));
    if (fresh.length > 0) this.events = [...this.events, ...fresh];
    return fresh.length > 0;
  }

  #pause(): Promise<void> {
    const isBusy = this.stack && isRunning(this.stack.stack_status);
    const wait = document.hidden ? HIDDEN : isBusy || this.problem ? BUSY : this.#hasStreams ? IDLE_WITH_STREAMS : IDLE;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, wait);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
