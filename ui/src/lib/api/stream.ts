// Streams of events. A service without them answers with JSON, and is polled.

import { send } from './http';
import { streamUrl, type StackEvent, type StackRef } from './heat';

const EVENT_STREAM = 'text/event-stream';

/** One message of a stream. */
export interface Message {
  event: string;
  data: string;
}

/** Takes complete messages off a text; the rest waits for more. */
export function messages(text: string): { found: Message[]; rest: string } {
  const blocks = text.split('\n\n');
  const rest = blocks.pop() ?? '';
  const found = blocks.flatMap((block) => {
    const fields = block.split('\n').map((line) => line.split(/: ?(.*)/s));
    const of = (name: string): string => fields.filter(([key]) => key === name).map(([, value]) => value ?? '').join('\n');
    return of('data') ? [{ event: of('event'), data: of('data') }] : [];
  });
  return { found, rest };
}

/** Follows a stack until it is at rest. The result says whether the service has streams at all. */
export async function follow(
  ref: StackRef,
  marker: string | undefined,
  heard: (events: StackEvent[]) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const url = streamUrl(ref) + (marker ? `&marker=${encodeURIComponent(marker)}` : '');
  const response = await send(url, { headers: { Accept: EVENT_STREAM }, signal });
  if (!response.headers.get('Content-Type')?.startsWith(EVENT_STREAM) || !response.body) {
    await response.body?.cancel();
    return false;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return true;
    const { found, rest } = messages(text + value);
    text = rest;
    const events = found.filter((it) => it.event === 'event').map((it) => JSON.parse(it.data) as StackEvent);
    if (events.length > 0) heard(events);
  }
}
