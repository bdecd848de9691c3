/*
 * A resolver of Jest. test/clients/ has @referral-gateway/client as a link to packages/client/, and client libraries of its
 * own. The package's imports of them must lead to these, as they do where the package is installed.
 */
const { join } = require('node:path');

const ROOT = join(__dirname, '../..');
const PACKAGE = join(ROOT, 'packages/client/dist');

module.exports = (path, options) => {
  const isOfPackage = options.basedir.startsWith(PACKAGE) && !path.startsWith('.');
  const basedir = isOfPackage ? join(ROOT, 'test/clients') : options.basedir;
  return options.defaultResolver(path, { ...options, basedir });
};
