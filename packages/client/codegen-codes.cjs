/* A plugin of GraphQL Code Generator: the codes of errors, with what docs/errors.md says of each. */
const { readFileSync } = require('node:fs');

const ROW = /^\| (`.*?`) \| .*? \| (.*) \|$/gm;

exports.plugin = () => {
  const [, table = ''] = readFileSync(`${__dirname}/../../docs/errors.md`, 'utf8').split(/^## /m);
  const members = [...table.matchAll(ROW)].flatMap(([, codes, meaning]) =>
    codes.match(/\w+/g).map((code) => `  /** ${meaning} */\n  | '${code}'`),
  );
  if (members.length === 0) throw new Error('docs/errors.md has no table of codes in its first section.');
  return `/** The codes of the gateway, and those of this package. */\nexport type GatewayErrorCode =\n${members.join('\n')};`;
};
