// JSON as Python's json.dumps writes it, so that bodies are the same as those of the Python clients.

const escape = (text: string): string => JSON.stringify(text).replace(/[\u007f-\uffff]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);

export function pythonJson(value: unknown): string {
  if (typeof value === 'string') return escape(value);
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value).map(([key, inner]) => `${escape(key)}: ${pythonJson(inner)}`).join(', ')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
