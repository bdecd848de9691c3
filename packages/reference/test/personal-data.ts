import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The names of the personal values that any file of the folder holds. */
export async function found(folder: string, secrets: Record<string, string>): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  const contents = await Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1')));
  return Object.entries(secrets).flatMap(([name, secret]) =>
    contents.flatMap((content, index) => (content.includes(secret) ? [`${name} in ${files[index]?.name}`] : [])),
  );
}
