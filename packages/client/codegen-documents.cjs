/*
 * A transform and a plugin of GraphQL Code Generator. The plugin writes a constant for each operation. The generator's own class imports a type of another
 * package, and its constants cannot be left out of a bundle that does not use them.
 */
const { Kind, print, visit } = require('graphql');

/**
 * The example operations without the values of the demo, such as `= "demo-player"`: an application that forgets a player must not
 * get somebody else's. A number, such as the size of a page, is a good default anywhere.
 */
exports.transform = ({ documents }) =>
  documents.map((file) => ({
    ...file,
    document: visit(file.document, {
      VariableDefinition(node) {
        const isDemo = node.defaultValue && node.defaultValue.kind !== Kind.INT;
        return isDemo ? { ...node, defaultValue: undefined } : undefined;
      },
    }),
  }));

exports.plugin = (_schema, files) => {
  const definitions = files.flatMap(({ document }) => document.definitions);
  const fragments = new Map(
    definitions
      .filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const operations = definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  return operations.map((operation) => constant(operation, fragments)).join('\n\n');
};

function constant(operation, fragments) {
  const name = operation.name.value;
  const kind = operation.operation === 'query' ? 'Query' : 'Mutation';
  const text = [operation, ...fragmentsOf(operation, fragments)].map(print).join('\n\n');
  const type = `TypedDocumentString<${name}${kind}, ${name}${kind}Variables>`;
  return `export const ${name}Document: ${type} = /* @__PURE__ */ new TypedDocumentString(\`${text}\`);`;
}

/** The fragments that a definition uses, directly or through others. */
function fragmentsOf(definition, fragments, found = new Set()) {
  visit(definition, {
    FragmentSpread({ name }) {
      const fragment = fragments.get(name.value);
      if (!fragment || found.has(fragment)) return;
      found.add(fragment);
      fragmentsOf(fragment, fragments, found);
    },
  });
  return found;
}
