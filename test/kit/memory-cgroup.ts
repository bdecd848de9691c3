import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { atEnd } from './at-end.ts';

/** The two versions of cgroups: the line of this process in /proc/self/cgroup, where its folder is, and the file of the limit. */
const VERSIONS = [
  { line: /:memory:(.*)$/m, root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  { line: /^0::(.*)$/m, root: '/sys/fs/cgroup', limit: 'memory.max' },
];

/**
 * A shell command by which a process enters a new cgroup, as that of a container, with at most so many bytes of memory. Undefined
 * where this process may not create one. A file can have one at a time.
 */
export function enterMemoryCgroup(bytes: number): string | undefined {
  const groups = existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'utf8') : '';
  const version = VERSIONS.find(({ line, root }) => line.test(groups) && existsSync(`${root}/cgroup.procs`));
  if (!version) return undefined;
  const folder = `${version.root}${version.line.exec(groups)?.[1]}/gateway-${process.pid}`;
  try {
    mkdirSync(folder, { recursive: true });
    atEnd(() => existsSync(folder) && rmdirSync(folder));
    writeFileSync(`${folder}/${version.limit}`, `${bytes}`);
    return `echo $$ > ${folder}/cgroup.procs`;
  } catch {
    return undefined;
  }
}
