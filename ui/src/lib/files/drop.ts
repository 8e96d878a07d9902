// Files that a user drops or picks: single ones, folders, zip archives. Paths are relative to what was dropped.

/** Contents by path. */
export type FileSet = Map<string, Uint8Array>;

/** Bounds against accidents, such as a dropped home directory; a service takes less. */
const MAX_FILES = 2_000;
const MAX_BYTES = 32 << 20;

export class TooMuch extends Error {}

/** Adds files to a set, within the bounds. */
function add(files: FileSet, path: string, bytes: Uint8Array): void {
  files.set(path.replace(/^\/+/, ''), bytes);
  let total = 0;
  for (const content of files.values()) total += content.length;
  if (files.size > MAX_FILES || total > MAX_BYTES) throw new TooMuch();
}

const bytesOf = async (file: File): Promise<Uint8Array> => new Uint8Array(await file.arrayBuffer());

/** Adds a file, or what is in it if it is an archive. */
async function addFile(files: FileSet, path: string, file: File): Promise<void> {
  if (file.size > MAX_BYTES) throw new TooMuch();
  if (!/\.zip$/i.test(path)) return add(files, path, await bytesOf(file));
  const { unzipSync } = await import('fflate');
  let total = 0;
  const members = unzipSync(await bytesOf(file), {
    filter: (member) => {
      total += member.originalSize;
      if (total > MAX_BYTES) throw new TooMuch();
      return !member.name.endsWith('/');
    },
  });
  for (const [name, bytes] of Object.entries(members)) if (isInside(name)) add(files, name, bytes);
}

/** Whether a path of an archive stays in it. */
const isInside = (path: string): boolean => !path.startsWith('/') && !path.split('/').includes('..');

/** The files of an input element. */
export async function picked(list: Iterable<File>): Promise<FileSet> {
  const files: FileSet = new Map();
  for (const file of list) await addFile(files, file.webkitRelativePath || file.name, file);
  return files;
}

/** The files of a drop, with those in folders. */
export async function dropped(items: DataTransferItemList): Promise<FileSet> {
  const files: FileSet = new Map();
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((it) => it !== null);
  for (const entry of entries) await addEntry(files, entry);
  return files;
}

async function addEntry(files: FileSet, entry: FileSystemEntry): Promise<void> {
  if (/(^|\/)(\.git|node_modules|__pycache__)(\/|$)/.test(entry.fullPath)) return;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    await addFile(files, entry.fullPath, file);
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const inner of some) await addEntry(files, inner);
  }
}
