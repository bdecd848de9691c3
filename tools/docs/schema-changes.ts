/* docs/schema-changes.md: what changed between the released versions of the schema. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type Change, CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';

const INTRODUCTION = `# Changes of the schema

For client teams. After this page you know what an upgrade of the gateway changes for your documents.

<!-- Written by \`npm run docs\` from the differences between the SDLs in schema/released/ and the current one: do not edit. -->

This page lists what changed in the schema from one version to the next. The behaviour behind the schema is in [CHANGELOG.md](../CHANGELOG.md).

- **What is deprecated stays for two minor versions.** A field, argument or enum value that will be removed is marked \`@deprecated\`, with its replacement. Deprecated in 0.3, it works in 0.3 and 0.4 and can go in 0.5. \`npm run explain -- FILE\` lists the deprecated fields of your operations, and \`npm run explain -- --check SDL FILE\` says whether they are valid against a version.
- **Breaking** changes make a valid operation invalid, or change the type of a value.
- **Dangerous** changes leave operations valid, but a program may not expect them: a new enum value, a new optional argument, another default, a new interface. Enums whose values come from the REST service have \`UNKNOWN\`; treat a new \`UserErrorCode\` as \`INVALID\`. A removed \`@specifiedBy\` changes no value. All other changes are compatible.
- **What to do:** generate your types again, and run your tests.
- Changed descriptions are not listed. What is deprecated now has the word **Deprecated** in [schema.md](schema.md).
`;

const LEVELS = [
  [CriticalityLevel.Breaking, 'Breaking'],
  [CriticalityLevel.Dangerous, 'Dangerous'],
  [CriticalityLevel.NonBreaking, 'Added or otherwise compatible'],
] as const;

/** @param version The version of package.json, which `current` belongs to. */
export async function schemaChangesPage(version: string, current: string): Promise<string> {
  const released = readReleased().filter((release) => release.version !== version);
  const versions = [...released, { version, sdl: current }];
  const sections: string[] = [];
  for (const [index, { version: to, sdl }] of versions.entries()) {
    const before = versions[index - 1];
    sections.unshift(
      before
        ? await section(before, { version: to, sdl }, sdlOf(to, version))
        : `## ${to}\n\nThe first version. ${sdlOf(to, version)}\n`,
    );
  }
  return `${[INTRODUCTION, ...sections].join('\n').trimEnd()}\n`;
}

interface Release {
  version: string;
  sdl: string;
}

/** The SDLs of the released versions, oldest first. */
export function readReleased(): Release[] {
  return readdirSync('schema/released')
    .map((file) => ({ version: file.replace('.graphql', ''), sdl: readFileSync(`schema/released/${file}`, 'utf8') }))
    .sort((a, b) => a.version.localeCompare(b.version, 'en', { numeric: true }));
}

const sdlOf = (version: string, current: string) =>
  `Its SDL: [${version}](../${version === current ? 'src/generated/schema' : `schema/released/${version}`}.graphql).`;

async function section(before: Release, after: Release, sdl: string): Promise<string> {
  const changes = (await diff(buildSchema(before.sdl), buildSchema(after.sdl))).filter(isOfTheContract);
  const lists = LEVELS.flatMap(([level, title]) => {
    const lines = changes.filter(({ criticality }) => criticality.level === level).map(lineOf);
    if (lines.length > 0) return [`${title}:\n\n${lines.join('\n')}\n`];
    // What everybody looks for first.
    return level === CriticalityLevel.Breaking ? [`${title}: nothing.\n`] : [];
  });
  const state = existsSync(`schema/released/${after.version}.graphql`) ? '' : ' (in preparation)';
  return `## ${after.version}${state}, since ${before.version}\n\n${sdl}\n\n${lists.join('\n')}`;
}

function isOfTheContract({ type }: Change): boolean {
  return !/DESCRIPTION/.test(type);
}

/** The messages of the inspector have names in single quotes. */
function lineOf({ message }: Change): string {
  return `- ${message.replaceAll(/'([^']*)'/g, '`$1`')}`;
}
